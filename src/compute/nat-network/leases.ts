// The address leases of the NAT network. An address is derived from its owner's MAC, so that a node gets the same one
// again.

/** Milliseconds that an address is not leased after another host was found using it. */
const QUARANTINE_MS = 600_000;

interface Lease {
  /** Hardware address; empty while the address is in quarantine. */
  owner: string;
  address: number;
  /** Milliseconds of performance.now(). The owner keeps the address longer if no other node needs it. */
  expires: number;
}

export class Leases {
  readonly first: number;
  readonly last: number;
  readonly #byAddress = new Map<number, Lease>();
  readonly #byOwner = new Map<string, Lease>();

  /** @param first the lowest address, as a number @param last the highest one */
  constructor(first: number, last: number) {
    this.first = first;
    this.last = last;
  }

  /** The owner's present or last address. */
  of(owner: string): number | undefined {
    return this.#byOwner.get(owner)?.address;
  }

  /** The owner's address, if its lease has not ended. */
  current(owner: string, now: number): number | undefined {
    const lease = this.#byOwner.get(owner);
    return lease && lease.expires > now ? lease.address : undefined;
  }

  /** An address for the owner: its own, one never leased, or one whose lease has ended; undefined if none is left. */
  choose(owner: string, now: number): number | undefined {
    const known = this.of(owner);
    if (known !== undefined) return known;
    const size = this.last - this.first + 1;
    const start = hash(owner) % size;
    let ended: Lease | undefined;
    for (let step = 0; step < size; step++) {
      const address = this.first + ((start + step) % size);
      const lease = this.#byAddress.get(address);
      if (lease === undefined) return address;
      if (lease.expires <= now && lease.expires < (ended?.expires ?? Infinity)) ended = lease;
    }
    return ended?.address;
  }

  mayHave(owner: string, address: number, now: number): boolean {
    if (address < this.first || address > this.last) return false;
    const lease = this.#byAddress.get(address);
    return lease === undefined || lease.owner === owner || lease.expires <= now;
  }

  /** Leases the address to the owner until `expires`; frees its previous one. */
  grant(owner: string, address: number, expires: number): void {
    this.#forget(this.#byOwner.get(owner));
    this.#forget(this.#byAddress.get(address));
    this.#enter({ owner, address, expires });
  }

  /** Ends the owner's lease. It gets the same address again if no other node took it. */
  release(owner: string): void {
    const lease = this.#byOwner.get(owner);
    if (lease) lease.expires = 0;
  }

  /** A host without a lease uses the address. */
  conflict(address: number, now: number): void {
    this.#forget(this.#byAddress.get(address));
    this.#enter({ owner: '', address, expires: now + QUARANTINE_MS });
  }

  #enter(lease: Lease): void {
    this.#byAddress.set(lease.address, lease);
    if (lease.owner !== '') this.#byOwner.set(lease.owner, lease);
  }

  #forget(lease: Lease | undefined): void {
    if (lease === undefined) return;
    this.#byAddress.delete(lease.address);
    if (lease.owner !== '') this.#byOwner.delete(lease.owner);
  }
}

/** FNV-1a: spreads consecutive MACs. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) value = Math.imul(value ^ text.charCodeAt(index), 0x01000193) >>> 0;
  return value;
}
