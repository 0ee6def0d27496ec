// Lists of addresses and networks as they stand in configurations.
import ipaddr from 'ipaddr.js';

type Network = readonly [ipaddr.IPv4 | ipaddr.IPv6, number];

/** Whether `text` is an address or a network (`10.0.0.0/8`). */
export function isNetwork(text: string): boolean {
  return ipaddr.isValidCIDR(text) || isAddress(text);
}

/** Whether `text` is an address in its usual form. A plain number is not. */
export function isAddress(text: string): boolean {
  return ipaddr.isValid(text) && /[.:]/.test(text);
}

function networkOf(text: string): Network {
  if (text.includes('/')) return ipaddr.parseCIDR(text);
  const address = ipaddr.process(text);
  return [address, address.kind() === 'ipv4' ? 32 : 128];
}

export class Networks {
  readonly #networks: readonly Network[];

  /** @param names addresses or networks, see {@link isNetwork} */
  constructor(names: readonly string[]) {
    this.#networks = names.map(networkOf);
  }

  /** An IPv4 address written as an IPv6 address counts as the IPv4 address. */
  includes(address: string): boolean {
    if (this.#networks.length === 0 || !isAddress(address)) return false;
    const found = ipaddr.process(address);
    return this.#networks.some(([network, bits]) => found.kind() === network.kind() && found.match([network, bits]));
  }
}
