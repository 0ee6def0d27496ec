// The address of a compute and the credentials for it (as in release 2.2.57).
import { isIP } from 'node:net';
import { hostInUrl } from '../../api/host-in-url.ts';
import { conflict } from '../../failures.ts';

export interface ComputeAddress {
  protocol: 'http' | 'https';
  host: string;
  port: number;
}

/** The host to connect to: wildcards stand for this host. */
export function reachableHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  return host === '::' ? '::1' : host;
}

/** `<protocol>://<host>:<port>`, IPv6 literals in brackets. Not validated. */
export function originOf({ protocol, host, port }: ComputeAddress): string {
  return `${protocol}://${hostInUrl(reachableHost(host))}:${port}`;
}

/** @throws Failure `conflict` for a host or port that is not valid in a URL */
export function mustBeAddress(address: ComputeAddress): void {
  const origin = originOf(address);
  const { host, port } = address;
  const isName = isIP(host) !== 0 || /^[\p{L}\p{N}._-]+$/u.test(host);
  if (isName && port >= 1 && port <= 65535 && URL.canParse(origin)) return;
  throw conflict(
    `${origin} is no address: give host as a name or an IP address without brackets, and port from 1 to 65535.`,
  );
}
