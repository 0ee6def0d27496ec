// Finds a command's destination: resolves names and checks for a route.

import { formatAddress, parseAddress } from './address.ts';
import { resolveName } from './dns.ts';
import type { Host } from './host.ts';
import { type Job, until } from './job.ts';

export interface Resolver {
  servers: readonly Buffer[];
  domain: string;
}

/** The destination address, or why there is none; `resolved`: it was a name. */
export function* findTarget(
  host: Host,
  text: string,
  resolver: Resolver,
): Job<{ address: Buffer; resolved: boolean } | string> {
  const literal = parseAddress(text);
  if (literal !== undefined) return { address: literal, resolved: false };
  const address = yield* resolveName(host, text, resolver);
  return address === undefined ? `Cannot resolve ${text}` : { address, resolved: true };
}

/** Makes sure that the next hop answers; why not, otherwise. */
export function* reach(host: Host, address: Buffer): Job<string | undefined> {
  if (isOwn(host, address)) return undefined;
  const { ipv4, ipv6 } = host;
  const isFour = address.length === 4;
  if (isFour && ipv4.settings === undefined) return `host (${formatAddress(address)}) not reachable`;
  const hop = isFour ? ipv4.nextHop(address) : ipv6.nextHop(address);
  if (hop === undefined) return 'No gateway found';
  const { neighbours } = isFour ? ipv4 : ipv6;
  const mac = yield* until<Buffer | undefined>((resume) => neighbours.resolve(hop, resume));
  return mac === undefined ? `host (${formatAddress(hop)}) not reachable` : undefined;
}

function isOwn({ ipv4, ipv6 }: Host, address: Buffer): boolean {
  return [ipv4.settings?.address, ipv6.settings?.address, ipv6.linkLocal].some((own) => own?.equals(address) === true);
}
