// Internet addresses in the form of the kernel.

import { constants } from 'node:os';
import { libc, type Slab, SystemError } from './libc.ts';

export const AF_INET = 2;
const AF_INET6 = 10;
export const SOCKADDR_BYTES = 128;

/** An IPv4 or IPv6 literal (with `%zone` where it needs one) and a UDP port. */
export interface SocketAddress {
  host: string;
  port: number;
}

/** `::ffff:192.0.2.1` is the IPv4 address 192.0.2.1. */
function plainHost(host: string): string {
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(host)?.[1] ?? host;
}

/** Address family of an IP literal: 4 or 6. */
export function familyOf(host: string): 4 | 6 {
  return plainHost(host).includes(':') ? 6 : 4;
}

/** Address family of an IP literal, as the kernel numbers it. */
export function domainOf(host: string): number {
  return familyOf(host) === 6 ? AF_INET6 : AF_INET;
}

/** Writes a sockaddr_in or sockaddr_in6 to offset `at` of the slab and returns its size. */
export function writeSocketAddress({ bytes, address }: Slab, at: number, { host, port }: SocketAddress): number {
  const [literal, zone] = plainHost(host).split('%') as [string, string?];
  const version6 = familyOf(host) === 6;
  bytes.fill(0, at, at + SOCKADDR_BYTES);
  bytes.writeUInt16LE(domainOf(host), at);
  bytes.writeUInt16BE(port, at + 2);
  const parsed = libc().inet_pton(domainOf(host), literal, address + at + (version6 ? 8 : 4));
  if (parsed !== 1) throw new SystemError('inet_pton', constants.errno.EINVAL);
  if (zone) bytes.writeUInt32LE(Number(zone) || libc().if_nametoindex(zone), at + 24);
  return version6 ? 28 : 16;
}
