// EtherTypes and their names.
import { hex } from './packet-part.ts';

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
