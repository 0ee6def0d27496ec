// MAC addresses of nodes and of their adapters.
import * as v from 'valibot';

export const MacAddress = v.pipe(
  v.string(),
  v.regex(/^([0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2}$/, 'must be a MAC address xx:xx:xx:xx:xx:xx'),
);

/** `base` plus `offset`, modulo 2^48; a base that is no MAC address stays as it is. */
export function addToMac(base: string, offset: number): string {
  const bytes = base.split(':').map((byte) => Number.parseInt(byte, 16));
  if (bytes.length !== 6 || bytes.some(Number.isNaN)) return base;
  const value = bytes.reduce((sum, byte) => sum * 256 + byte, 0) + offset;
  return value
    .toString(16)
    .padStart(12, '0')
    .slice(-12)
    .replaceAll(/(..)(?!$)/g, '$1:');
}

interface Adapter {
  adapter_number: number;
  mac_address?: string | undefined;
}

/** The address of an adapter: its own, or that of the node plus its number. */
export function adapterMac(base: string, adapter: number, custom: readonly Adapter[]): string {
  const own = custom.find(({ adapter_number: number }) => number === adapter)?.mac_address;
  return own?.toLowerCase() ?? addToMac(base, adapter);
}

export function adapterMacs(base: string, count: number, custom: readonly Adapter[]): string[] {
  return Array.from({ length: count }, (_, adapter) => adapterMac(base, adapter, custom));
}

/** The default address of a node: the prefix, three bytes of its id, and zeros. */
export function nodeMac(prefix: string, nodeId: string): string {
  const own = `${prefix}:${nodeId.slice(2, 4)}:${nodeId.slice(4, 6)}:${nodeId.slice(6, 8)}`;
  return own.padEnd(17, ':00');
}
