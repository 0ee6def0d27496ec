// IP protocol numbers and names.
import type { Part, Show } from './packet-part.ts';

/** Decodes the payload of an IP header. */
export type Transport = (part: Part, protocol: number) => void;

/** Shows a fragment offset, which counts units of 8 bytes. */
export const offsetText: Show<number> = (units) => (units === 0 ? '0' : `${units} (byte ${units * 8})`);

const NAMES: Readonly<Record<number, string>> = {
  0: 'Hop-by-hop options',
  1: 'ICMP',
  2: 'IGMP',
  4: 'IPv4',
  6: 'TCP',
  17: 'UDP',
  41: 'IPv6',
  43: 'Routing',
  44: 'Fragment',
  47: 'GRE',
  50: 'ESP',
  51: 'AH',
  58: 'ICMPv6',
  59: 'No next header',
  60: 'Destination options',
  88: 'EIGRP',
  89: 'OSPF',
  103: 'PIM',
  112: 'VRRP',
  132: 'SCTP',
};

export function transportName(protocol: number): string {
  return NAMES[protocol] ?? `protocol ${protocol}`;
}
