// IPv4 addresses as numbers, and subnets.
import { isIPv4 } from 'node:net';
import ipaddr from 'ipaddr.js';

/** A network: its lowest address, as an unsigned number, and its prefix length. */
export interface Subnet {
  readonly address: number;
  readonly prefix: number;
}

/** An unsigned number; undefined unless the text is an address in dotted form. */
export function parseAddress(text: string): number | undefined {
  return isIPv4(text) ? Buffer.from(ipaddr.IPv4.parse(text).octets).readUInt32BE() : undefined;
}

export function formatAddress(address: number): string {
  return new ipaddr.IPv4([24, 16, 8, 0].map((shift) => (address >>> shift) & 255)).toString();
}

/** The netmask as an unsigned number. */
export function netmask(prefix: number): number {
  return Buffer.from(ipaddr.IPv4.subnetMaskFromPrefixLength(prefix).octets).readUInt32BE();
}

/** `192.0.2.0/24`; undefined if it is invalid or has bits behind the prefix. */
export function parseSubnet(text: string): Subnet | undefined {
  const [host = '', length = ''] = text.split('/');
  const address = parseAddress(host);
  if (address === undefined || !/^\d{1,2}$/.test(length) || Number(length) > 32) return undefined;
  const prefix = Number(length);
  return (address & netmask(prefix)) >>> 0 === address ? { address, prefix } : undefined;
}

export function formatSubnet({ address, prefix }: Subnet): string {
  return `${formatAddress(address)}/${prefix}`;
}

export function contains({ address, prefix }: Subnet, host: number): boolean {
  return (host & netmask(prefix)) >>> 0 === address;
}

export function overlap(a: Subnet, b: Subnet): boolean {
  return a.prefix <= b.prefix ? contains(a, b.address) : contains(b, a.address);
}
