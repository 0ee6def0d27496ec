// IPv4 addresses as numbers, and the networks that they are in.

/** A network: its lowest address, as an unsigned number, and the length of its prefix. */
export interface Subnet {
  readonly address: number;
  readonly prefix: number;
}

/** An unsigned number; undefined for what is no address in dotted form. */
export function parseAddress(text: string): number | undefined {
  const parts = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text)?.slice(1).map(Number);
  if (parts === undefined || parts.some((part) => part > 255)) return undefined;
  return parts.reduce((address, part) => address * 256 + part, 0);
}

export function formatAddress(address: number): string {
  return [24, 16, 8, 0].map((shift) => (address >>> shift) & 255).join('.');
}

/** The netmask as an unsigned number. */
export function netmask(prefix: number): number {
  return prefix === 0 ? 0 : (-1 << (32 - prefix)) >>> 0;
}

/** `192.0.2.0/24`; undefined for what is none, or an address with bits behind the prefix. */
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
