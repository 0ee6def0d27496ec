// Open Shortest Path First, versions 2 (RFC 2328) and 3 (RFC 5340).
import { hex, named, type Part } from './packet-part.ts';

const TYPES: Readonly<Record<number, string>> = {
  1: 'hello',
  2: 'database description',
  3: 'link-state request',
  4: 'link-state update',
  5: 'link-state acknowledgement',
};
const LSAS: Readonly<Record<number, string>> = {
  1: 'router',
  2: 'network',
  3: 'summary',
  4: 'boundary router',
  5: 'external',
  7: 'NSSA',
};
const HEADER_BYTES = 24;
const MOST_LSAS = 100;

export function ospf(part: Part): void {
  const { packet } = part;
  part.begin('ospf', 'OSPF');
  packet.says('OSPF', '');
  const version = part.u8('Version', 'ospf.version');
  const type = part.u8('Message type', 'ospf.msg', named(TYPES));
  const length = part.u16('Length', 'ospf.packet_length');
  const router = part.ip4('Router', 'ospf.srcrouter');
  const area = part.ip4('Area', 'ospf.area_id');
  part.u16('Checksum', 'ospf.checksum', hex(4));
  packet.info = `${TYPES[type] ?? `type ${type}`} of ${router}, area ${area}`;
  if (version !== 2) return;
  part.u16('Authentication', 'ospf.auth.type', named({ 0: 'none', 1: 'password', 2: 'cryptographic' }));
  part.hex(8, 'Authentication data', 'ospf.auth.data');
  // A digest (RFC 2328 D.4.3) and link-local signaling (RFC 5613) may follow.
  const body = part.atMost(length - HEADER_BYTES);
  if (type === 1) hello(body);
  else if (type === 4) update(body);
  else if (type === 2) description(body);
}

function hello(part: Part): void {
  part.ip4('Network mask', 'ospf.hello.network_mask');
  part.u16('Hello interval', 'ospf.hello.hello_interval', (value) => `${value} s`);
  part.u8('Options', 'ospf.hello.options', hex(2));
  part.u8('Priority', 'ospf.hello.router_priority');
  part.u32('Dead interval', 'ospf.hello.router_dead_interval', (value) => `${value} s`);
  const designated = part.ip4('Designated router', 'ospf.hello.designated_router');
  part.ip4('Backup', 'ospf.hello.backup_designated_router');
  let neighbours = 0;
  for (; part.left >= 4; neighbours++) part.ip4('Neighbour', 'ospf.hello.active_neighbor');
  part.packet.info += `, designated ${designated}, ${neighbours} neighbours`;
}

function description(part: Part): void {
  part.u16('MTU', 'ospf.db.interface_mtu');
  part.u8('Options', 'ospf.options', hex(2));
  part.u8('Flags', 'ospf.db.flags', hex(2));
  part.u32('Sequence', 'ospf.db.dd_sequence');
  for (let count = 0; part.left >= 20 && count < MOST_LSAS; count++) lsaHeader(part);
}

function update(part: Part): void {
  const count = part.u32('Number of LSAs', 'ospf.ls.number_of_lsas');
  part.packet.info += `, ${count} LSAs`;
  for (let index = 0; index < Math.min(count, MOST_LSAS) && part.left >= 20; index++) {
    const length = lsaHeader(part);
    if (length < 20) return;
    part.atMost(length - 20);
  }
}

/** Returns the length of the whole LSA. */
function lsaHeader(part: Part): number {
  const from = part.at;
  part.skip(3);
  const type = part.u8();
  const id = part.ip4();
  const router = part.ip4();
  const sequence = part.u32();
  part.u16();
  const length = part.u16();
  const text = `${LSAS[type] ?? `type ${type}`} ${id} of ${router}, sequence ${hex(8)(sequence)}`;
  part.note('LSA', text, 'ospf.lsa', part.at - from, type);
  return length;
}
