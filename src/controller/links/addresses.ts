// The addresses that the two hosts of a link use for each other (as in release 2.2.57).
import dns from 'node:dns';
import { isIP } from 'node:net';
import { relayAddress } from '../../api/relay.ts';
import { conflict } from '../../failures.ts';
import { parseAddress } from '../../host/network/ipv4.ts';
import { reachableHost } from '../computes/address.ts';
import type { Compute, Place } from '../computes/compute.ts';

type Pair = [string, string];

interface Interface {
  ip_address: string;
  netmask: string;
}

/** The IP address of a compute's host; `0.0.0.0` if its name cannot be resolved. */
async function addressOf(compute: Compute): Promise<string> {
  const plain = reachableHost(compute.description.host);
  if (isIP(plain)) return plain;
  return dns.promises.lookup(plain).then(
    ({ address }) => address,
    () => '0.0.0.0',
  );
}

/** Whether the networks of two interfaces overlap. */
export function sameNetwork(one: Interface, other: Interface): boolean {
  const [a, maskA, b, maskB] = [one.ip_address, one.netmask, other.ip_address, other.netmask].map(parseAddress);
  if (a === undefined || b === undefined || maskA === undefined || maskB === undefined) return false;
  const wider = (maskA & maskB) >>> 0;
  return (a & wider) >>> 0 === (b & wider) >>> 0;
}

async function interfacesOf(compute: Compute, first: string): Promise<Interface[]> {
  const usable = (await compute.networkInterfaces()).filter(isUsable);
  return usable.sort((a, b) => Number(b.ip_address === first) - Number(a.ip_address === first));
}

function isUsable(entry: object): entry is Interface & Record<string, unknown> {
  const { ip_address: address, netmask } = entry as Partial<Interface>;
  return typeof address === 'string' && address !== '' && typeof netmask === 'string' && netmask !== '';
}

/** Addresses of both in one network; undefined without one. */
async function withinNetwork(one: Compute, other: Compute, [a, b]: [string, string]): Promise<Pair | undefined> {
  const [ours, theirs] = await Promise.all([interfacesOf(one, a), interfacesOf(other, b)]);
  for (const mine of ours) {
    if (mine.ip_address.startsWith('169.254.')) continue;
    for (const his of theirs) {
      if (mine.ip_address !== his.ip_address && sameNetwork(mine, his)) return [mine.ip_address, his.ip_address];
    }
  }
  return undefined;
}

/** Between hosts of the cluster: directly, or by its relay where one is behind a masquerade. */
async function clusterAddresses(one: Compute, other: Compute, [here, there]: [Place, Place]): Promise<Pair> {
  const isDirect = [here, there].every(({ address, outsideAddress }) => address === outsideAddress);
  if (isDirect) return [here.address, there.address];
  const near =
    here.outsideAddress === there.outsideAddress
      ? await withinNetwork(one, other, [here.address, there.address])
      : undefined;
  return near ?? [relayAddress(here.name), relayAddress(there.name)];
}

/**
 * For each compute, the address that the other one uses for it.
 * @throws Failure `conflict` without a common network
 */
export async function commonAddresses(one: Compute, other: Compute): Promise<Pair> {
  if (one !== other && one.place && other.place) return clusterAddresses(one, other, [one.place, other.place]);
  const [a, b] = await Promise.all([addressOf(one), addressOf(other)]);
  if (one === other) return [a, a];
  const local = ['0.0.0.0', '127.0.0.1', '::1'];
  if (!local.includes(a) && !local.includes(b)) return [a, b];
  const near = await withinNetwork(one, other, [a, b]);
  if (near) return near;
  throw conflict(
    `The computes ${one.name} and ${other.name} have no network in common: register each under an address that the other reaches.`,
  );
}
