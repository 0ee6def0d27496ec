// IPv6 of a PC, with neighbour discovery and stateless autoconfiguration (RFC 4861, 4862).

import {
  ALL_NODES,
  ALL_ROUTERS,
  autoconfigured,
  isLinkLocal,
  isMulticast,
  lasting,
  linkLocal,
  multicastMac,
  NO_ADDRESS,
  sameNetwork,
  solicitedNode,
} from './address.ts';
import { fold, pseudoSum, sumOf } from './checksum.ts';
import { ETHERTYPE, LARGEST_PACKET_BYTES, type Link } from './link.ts';
import { Neighbours } from './neighbours.ts';
import { type Arrived, DEFAULT_TTL, type Departing, PROTOCOL } from './packet.ts';
import { Reassembly } from './reassembly.ts';
import type { Timers } from './timers.ts';

const HEADER_BYTES = 40;
const FRAGMENT_HEADER_BYTES = 8;
const LONGEST_BYTES = 65_535;
const DEFAULT_MTU = 1500;
const LEAST_MTU = 1280;
/** Hop-by-hop options, routing and destination options are passed over; so many of them at most. */
const SKIPPED = new Set([0, 43, 60]);
const EXTENSIONS = 8;
/** Neighbour discovery is heard from this very network only. */
const ON_LINK_HOPS = 255;
const NEIGHBOUR = { routerSolicitation: 133, routerAdvertisement: 134, solicitation: 135, advertisement: 136 } as const;
const OPTION = { sourceMac: 1, targetMac: 2, prefix: 3, mtu: 5 } as const;
const SOLICITATIONS = 3;
const SOLICITATION_MS = 1000;
const SOLICITED = 0x40;
const OVERRIDE = 0x20;
const AUTONOMOUS = 0x40;

export interface Ipv6Settings {
  address: Buffer;
  prefix: number;
}

export interface Router {
  address: Buffer;
  mac: Buffer;
}

export class Ipv6 {
  readonly linkLocal: Buffer;
  /** The address beyond the link, given or made by autoconfiguration. */
  settings: Ipv6Settings | undefined;
  /** The router that advertised itself, or the configured gateway. */
  router: Router | undefined;
  gateway: Buffer | undefined;
  mtu = DEFAULT_MTU;
  readonly neighbours: Neighbours;
  readonly #link: Link;
  readonly #timers: Timers;
  readonly #deliver: (packet: Arrived) => void;
  #reassembly: Reassembly | undefined;
  #identification = Math.floor(Math.random() * 0xffff_ffff);
  /** Waits for a router's word. */
  #advertised: ((network: Buffer) => void) | undefined;

