// Routing Information Protocol, versions 1 and 2 (RFC 2453), and for IPv6 (RFC 2080).
import { named, type Part } from './packet-part.ts';

const COMMANDS: Readonly<Record<number, string>> = { 1: 'request', 2: 'response' };
const ENTRY_BYTES = 20;
const AUTHENTICATION = 0xffff;
/** The digest behind the routes (RFC 2082, RFC 4822), of any length. */
const TRAILER = 1;

export function rip(part: Part): void {
  const { packet } = part;
  part.begin('rip', 'RIP');
  packet.says('RIP', '');
  const command = part.u8('Command', 'rip.command', named(COMMANDS));
  const version = part.u8('Version', 'rip.version');
  packet.says(version === 1 ? 'RIPv1' : version === 2 ? 'RIPv2' : 'RIP', COMMANDS[command] ?? `command ${command}`);
  part.skip(2);
  let count = 0;
  while (part.left >= ENTRY_BYTES) {
    if (part.peek16() === AUTHENTICATION) {
      part.hex(part.peek16(2) === TRAILER ? part.left : ENTRY_BYTES, 'Authentication', 'rip.auth');
      continue;
    }
    count += 1;
    const entry = part.take(ENTRY_BYTES);
    entry.skip(4);
    const network = entry.ip4();
    const mask = entry.ip4();
    const hop = entry.ip4();
    const metric = entry.u32();
    const text = version === 2 ? `${network} ${mask} by ${hop}, metric ${metric}` : `${network}, metric ${metric}`;
    entry.note('Route', text, 'rip.ip', ENTRY_BYTES, network);
  }
  packet.info += `, ${count} routes`;
}

export function ripng(part: Part): void {
  const { packet } = part;
  part.begin('ripng', 'RIPng');
  packet.says('RIPng', '');
  const command = part.u8('Command', 'ripng.cmd', named(COMMANDS));
  part.u8('Version', 'ripng.version');
  part.skip(2);
  packet.info = COMMANDS[command] ?? `command ${command}`;
  let count = 0;
  for (; part.left >= ENTRY_BYTES; count++) {
    const entry = part.take(ENTRY_BYTES);
    const network = entry.ip6();
    entry.u16();
    const bits = entry.u8();
    entry.note('Route', `${network}/${bits}, metric ${entry.u8()}`, 'ripng.rte.ipv6_prefix', ENTRY_BYTES, network);
  }
  packet.info += `, ${count} routes`;
}
