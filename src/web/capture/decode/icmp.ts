// Internet Control Message Protocol (RFC 792).
import { hex, named, type Part } from './packet-part.ts';

const TYPES: Readonly<Record<number, string>> = {
  0: 'echo reply',
  3: 'destination unreachable',
  4: 'source quench',
  5: 'redirect',
  8: 'echo request',
  9: 'router advertisement',
  10: 'router solicitation',
  11: 'time exceeded',
  12: 'parameter problem',
  13: 'timestamp request',
  14: 'timestamp reply',
};
const UNREACHABLE: Readonly<Record<number, string>> = {
  0: 'network',
  1: 'host',
  2: 'protocol',
  3: 'port',
  4: 'fragmentation needed',
  13: 'administratively prohibited',
};

export function icmp(part: Part): void {
  const { packet } = part;
  part.begin('icmp', 'ICMP');
  packet.says('ICMP', '');
  const type = part.u8('Type', 'icmp.type', named(TYPES));
  const code = part.u8('Code', 'icmp.code', type === 3 ? named(UNREACHABLE) : undefined);
  part.u16('Checksum', 'icmp.checksum', hex(4));
  packet.info = TYPES[type] ?? `type ${type}, code ${code}`;
  if (type === 3 && UNREACHABLE[code]) packet.info += ` (${UNREACHABLE[code]})`;
  if (type === 0 || type === 8) {
    const id = part.u16('Identifier', 'icmp.ident', hex(4));
    const sequence = part.u16('Sequence', 'icmp.seq');
    packet.info += `, id ${hex(4)(id)}, sequence ${sequence}`;
    if (part.left > 0) part.hex(part.left, 'Data', 'data');
  } else if (type === 5) packet.info += ` to ${part.ip4('Gateway', 'icmp.redir_gw')}`;
}
