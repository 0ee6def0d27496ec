// Addresses as bytes and text: IPv4 has 4 bytes, IPv6 16, MAC 6.

import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

export type Family = 4 | 6;

export const BROADCAST_MAC = Buffer.alloc(6, 0xff);
export const NO_ADDRESS = { 4: Buffer.alloc(4), 6: Buffer.alloc(16) } as const;
export const ALL_NODES = Buffer.from('ff020000000000000000000000000001', 'hex');
export const ALL_ROUTERS = Buffer.from('ff020000000000000000000000000002', 'hex');

/** A copy for long use: Node's small buffers share memory, and one would keep all of it alive. */
export function lasting(bytes: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
}

export function familyOf(address: Buffer): Family {
  return address.length === 4 ? 4 : 6;
}

/** Parses an address; undefined if invalid. Zones (`%eth0`) are not supported. */
export function parseAddress(text: string): Buffer | undefined {
  // ipaddr.js would also accept octal numbers and shortened IPv4 addresses.
  return isIP(text) !== 0 && !text.includes('%') ? Buffer.from(ipaddr.parse(text).toByteArray()) : undefined;
}

/** In the form of RFC 5952. */
export function formatAddress(address: Buffer): string {
  return ipaddr.fromByteArray([...address]).toString();
}

export function formatMac(mac: Buffer): string {
  return mac.toString('hex').replace(/(..)(?!$)/g, '$1:');
}

/** The mask of so many bits, for IPv4. */
export function maskOf(prefix: number): Buffer {
  const mask = Buffer.alloc(4);
  mask.writeUInt32BE(prefix === 0 ? 0 : (0xffff_ffff << (32 - prefix)) >>> 0);
  return mask;
}

/** Bits of a mask, undefined if the bytes are not a mask. */
export function prefixOfMask(mask: Buffer): number | undefined {
  const bits = mask.readUInt32BE().toString(2).padStart(32, '0');
  return /^1*0*$/.test(bits) ? bits.lastIndexOf('1') + 1 : undefined;
}

/** Whether the first bits of both are the same. */
export function sameNetwork(left: Buffer, right: Buffer, prefix: number): boolean {
  if (left.length !== right.length) return false;
  const whole = prefix >> 3;
  if (left.compare(right, 0, whole, 0, whole) !== 0) return false;
  const rest = prefix & 7;
  return rest === 0 || (left[whole]! ^ right[whole]!) >> (8 - rest) === 0;
}

/** For IPv4: the network's own address and its broadcast address belong to no host, except in networks of one or two. */
export function isHostAddress(address: Buffer, prefix: number): boolean {
  if (prefix >= 31) return true;
  const host = address.readUInt32BE() & (0xffff_ffff >>> prefix);
  return host !== 0 && host >>> 0 !== 0xffff_ffff >>> prefix;
}

export function isBroadcast(address: Buffer, prefix: number): boolean {
  const host = 0xffff_ffff >>> prefix;
  return prefix < 31 && (address.readUInt32BE() & host) >>> 0 === host;
}

export function isMulticast(address: Buffer): boolean {
  return address.length === 4 ? address[0]! >> 4 === 0xe : address[0] === 0xff;
}

export function isLinkLocal(address: Buffer): boolean {
  return address.length === 16 && address[0] === 0xfe && (address[1]! & 0xc0) === 0x80;
}

/** The second half of an IPv6 address that is made of a MAC address (RFC 4291, modified EUI-64). */
function interfaceIdentifier(mac: Buffer): Buffer {
  return Buffer.from([mac[0]! ^ 2, mac[1]!, mac[2]!, 0xff, 0xfe, mac[3]!, mac[4]!, mac[5]!]);
}

/** The address of a host in a network of 64 bits. */
export function autoconfigured(network: Buffer, mac: Buffer): Buffer {
  return Buffer.concat([network.subarray(0, 8), interfaceIdentifier(mac)]);
}

export function linkLocal(mac: Buffer): Buffer {
  return autoconfigured(Buffer.from('fe80000000000000', 'hex'), mac);
}

/** Where neighbour solicitations for an address go. */
export function solicitedNode(address: Buffer): Buffer {
  return Buffer.concat([Buffer.from('ff0200000000000000000001ff', 'hex'), address.subarray(13)]);
}

export function multicastMac(address: Buffer): Buffer {
  if (address.length === 16) return Buffer.concat([Buffer.from([0x33, 0x33]), address.subarray(12)]);
  return Buffer.from([1, 0, 0x5e, address[1]! & 0x7f, address[2]!, address[3]!]);
}
