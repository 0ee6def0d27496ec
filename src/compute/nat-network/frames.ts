// Encodes and decodes the few frames of the NAT network's DHCP service: DHCP over UDP, and ARP.
import { BROADCAST_MAC } from '../../pc/address.ts';
import { fold, sumOf } from '../../pc/checksum.ts';
import { ETHERNET_HEADER_BYTES, ETHERTYPE } from '../../pc/link.ts';
import { DEFAULT_TTL, PROTOCOL } from '../../pc/packet.ts';
import { udpMessage } from '../../pc/udp.ts';
import { fourBytes } from './dhcp-message.ts';

const IPV4_BYTES = 20;
const UDP_BYTES = 8;
const ARP_BYTES = 28;
const ARP_REPLY = 2;
const SERVER_PORT = 67;
const CLIENT_PORT = 68;
const BROADCAST_ADDRESS = 0xffffffff;

/** The DHCP message in a client's frame, if any. */
export function clientMessage(frame: Buffer): Buffer | undefined {
  const least = ETHERNET_HEADER_BYTES + IPV4_BYTES + UDP_BYTES;
  if (frame.length < least || frame.readUInt16BE(12) !== ETHERTYPE.ipv4) return undefined;
  const packet = frame.subarray(ETHERNET_HEADER_BYTES);
  const headerBytes = (packet[0]! & 15) * 4;
  const fragment = packet.readUInt16BE(6) & 0x3fff;
  const total = packet.readUInt16BE(2);
  if (packet[0]! >> 4 !== 4 || headerBytes < IPV4_BYTES || packet[9] !== PROTOCOL.udp || fragment !== 0)
    return undefined;
  if (total > packet.length || headerBytes + UDP_BYTES > total) return undefined;
  const datagram = packet.subarray(headerBytes, total);
  const length = datagram.readUInt16BE(4);
  if (datagram.readUInt16BE(2) !== SERVER_PORT || length < UDP_BYTES || length > datagram.length) return undefined;
  return datagram.subarray(UDP_BYTES, length);
}

/** The sender's address of an ARP answer; undefined for any other frame. */
export function arpSender(frame: Buffer): number | undefined {
  if (frame.length < ETHERNET_HEADER_BYTES + ARP_BYTES || frame.readUInt16BE(12) !== ETHERTYPE.arp) return undefined;
  const arp = frame.subarray(ETHERNET_HEADER_BYTES);
  return arp.readUInt16BE(6) === ARP_REPLY ? arp.readUInt32BE(14) : undefined;
}

/** An ARP probe: a request from a sender without an address (RFC 5227, section 2.1.1). The MAC is in hexadecimal. */
export function arpProbe(mac: string, address: number): Buffer {
  const question = Buffer.from(`0001080006040001${mac}${'00'.repeat(10)}`, 'hex');
  return Buffer.concat([ethernet(BROADCAST_MAC, mac, ETHERTYPE.arp), question, fourBytes(address)], 60);
}

export interface Reply {
  /** MACs in hexadecimal: ours, and the client's (undefined: broadcast). */
  mac: string;
  client: string | undefined;
  /** Addresses of the server, and of the client if it has one and can receive there. */
  from: number;
  to: number;
  message: Buffer;
}

/** A server's frame with a DHCP message. */
export function serverFrame({ mac, client, from, to, message }: Reply): Buffer {
  const source = fourBytes(from);
  const destination = fourBytes(client === undefined ? BROADCAST_ADDRESS : to);
  const datagram = udpMessage(source, destination, { from: SERVER_PORT, to: CLIENT_PORT, data: message });
  const header = Buffer.alloc(IPV4_BYTES);
  header[0] = 0x45;
  header.writeUInt16BE(IPV4_BYTES + datagram.length, 2);
  header.set([DEFAULT_TTL, PROTOCOL.udp], 8);
  source.copy(header, 12);
  destination.copy(header, 16);
  header.writeUInt16BE(fold(sumOf(header)), 10);
  const receiver = client === undefined ? BROADCAST_MAC : Buffer.from(client, 'hex');
  return Buffer.concat([ethernet(receiver, mac, ETHERTYPE.ipv4), header, datagram]);
}

function ethernet(to: Buffer, from: string, type: number): Buffer {
  const header = Buffer.concat([to, Buffer.from(from, 'hex'), Buffer.alloc(2)]);
  header.writeUInt16BE(type, 12);
  return header;
}
