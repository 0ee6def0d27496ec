// VLAN tags (IEEE 802.1Q, 802.1ad).
import { type Payload, typed } from './ether-types.ts';
import type { Part } from './packet-part.ts';

export function vlan(part: Part, name: string, payload: Payload): void {
  part.begin('vlan', name);
  const tag = part.u16();
  part.noteNumber('Priority', tag >> 13, 'vlan.priority', 2);
  part.noteNumber('VLAN', tag & 0xfff, 'vlan.id', 2);
  part.packet.says('VLAN', `VLAN ${tag & 0xfff}`);
  typed(part, 'vlan.etype', 'vlan.len', payload);
}
