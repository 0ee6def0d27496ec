// Frames as text, for `set dump`.

import { formatAddress, formatMac } from './address.ts';
import { ETHERNET_HEADER_BYTES, ETHERTYPE } from './link.ts';
import { PROTOCOL } from './packet.ts';
import type { DumpFlag } from './settings.ts';

const COLOUR = '\x1b[33m';
const PLAIN = '\x1b[0m';
const ROW_BYTES = 16;
const RAW_BYTES = 128;
const TCP_FLAGS = 'FSRPAUEC';
const ICMP: Record<number, string> = {
  0: 'Echo reply',
  3: 'Destination unreachable',
  8: 'Echo',
  11: 'Time exceeded',
};
const ICMPV6: Record<number, string> = {
  1: 'ICMPv6 destination unreachable',
  2: 'ICMPv6 packet too big',
  3: 'ICMPv6 time exceeded',
  128: 'ICMPv6 echo request',
  129: 'ICMPv6 echo reply',
  133: 'ICMPv6 router solicitation',
  134: 'ICMPv6 router advertisement',
  135: 'ICMPv6 neighbor solicitation',
  136: 'ICMPv6 neighbor advertisement',
};

/** The text of a frame by the flags; empty for received broadcasts unless the flags include `all`. */
export function describeFrame(frame: Buffer, sent: boolean, flags: readonly DumpFlag[]): string {
  if (!sent && (frame[0]! & 1) !== 0 && !flags.includes('all')) return '';
  const packet = frame.subarray(ETHERNET_HEADER_BYTES);
  const lines: string[] = [];
  if (flags.includes('mac')) lines.push(`${formatMac(frame.subarray(6, 12))} -> ${formatMac(frame.subarray(0, 6))}`);
  if (flags.includes('raw')) lines.push(...rawLines(packet.subarray(0, RAW_BYTES)), '');
  if (flags.includes('detail')) lines.push(...detail(frame.readUInt16BE(12), packet));
  return lines.length === 0 ? '' : `\n${COLOUR}${lines.join('\n')}\n${PLAIN}`;
}

function rawLines(bytes: Buffer): string[] {
  return Array.from({ length: Math.ceil(bytes.length / ROW_BYTES) }, (_, row) => {
    const part = bytes.subarray(row * ROW_BYTES, (row + 1) * ROW_BYTES);
    const hex = part.toString('hex').replace(/(.{4})(?!$)/g, '$1 ');
    return `${hex.padEnd(43)}${part.toString('latin1').replace(/[^\x20-\x7e]/g, '.')}`;
  });
}

function hex(bytes: Buffer, at: number, length: number): string {
  return bytes.toString('hex', at, at + length);
}

function detail(type: number, packet: Buffer): string[] {
  if (type === ETHERTYPE.arp && packet.length >= 28) return arp(packet);
  if (type === ETHERTYPE.ipv4 && packet.length >= 20) return ipv4(packet);
  if (type === ETHERTYPE.ipv6 && packet.length >= 40) return ipv6(packet);
  return [`Ethernet, type: ${type.toString(16).padStart(4, '0')}, length: ${packet.length}`];
}

function arp(packet: Buffer): string[] {
  const operation = packet.readUInt16BE(6);
  const [sender, target] = [packet.subarray(14, 18), packet.subarray(24, 28)].map(formatAddress);
  const mac = formatMac(packet.subarray(8, 14));
  if (operation === 1)
    return ['ARP, OpCode: 1 (Request)', `Ether Address: ${mac} -> Broadcast`, `Who has ${target}? Tell ${sender}`];
  return [`ARP, OpCode: ${operation} (Reply)`, `Ether Address: ${mac}`, `${sender} is at ${mac}`];
}

function ipv4(packet: Buffer): string[] {
  const fragment = packet.readUInt16BE(6);
  const marks = `${(fragment & 0x4000) === 0 ? '' : ', DF'}${(fragment & 0x2000) === 0 ? '' : ', MF'}`;
  const offset = (fragment & 0x1fff) * 8;
  return [
    `IPv4, id: ${hex(packet, 4, 2)}, length: ${packet.readUInt16BE(2)}, ttl: ${packet[8]}, sum: ${hex(packet, 10, 2)}${marks}${offset === 0 ? '' : `, offset: ${offset}`}`,
    `Address: ${formatAddress(packet.subarray(12, 16))} -> ${formatAddress(packet.subarray(16, 20))}`,
    ...(offset === 0 ? payload(packet[9]!, packet.subarray((packet[0]! & 15) * 4, packet.readUInt16BE(2))) : []),
  ];
}

function ipv6(packet: Buffer): string[] {
  const length = packet.readUInt16BE(4);
  return [
    `IPv6, flowid: ${hex(packet, 1, 3).replace(/^0*(?=.)/, '')}, length: ${length}, ttl: ${packet[7]}`,
    `Address: ${formatAddress(packet.subarray(8, 24))} -> ${formatAddress(packet.subarray(24, 40))}`,
    ...payload(packet[6]!, packet.subarray(40, 40 + length)),
  ];
}

function payload(protocol: number, bytes: Buffer): string[] {
  if (protocol === PROTOCOL.icmp || protocol === PROTOCOL.icmpv6) {
    const name = (protocol === PROTOCOL.icmp ? ICMP : ICMPV6)[bytes[0] ?? -1];
    const lines = [`Proto: icmp, type: ${bytes[0]}, code: ${bytes[1]}`];
    return name === undefined ? lines : [...lines, `Desc: ${name}`];
  }
  if (protocol === PROTOCOL.udp && bytes.length >= 8) {
    return [
      `Proto: udp, len: ${bytes.readUInt16BE(4)}, sum: ${hex(bytes, 6, 2)}`,
      `Port: ${bytes.readUInt16BE(0)} -> ${bytes.readUInt16BE(2)}`,
    ];
  }
  if (protocol === PROTOCOL.tcp && bytes.length >= 20) {
    const flags = [...TCP_FLAGS].filter((_, bit) => ((bytes[13]! >> bit) & 1) === 1).join('');
    return [
      `Proto: tcp, sum: ${hex(bytes, 16, 2)}, ack: ${hex(bytes, 8, 4)}, seq: ${hex(bytes, 4, 4)}, flags: ${flags}`,
      `Port: ${bytes.readUInt16BE(0)} -> ${bytes.readUInt16BE(2)}`,
    ];
  }
  return [`Proto: ${protocol}`];
}
