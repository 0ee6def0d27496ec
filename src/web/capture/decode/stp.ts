// Spanning tree (IEEE 802.1D), rapid and multiple included.
import type { FieldName } from './field-names.ts';
import { hex, named, type Part } from './packet-part.ts';

const VERSIONS: Readonly<Record<number, string>> = {
  0: 'spanning tree',
  2: 'rapid spanning tree',
  3: 'multiple spanning tree',
};
const TYPES: Readonly<Record<number, string>> = { 0: 'configuration', 2: 'rapid', 128: 'topology change' };
const ROLES = ['unknown', 'alternate or backup', 'root', 'designated'];

export function stp(part: Part): void {
  const { packet } = part;
  part.begin('stp', 'Spanning tree');
  packet.says('STP', '');
  part.u16('Protocol', 'stp.protocol', hex(4));
  part.u8('Version', 'stp.version', named(VERSIONS));
  const type = part.u8('Message type', 'stp.type', named(TYPES));
  packet.info = TYPES[type] ?? `type ${type}`;
  if (type === 128) return;
  const flags = part.u8('Flags', 'stp.flags', flagText);
  const root = bridge(part, 'Root', 'stp.root.hw');
  const cost = part.u32('Cost to the root', 'stp.root.cost');
  const own = bridge(part, 'Bridge', 'stp.bridge.hw');
  const port = part.u16('Port', 'stp.port', hex(4));
  for (const [label, key] of [
    ['Message age', 'stp.msg_age'],
    ['Longest age', 'stp.max_age'],
    ['Hello time', 'stp.hello'],
    ['Forward delay', 'stp.forward'],
  ] as const) {
    part.noteNumber(label, part.u16() / 256, key, 2, (value) => `${value} s`);
  }
  const change = flags & 1 ? ' topology change,' : '';
  packet.info = `${TYPES[type] ?? type},${change} root ${root} cost ${cost}, bridge ${own} port ${hex(4)(port)}`;
}

function bridge(part: Part, label: string, key: FieldName): string {
  const priority = part.u16();
  const address = part.mac();
  part.note(label, `${priority} / ${address}`, key, 8, address);
  return `${priority}/${address}`;
}

function flagText(flags: number): string {
  const set = [
    flags & 1 && 'topology change',
    flags & 2 && 'proposal',
    flags & 16 && 'learning',
    flags & 32 && 'forwarding',
    flags & 64 && 'agreement',
    flags & 128 && 'acknowledged',
  ].filter(Boolean);
  const role = (flags >> 2) & 3;
  return [hex(2)(flags), ...(role > 0 ? [ROLES[role]] : []), ...set].join(', ');
}
