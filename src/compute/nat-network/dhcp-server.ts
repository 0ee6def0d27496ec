// The DHCP server of the NAT network (RFC 2131). Handles messages only, not their transport.
import { setTimeout as sleep } from 'node:timers/promises';
import { formatAddress, netmask, type Subnet } from '../../host/network/ipv4.ts';
import { type DhcpReply, type DhcpRequest, OPTION, TYPE } from './dhcp-message.ts';
import { Leases } from './leases.ts';
import { gatewayOf, rangeOf } from './subnet.ts';

/** Seconds. */
const LEASE_SECONDS = 3600;
/** Milliseconds that an offer is reserved for its client. */
const OFFER_MS = 60_000;
/** Milliseconds within which the user of an address answers a probe; hosts of a LAN need some ten. */
const PROBE_MS = 300;
/** Addresses to probe before the client has to try again. */
const PROBES = 4;
/** Clients served at the same time. */
const MOST_WAITING = 64;

export class DhcpServer {
  readonly #subnet: Subnet;
  readonly #gateway: number;
  readonly #leases: Leases;
  /** Sends a probe for the address; an answer arrives by {@link taken}. */
  probe: (address: number) => void = () => {};
  readonly #waiting = new Set<string>();
  readonly #probed = new Map<number, { taken: boolean }>();

  constructor(subnet: Subnet) {
    this.#subnet = subnet;
    this.#gateway = gatewayOf(subnet);
    this.#leases = new Leases(...rangeOf(subnet));
  }

  /** The answer to a request, or undefined for none. */
  async answer(request: DhcpRequest): Promise<DhcpReply | undefined> {
    if (request.relay !== 0) return undefined;
    switch (request.type) {
      case TYPE.discover:
        return this.#offer(request);
      case TYPE.request:
        return this.#confirm(request);
      case TYPE.inform:
        return { type: TYPE.ack, address: 0, options: this.#settings() };
      case TYPE.decline:
        if (request.requested !== undefined && this.#leases.of(request.mac) === request.requested) {
          this.#leases.conflict(request.requested, performance.now());
        }
        return undefined;
      case TYPE.release:
        if (this.#leases.of(request.mac) === request.clientAddress) this.#leases.release(request.mac);
        return undefined;
      default:
        return undefined;
    }
  }

  /** The address that is leased to a MAC (hexadecimal) with its prefix. */
  leased(mac: string): string | undefined {
    const address = this.#leases.current(mac, performance.now());
    return address === undefined ? undefined : `${formatAddress(address)}/${this.#subnet.prefix}`;
  }

  /** A host has answered a probe. */
  taken(address: number): void {
    const probed = this.#probed.get(address);
    if (probed) probed.taken = true;
  }

  async #offer({ mac, requested }: DhcpRequest): Promise<DhcpReply | undefined> {
    // A client that repeats a request gets the answer to the first one.
    if (this.#waiting.has(mac) || this.#waiting.size >= MOST_WAITING) return undefined;
    this.#waiting.add(mac);
    try {
      const address = this.#leases.of(mac) ?? (await this.#findFree(mac, requested));
      if (address === undefined) return undefined;
      this.#leases.grant(mac, address, performance.now() + OFFER_MS);
      return { type: TYPE.offer, address, options: [...this.#lease(), ...this.#settings()] };
    } finally {
      this.#waiting.delete(mac);
    }
  }

  /** An address that is not leased, and not used by a host without a lease. */
  async #findFree(mac: string, wished: number | undefined): Promise<number | undefined> {
    for (let tries = 0; tries < PROBES; tries++) {
      const now = performance.now();
      const useWish = tries === 0 && wished !== undefined && this.#leases.mayHave(mac, wished, now);
      const address = useWish ? wished : this.#leases.choose(mac, now);
      if (address === undefined) return undefined;
      // Reserved for the client at once, so that no other client is offered it meanwhile.
      this.#leases.grant(mac, address, now + OFFER_MS);
      const probed = { taken: false };
      this.#probed.set(address, probed);
      this.probe(address);
      await sleep(PROBE_MS, undefined, { ref: false });
      this.#probed.delete(address);
      if (!probed.taken) return address;
      this.#leases.conflict(address, performance.now());
    }
    return undefined;
  }

  #confirm({ mac, server, requested, clientAddress }: DhcpRequest): DhcpReply | undefined {
    // The client accepted another server's offer.
    if (server !== undefined && server !== this.#gateway) return undefined;
    const address = requested ?? clientAddress;
    const now = performance.now();
    const own = this.#leases.of(mac);
    // Leases are lost at a restart: a client that has an address keeps it.
    if (address !== own && (own !== undefined || !this.#leases.mayHave(mac, address, now))) {
      return { type: TYPE.nak, address: 0, options: [[OPTION.server, this.#gateway]] };
    }
    this.#leases.grant(mac, address, now + LEASE_SECONDS * 1000);
    return { type: TYPE.ack, address, options: [...this.#lease(), ...this.#settings()] };
  }

  #lease(): [number, number][] {
    return [[OPTION.lease, LEASE_SECONDS]];
  }

  #settings(): [number, number][] {
    const mask = netmask(this.#subnet.prefix);
    return [
      [OPTION.server, this.#gateway],
      [OPTION.mask, mask],
      [OPTION.router, this.#gateway],
      [OPTION.dns, this.#gateway],
      [OPTION.broadcast, (this.#subnet.address | ~mask) >>> 0],
    ];
  }
}
