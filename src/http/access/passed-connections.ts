// Connections over which another host of the cluster passes its clients' requests on. That host has checked the Host header and says who
// the client is: it sees the client's password in any case.
import { isAddress } from '../../host/network/address-lists.ts';
import type { SeenClient } from './proxies.ts';

/** Ignored on all other connections. */
export const CLIENT_HEADER = 'labwire-client';

const THROUGH = ' through host ';

/** The name of the host that passes a connection on. */
const hosts = new WeakMap<object, string>();

/** @param host as NATS knows it, which no host can forge */
export function notePassed(connection: object, host: string): void {
  hosts.set(connection, host);
}

export function isPassed(connection: object | undefined): boolean {
  return connection !== undefined && hosts.has(connection);
}

export const clientHeader = ({ address, secure }: SeenClient): string => `${secure ? 'https' : 'http'} ${address}`;

export const throughHost = (address: string, host: string): string => `${address}${THROUGH}${host}`.trim();

/**
 * The client of a request on such a connection; undefined on others. Its address names the host that says it, which may lie. Clients of
 * that host's local socket have no address.
 */
export function passedClient(connection: object | undefined, header: string | undefined): SeenClient | undefined {
  const host = connection && hosts.get(connection);
  if (host === undefined) return undefined;
  const [scheme, address = ''] = (header ?? '').split(' ');
  return { address: throughHost(isAddress(address) ? address : '', host), secure: scheme === 'https' };
}

/** The host that says that a client has this address, and what it says; undefined for clients of this host. */
export function passedAddress(address: string): { host: string; address: string } | undefined {
  const [said, host] = ` ${address}`.split(THROUGH);
  return host === undefined ? undefined : { host, address: (said as string).trim() };
}