  constructor(link: Link, timers: Timers, deliver: (packet: Arrived) => void) {
    this.linkLocal = lasting(linkLocal(link.mac));
    this.#link = link;
    this.#timers = timers;
    this.#deliver = deliver;
    this.neighbours = new Neighbours(timers, (address) => this.#solicit(address));
  }

  clear(): void {
    this.settings = undefined;
    this.router = undefined;
    this.gateway = undefined;
    this.mtu = DEFAULT_MTU;
  }

  sourceFor(destination: Buffer): Buffer {
    return this.settings === undefined || isLinkLocal(destination) ? this.linkLocal : this.settings.address;
  }

  /** The neighbour that a packet goes to. Without a router every address is looked for on the link. */
  nextHop(destination: Buffer): Buffer {
    const { settings } = this;
    if (isLinkLocal(destination)) return destination;
    if (settings !== undefined && sameNetwork(destination, settings.address, settings.prefix)) return destination;
    return this.gateway ?? this.router?.address ?? destination;
  }

  /** Requests an address from routers; reports whether there is one. Returns a function to stop. */
  autoconfigure(done: (found: boolean) => void): () => void {
    let tries = 0;
    let timer = this.#timers.after(0, () => next());
    const stop = (): void => {
      timer.stop();
      this.#advertised = undefined;
    };
    const next = (): void => {
      if (tries++ === SOLICITATIONS) {
        stop();
        done(false);
        return;
      }
      timer = this.#timers.after(SOLICITATION_MS, next);
      this.#discover(ALL_ROUTERS, NEIGHBOUR.routerSolicitation, Buffer.alloc(4), OPTION.sourceMac);
    };
    this.#advertised = (network) => {
      stop();
      // The router that advertises takes the place of a configured one.
      this.gateway = undefined;
      this.settings = { address: lasting(autoconfigured(network, this.#link.mac)), prefix: 64 };
      done(true);
    };
    return stop;
  }

  receive(frame: Buffer): void {
    const packet = frame.subarray(14);
    if (packet.length < HEADER_BYTES || packet[0]! >> 4 !== 6) return;
    const length = packet.readUInt16BE(4);
    if (HEADER_BYTES + length > packet.length) return;
    const destination = packet.subarray(24, 40);
    const direct = this.#isOwn(destination);
    if (!direct && !this.#isForGroup(destination)) return;
    const arrived: Arrived = {
      source: packet.subarray(8, 24),
      destination,
      protocol: packet[6]!,
      ttl: packet[7]!,
      payload: packet.subarray(HEADER_BYTES, HEADER_BYTES + length),
      whole: packet.subarray(0, HEADER_BYTES + length),
      mac: frame.subarray(6, 12),
      direct,
    };
    this.#unwrap(arrived);
  }

  /** Neighbour discovery; others' ICMPv6 is not handled here. Answers whether it was for it. */
  receiveIcmp({ ttl, source, mac, payload }: Arrived): boolean {
    const type = payload[0]!;
    if (type < NEIGHBOUR.routerSolicitation || type > 137) return false;
    if (ttl !== ON_LINK_HOPS || payload[1] !== 0) return true;
    if (type === NEIGHBOUR.routerAdvertisement && payload.length >= 16) this.#hearRouter(source, mac, payload);
    if (payload.length < 24) return true;
    const target = payload.subarray(8, 24);
    if (type === NEIGHBOUR.solicitation && this.#isOwn(target)) this.#advertise(target, source, mac);
    if (type === NEIGHBOUR.advertisement && !isMulticast(target) && !this.#isOwn(target)) {
      this.neighbours.learn(target, option(payload, 24, OPTION.targetMac)?.subarray(0, 6) ?? mac, false);
    }
    return true;
  }

  send(packet: Departing): boolean {
    const source = packet.source ?? this.sourceFor(packet.destination);
    const { destination } = packet;
    if (packet.payload.length > LONGEST_BYTES - FRAGMENT_HEADER_BYTES) return false;
    if (packet.dontFragment === true && packet.payload.length + HEADER_BYTES > this.#largest) return false;
    if (this.#isOwn(destination)) return this.#loop(packet, source);
    if (packet.mac !== undefined) return this.#emit(packet, source, packet.mac);
    if (isMulticast(destination)) return this.#emit(packet, source, multicastMac(destination));
    const emit = (mac: Buffer | undefined) => mac !== undefined && this.#emit(packet, source, mac);
    this.neighbours.resolve(this.nextHop(destination), emit);
    return true;
  }

  get #largest(): number {
    return Math.min(this.mtu, LARGEST_PACKET_BYTES);
  }

  #isOwn(address: Buffer): boolean {
    return address.equals(this.linkLocal) || this.settings?.address.equals(address) === true;
  }

  #isForGroup(destination: Buffer): boolean {
    if (destination[0] !== 0xff) return false;
    if (destination.equals(ALL_NODES) || destination.equals(solicitedNode(this.linkLocal))) return true;
    return this.settings !== undefined && destination.equals(solicitedNode(this.settings.address));
  }

  #unwrap(arrived: Arrived): void {
    let { protocol, payload } = arrived;
    for (let extensions = 0; extensions < EXTENSIONS; extensions++) {
      if (protocol === PROTOCOL.fragment) {
        if (payload.length < FRAGMENT_HEADER_BYTES) return;
        const field = payload.readUInt16BE(2);
        const next = payload[0]!;
        const whole = this.#collect(arrived, payload, field);
        if (whole === undefined) return;
        payload = whole;
        protocol = next;
      } else if (SKIPPED.has(protocol)) {
        const length = payload.length < 8 ? 8 : (payload[1]! + 1) * 8;
        if (length > payload.length) return;
        protocol = payload[0]!;
        payload = payload.subarray(length);
      } else {
        this.#deliver({ ...arrived, protocol, payload });
        return;
      }
    }
  }

  #collect({ source, destination }: Arrived, fragment: Buffer, field: number): Buffer | undefined {
    if (field >> 3 === 0 && (field & 1) === 0) return fragment.subarray(FRAGMENT_HEADER_BYTES);
    this.#reassembly ??= new Reassembly(() => this.#timers.now());
    return this.#reassembly.add({
      key: `${source.toString('hex')} ${destination.toString('hex')} ${fragment.readUInt32BE(4)}`,
      offset: field & ~7,
      more: (field & 1) !== 0,
      bytes: fragment.subarray(FRAGMENT_HEADER_BYTES),
    });
  }

