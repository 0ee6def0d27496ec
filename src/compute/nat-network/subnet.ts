// Chooses addresses for the NAT network that collide with no route of this host.
import { readFileSync } from 'node:fs';
import { conflict } from '../../failures.ts';
import { formatSubnet, netmask, overlap, parseSubnet, type Subnet } from '../../host/network/ipv4.ts';

/** The first candidates: known from NAT networks of other programs. */
const CANDIDATES: readonly Subnet[] = Array.from({ length: 132 }, (_, index) => ({
  address: 0xc0a80000 + (122 + index) * 256,
  prefix: 24,
}));

/** Flag of a route that is in use (linux/route.h). */
const RTF_UP = 1;

/** The networks of the routing table in the form of /proc/net/route; addresses there are little endian. */
export function routedSubnets(table: string): Subnet[] {
  return table
    .split('\n')
    .slice(1)
    .flatMap((line) => {
      const [, destination = '', , flags = '', , , , mask = ''] = line.split('\t');
      if (destination.length !== 8 || (Number.parseInt(flags, 16) & RTF_UP) === 0) return [];
      const [address, bits] = [destination, mask].map((hex) => Buffer.from(hex, 'hex').readUInt32LE()) as [
        number,
        number,
      ];
      const prefix = 32 - Math.log2(2 ** 32 - bits);
      // The default route occupies no addresses. VPNs write it as two halves.
      return prefix <= 1 ? [] : [{ address, prefix }];
    });
}

/**
 * The configured network or, for an empty text, the first free one of 192.168.122.0/24 to 192.168.253.0/24.
 * @throws Failure `conflict`
 */
export function chooseSubnet(configured: string, taken: readonly Subnet[]): Subnet {
  if (configured === '') {
    const free = CANDIDATES.find((candidate) => !taken.some((other) => overlap(candidate, other)));
    if (free) return free;
    throw conflict('No network from 192.168.122.0/24 to 192.168.253.0/24 is free; set nat_subnet.');
  }
  const subnet = parseSubnet(configured)!;
  const other = taken.find((network) => overlap(network, subnet));
  if (other === undefined) return subnet;
  const message = `nat_subnet: this host has a route to ${formatSubnet(other)}, which ${configured} collides with; set another one.`;
  throw conflict(message);
}

/** The networks that this host has routes to now. */
export function ownSubnets(): Subnet[] {
  return routedSubnets(readFileSync('/proc/net/route', 'latin1'));
}

/** The gateway's address, which is the host's own. */
export function gatewayOf({ address }: Subnet): number {
  return address + 1;
}

/** First and last address for nodes. */
export function rangeOf({ address, prefix }: Subnet): [number, number] {
  return [address + 2, address + (~netmask(prefix) >>> 0) - 1];
}
