// EtherTypes and their names.
import type { FieldName } from './field-names.ts';
import { hex, type Part } from './packet-part.ts';

/** Decodes the payload behind a type or length. */
export type Payload = (part: Part, type: number) => void;

/** Values below this are lengths (IEEE 802.3), not types. */
export const LEAST_TYPE = 0x600;

const TYPE_NAMES: Readonly<Record<number, string>> = {
  2048: 'IPv4',
  2054: 'ARP',
  33024: 'IEEE 802.1Q',
  34525: 'IPv6',
  34984: 'IEEE 802.1ad',
  35020: 'LLDP',
  36864: 'Loopback',
};

export const typeText = (type: number): string =>
  TYPE_NAMES[type] === undefined ? hex(4)(type) : `${TYPE_NAMES[type]} (${hex(4)(type)})`;

/** Reads a type or a length, the end of a header, and then the payload. */
export function typed(part: Part, type: FieldName, length: FieldName, payload: Payload): void {
  const isType = part.peek16() >= LEAST_TYPE;
  const value = isType ? part.u16('Type', type, typeText) : part.u16('Length', length);
  part.close();
  payload(part, value);
}
