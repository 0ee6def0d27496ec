// Internet Protocol, version 6 (RFC 8200). Extension headers are skipped.
import { offsetText, type Transport, transportName } from './ip-protocols.ts';
import { hex, type Part } from './packet-part.ts';

const FRAGMENT = 44;
/** Headers that carry their own length. */
const SKIPPED: Readonly<Record<number, string>> = { 0: 'Hop-by-hop options', 43: 'Routing', 60: 'Destination options' };

export function ipv6(part: Part, transport: Transport): void {
  const { packet } = part;
  part.begin('ipv6', 'IPv6');
  packet.says('IPv6', '');
  const first = part.u32();
  part.noteNumber('Version', first >>> 28, 'ipv6.version', 4);
  part.noteNumber('Traffic class', (first >>> 20) & 0xff, 'ipv6.tclass', 4, hex(2));
  part.noteNumber('Flow label', first & 0xfffff, 'ipv6.flow', 4, hex(5));
  const length = part.u16('Payload length', 'ipv6.plen');
  let next = part.u8('Next header', 'ipv6.nxt', (value) => `${transportName(value)} (${value})`);
  part.u8('Hop limit', 'ipv6.hlim');
  packet.between(part.ip6('Source', 'ipv6.src'), part.ip6('Destination', 'ipv6.dst'));
  const rest = part.atMost(length === 0 ? part.sent : length);
  for (let offset = 0; ; ) {
    const name = SKIPPED[next];
    if (name !== undefined) {
      next = rest.u8();
      const bytes = rest.u8() * 8 + 6;
      rest.hex(bytes, name, 'ipv6.ext');
    } else if (next === FRAGMENT) {
      next = rest.u8();
      rest.skip(1);
      const units = rest.u16() >> 3;
      offset = units * 8;
      rest.noteNumber('Fragment offset', units, 'ipv6.fraghdr.offset', 2, offsetText);
      rest.u32('Identification', 'ipv6.fraghdr.ident', hex(8));
      if (offset > 0) {
        packet.info = `fragment of ${transportName(next)} at ${offset}`;
        return;
      }
    } else break;
  }
  part.close();
  packet.info = transportName(next);
  transport(rest, next);
}
