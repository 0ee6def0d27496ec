// ICMP for IPv6 (RFC 4443) with neighbour discovery (RFC 4861).
import { hex, named, type Part } from './packet-part.ts';

const TYPES: Readonly<Record<number, string>> = {
  1: 'destination unreachable',
  2: 'packet too big',
  3: 'time exceeded',
  4: 'parameter problem',
  128: 'echo request',
  129: 'echo reply',
  130: 'multicast listener query',
  131: 'multicast listener report',
  132: 'multicast listener done',
  133: 'router solicitation',
  134: 'router advertisement',
  135: 'neighbour solicitation',
  136: 'neighbour advertisement',
  137: 'redirect',
  143: 'multicast listener report v2',
};
const OPTIONS: Readonly<Record<number, string>> = { 1: 'Source MAC', 2: 'Target MAC', 3: 'Prefix', 5: 'MTU' };

export function icmpv6(part: Part): void {
  const { packet } = part;
  part.begin('icmpv6', 'ICMPv6');
  packet.says('ICMPv6', '');
  const type = part.u8('Type', 'icmpv6.type', named(TYPES));
  const code = part.u8('Code', 'icmpv6.code');
  part.u16('Checksum', 'icmpv6.checksum', hex(4));
  packet.info = TYPES[type] ?? `type ${type}, code ${code}`;
  if (type === 128 || type === 129) {
    const id = part.u16('Identifier', 'icmpv6.echo.identifier', hex(4));
    packet.info += `, id ${hex(4)(id)}, sequence ${part.u16('Sequence', 'icmpv6.echo.sequence_number')}`;
  } else if (type === 135 || type === 136) {
    part.u32('Flags', 'icmpv6.flags', hex(8));
    const target = part.ip6('Target', 'icmpv6.nd.target_address');
    packet.info += type === 135 ? ` for ${target}` : ` of ${target}`;
    options(part);
  } else if (type === 134) {
    part.u8('Hop limit', 'icmpv6.nd.ra.cur_hop_limit');
    part.u8('Flags', 'icmpv6.nd.ra.flag', hex(2));
    part.u16('Router lifetime', 'icmpv6.nd.ra.router_lifetime', (value) => `${value} s`);
    part.u32('Reachable time', undefined, (value) => `${value} ms`);
    part.u32('Retransmission timer', undefined, (value) => `${value} ms`);
    options(part);
  } else if (type === 133) {
    part.skip(4);
    options(part);
  }
}

function options(part: Part): void {
  while (part.left >= 2) {
    const type = part.u8();
    const length = part.u8() * 8;
    if (length === 0) return;
    const body = part.atMost(length - 2);
    const label = OPTIONS[type] ?? `Option ${type}`;
    if (type <= 2 && body.left >= 6) part.packet.info += `, ${body.mac(label, 'icmpv6.opt.linkaddr')}`;
    else if (body.left > 0) body.hex(body.left, label);
  }
}
