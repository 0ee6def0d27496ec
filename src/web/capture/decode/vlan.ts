// VLAN tags (IEEE 802.1Q, 802.1ad).
import { LEAST_TYPE, typeText } from './ether-types.ts';
import type { Part } from './packet-part.ts';

export function vlan(part: Part, name: string, next: (part: Part, type: number) => void): void {
  part.begin('vlan', name);
  const tag = part.u16();
  part.note('Priority', String(tag >> 13), 'vlan.priority', 2);
  part.note('VLAN', String(tag & 0xfff), 'vlan.id', 2);
  part.packet.says('VLAN', `VLAN ${tag & 0xfff}`);
  const type = part.u16('Type', 'vlan.etype', typeText);
  part.close();
  if (type >= LEAST_TYPE) next(part, type);
}