  #loop(packet: Departing, source: Buffer): boolean {
    const { destination, protocol, ttl = DEFAULT_TTL, payload } = packet;
    const whole = Buffer.concat([header(packet, source, protocol, payload.length), payload]);
    const { mac } = this.#link;
    this.#timers.after(0, () =>
      this.#deliver({ source, destination, protocol, ttl, payload, whole, mac, direct: true }),
    );
    return true;
  }

  #emit(packet: Departing, source: Buffer, mac: Buffer): true {
    const { payload, protocol } = packet;
    if (payload.length + HEADER_BYTES <= this.#largest) {
      this.#link.send(mac, ETHERTYPE.ipv6, Buffer.concat([header(packet, source, protocol, payload.length), payload]));
      return true;
    }
    const piece = (this.#largest - HEADER_BYTES - FRAGMENT_HEADER_BYTES) & ~7;
    const identification = this.#identification++ >>> 0;
    for (let offset = 0; offset < payload.length; offset += piece) {
      const bytes = payload.subarray(offset, offset + piece);
      const fragment = Buffer.alloc(FRAGMENT_HEADER_BYTES);
      fragment[0] = protocol;
      fragment.writeUInt16BE(offset | (offset + piece < payload.length ? 1 : 0), 2);
      fragment.writeUInt32BE(identification, 4);
      const start = header(packet, source, PROTOCOL.fragment, FRAGMENT_HEADER_BYTES + bytes.length);
      this.#link.send(mac, ETHERTYPE.ipv6, Buffer.concat([start, fragment, bytes]));
    }
    return true;
  }

  #hearRouter(source: Buffer, mac: Buffer, advertisement: Buffer): void {
    if (!isLinkLocal(source)) return;
    const routerMac = option(advertisement, 16, OPTION.sourceMac)?.subarray(0, 6) ?? mac;
    const lifetime = advertisement.readUInt16BE(6);
    if (lifetime > 0) {
      this.router = { address: lasting(source), mac: lasting(routerMac) };
      this.neighbours.learn(source, routerMac, true);
    } else if (this.router?.address.equals(source)) this.router = undefined;
    const mtu = option(advertisement, 16, OPTION.mtu)?.readUInt32BE(2);
    if (mtu !== undefined && mtu >= LEAST_MTU && mtu <= LARGEST_PACKET_BYTES) this.mtu = mtu;
    const usable = options(advertisement, 16, OPTION.prefix).find(
      (prefix) =>
        prefix.length >= 30 && prefix[0] === 64 && (prefix[1]! & AUTONOMOUS) !== 0 && prefix.readUInt32BE(2) > 0,
    );
    if (usable !== undefined) this.#advertised?.(usable.subarray(14, 22));
  }

  #solicit(target: Buffer): void {
    const group = solicitedNode(target);
    this.#discover(group, NEIGHBOUR.solicitation, Buffer.concat([Buffer.alloc(4), target]), OPTION.sourceMac);
  }

  #advertise(target: Buffer, asker: Buffer, mac: Buffer): void {
    // A sender without an address is checking for a duplicate.
    const isProbe = asker.equals(NO_ADDRESS[6]);
    if (!isProbe) this.neighbours.learn(asker, mac, true);
    const flags = Buffer.from([isProbe ? OVERRIDE : SOLICITED | OVERRIDE, 0, 0, 0]);
    const body = Buffer.concat([flags, target]);
    const to = isProbe ? ALL_NODES : Buffer.from(asker);
    this.#discover(to, NEIGHBOUR.advertisement, body, OPTION.targetMac, Buffer.from(target), isProbe ? undefined : mac);
  }

  /** Sends a neighbour discovery message with the own MAC address. */
  #discover(
    destination: Buffer,
    type: number,
    body: Buffer,
    macOption: number,
    source = type === NEIGHBOUR.solicitation ? this.sourceFor(body.subarray(4)) : this.linkLocal,
    mac?: Buffer,
  ): void {
    const own = Buffer.concat([Buffer.from([macOption, 1]), this.#link.mac]);
    const payload = Buffer.concat([Buffer.from([type, 0, 0, 0]), body, own]);
    payload.writeUInt16BE(fold(sumOf(payload, pseudoSum(source, destination, PROTOCOL.icmpv6, payload.length))), 2);
    const packet = { destination, protocol: PROTOCOL.icmpv6, payload, source, ttl: ON_LINK_HOPS };
    this.send(mac === undefined ? packet : { ...packet, mac: Buffer.from(mac) });
  }
}

/** The first option of the type; undefined if missing. */
function option(message: Buffer, start: number, type: number): Buffer | undefined {
  return options(message, start, type)[0];
}

/** The bytes of each option of the type, after its type and length. */
function options(message: Buffer, start: number, type: number): Buffer[] {
  const found: Buffer[] = [];
  for (let at = start; at + 8 <= message.length; ) {
    const length = message[at + 1]! * 8;
    if (length === 0 || at + length > message.length) break;
    if (message[at] === type) found.push(message.subarray(at + 2, at + length));
    at += length;
  }
  return found;
}

function header(packet: Departing, source: Buffer, next: number, length: number): Buffer {
  const bytes = Buffer.alloc(HEADER_BYTES);
  bytes[0] = 0x60;
  bytes.writeUInt16BE(length, 4);
  bytes[6] = next;
  bytes[7] = packet.ttl ?? DEFAULT_TTL;
  source.copy(bytes, 8);
  packet.destination.copy(bytes, 24);
  return bytes;
}
