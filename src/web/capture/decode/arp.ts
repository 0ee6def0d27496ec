// Address Resolution Protocol (RFC 826).
import { hex, named, type Part } from './packet-part.ts';

const OPERATIONS = { 1: 'request', 2: 'reply', 3: 'reverse request', 4: 'reverse reply' };

export function arp(part: Part): void {
  const { packet } = part;
  part.begin('arp', 'ARP');
  packet.says('ARP', '');
  const hardware = part.u16('Hardware type', 'arp.hw.type');
  const protocol = part.u16('Protocol type', 'arp.proto.type', hex(4));
  const hardwareBytes = part.u8('Hardware size', 'arp.hw.size');
  const protocolBytes = part.u8('Protocol size', 'arp.proto.size');
  const operation = part.u16('Operation', 'arp.opcode', named(OPERATIONS));
  packet.info = `operation ${operation}`;
  if (hardware !== 1 || protocol !== 0x800 || hardwareBytes !== 6 || protocolBytes !== 4) return;
  const mac = part.mac('Sender MAC', 'arp.src.hw_mac');
  const sender = part.ip4('Sender IP', 'arp.src.proto_ipv4');
  part.mac('Target MAC', 'arp.dst.hw_mac');
  const target = part.ip4('Target IP', 'arp.dst.proto_ipv4');
  if (operation === 1) {
    packet.info = sender === target ? `does anybody else have ${target}?` : `who has ${target}? Tell ${sender}`;
  } else if (operation === 2) packet.info = `${sender} is at ${mac}`;
}
