// IPv4 and ARP of a PC.

import { BROADCAST_MAC, isBroadcast, isMulticast, multicastMac, NO_ADDRESS, sameNetwork } from './address.ts';
import { fold, sumOf } from './checksum.ts';
import { ETHERTYPE, LARGEST_PACKET_BYTES, type Link } from './link.ts';
import { Neighbours } from './neighbours.ts';
import { type Arrived, DEFAULT_TTL, type Departing, PROTOCOL } from './packet.ts';
import { Reassembly } from './reassembly.ts';
import type { Timers } from './timers.ts';

const HEADER_BYTES = 20;
const ARP_BYTES = 28;
const REQUEST = 1;
const REPLY = 2;
const DONT_FRAGMENT = 0x4000;
const MORE_FRAGMENTS = 0x2000;
const OFFSET = 0x1fff;
const LONGEST_BYTES = 65_535;
const BROADCAST = Buffer.alloc(4, 0xff);
const ARP_START = Buffer.from('000108000604', 'hex');
const BOOTP_CLIENT = 68;
export const DEFAULT_MTU = 1500;
export const LEAST_MTU = 576;
/** Gratuitous requests that look for a duplicate address, and the time between them. */
const DUPLICATE_CHECKS = 3;
const DUPLICATE_MS = 300;

export interface Ipv4Settings {
  address: Buffer;
  prefix: number;
  gateway: Buffer | undefined;
}

export class Ipv4 {
  settings: Ipv4Settings | undefined;
  mtu = DEFAULT_MTU;
  readonly neighbours: Neighbours;
  readonly #link: Link;
  readonly #timers: Timers;
  readonly #deliver: (packet: Arrived) => void;
  #reassembly: Reassembly | undefined;
  #identification = Math.floor(Math.random() * 0x1_0000);
  /** A pending duplicate address check, and its callback. */
  #checking: { address: Buffer; found: (mac: Buffer) => void } | undefined;

  constructor(link: Link, timers: Timers, deliver: (packet: Arrived) => void) {
    this.#link = link;
    this.#timers = timers;
    this.#deliver = deliver;
    this.neighbours = new Neighbours(timers, (address) => this.#request(address, this.#own));
  }

  get #own(): Buffer {
    return this.settings?.address ?? NO_ADDRESS[4];
  }

  sourceFor(destination: Buffer): Buffer | undefined {
    return this.nextHop(destination) === undefined ? undefined : this.#own;
  }

  /** The neighbour that a packet goes to; undefined when there is no way. */
  nextHop(destination: Buffer): Buffer | undefined {
    const { settings } = this;
    if (settings === undefined) return undefined;
    return sameNetwork(destination, settings.address, settings.prefix) ? destination : settings.gateway;
  }

  /** Checks whether another host has the address; reports its MAC address, or undefined after a timeout. Returns a function to stop. */
  checkDuplicate(address: Buffer, done: (mac: Buffer | undefined) => void): () => void {
    let checks = 0;
    let timer = this.#timers.after(0, () => next());
    const end = (mac: Buffer | undefined): void => {
      stop();
      done(mac);
    };
    const stop = (): void => {
      timer.stop();
      this.#checking = undefined;
    };
    const next = (): void => {
      if (checks++ === DUPLICATE_CHECKS) {
        end(undefined);
        return;
      }
      timer = this.#timers.after(DUPLICATE_MS, next);
      this.#request(address, address);
    };
    this.#checking = { address, found: (mac) => end(Buffer.from(mac)) };
    return stop;
  }

  receiveArp(frame: Buffer): void {
    const arp = frame.subarray(14);
    if (arp.length < ARP_BYTES || arp.compare(ARP_START, 0, 6, 0, 6) !== 0) return;
    const operation = arp.readUInt16BE(6);
    const [mac, sender, target] = [arp.subarray(8, 14), arp.subarray(14, 18), arp.subarray(24, 28)];
    if ((mac[0]! & 1) !== 0) return;
    const foreign = !mac.equals(this.#link.mac);
    if (foreign && this.#checking?.address.equals(sender)) {
      this.#checking.found(mac);
      return;
    }
    const forUs = this.settings !== undefined && target.equals(this.settings.address);
    if (foreign && !sender.equals(NO_ADDRESS[4]) && !sender.equals(this.#own))
      this.neighbours.learn(sender, mac, forUs);
    if (forUs && operation === REQUEST) this.#arp(REPLY, mac, target, mac, sender);
  }

  receive(frame: Buffer): void {
    const packet = frame.subarray(14);
    if (packet.length < HEADER_BYTES || packet[0]! >> 4 !== 4) return;
    const header = (packet[0]! & 15) * 4;
    const length = packet.readUInt16BE(2);
    if (header < HEADER_BYTES || length < header || length > packet.length) return;
    if (fold(sumOf(packet.subarray(0, header))) !== 0) return;
    const destination = packet.subarray(16, 20);
    const payload = packet.subarray(header, length);
    const direct = this.settings !== undefined && destination.equals(this.settings.address);
    if (!direct && !this.#isForGroup(destination) && !isForBootp(packet[9]!, payload)) return;
    const arrived: Arrived = {
      source: packet.subarray(12, 16),
      destination,
      protocol: packet[9]!,
      ttl: packet[8]!,
      payload,
      whole: packet.subarray(0, length),
      mac: frame.subarray(6, 12),
      direct: direct && (frame[0]! & 1) === 0,
    };
    const fragment = packet.readUInt16BE(6);
    if ((fragment & (MORE_FRAGMENTS | OFFSET)) === 0) this.#deliver(arrived);
    else this.#collect(arrived, packet.readUInt16BE(4), fragment);
  }

  send(packet: Departing): boolean {
    const source = packet.source ?? this.#own;
    const { destination } = packet;
    if (packet.payload.length + HEADER_BYTES > LONGEST_BYTES) return false;
    if (packet.dontFragment === true && packet.payload.length + HEADER_BYTES > this.#largest) return false;
    if (this.settings !== undefined && destination.equals(this.settings.address)) return this.#loop(packet, source);
    if (packet.mac !== undefined) return this.#emit(packet, source, packet.mac);
    if (destination.equals(BROADCAST)) return this.#emit(packet, source, BROADCAST_MAC);
    if (isMulticast(destination)) return this.#emit(packet, source, multicastMac(destination));
    const hop = this.nextHop(destination);
    if (hop === undefined) return false;
    this.neighbours.resolve(hop, (mac) => mac !== undefined && this.#emit(packet, source, mac));
    return true;
  }

  get #largest(): number {
    return Math.min(this.mtu, LARGEST_PACKET_BYTES);
  }

  #isForGroup(destination: Buffer): boolean {
    if (destination.equals(BROADCAST)) return true;
    const { settings } = this;
    return (
      settings !== undefined &&
      sameNetwork(destination, settings.address, settings.prefix) &&
      isBroadcast(destination, settings.prefix)
    );
  }

  #collect(arrived: Arrived, identification: number, fragment: number): void {
    this.#reassembly ??= new Reassembly(() => this.#timers.now());
    const { source, destination, protocol, payload } = arrived;
    const payloadOfAll = this.#reassembly.add({
      key: `${source.toString('hex')} ${destination.toString('hex')} ${protocol} ${identification}`,
      offset: (fragment & OFFSET) * 8,
      more: (fragment & MORE_FRAGMENTS) !== 0,
      bytes: payload,
    });
    if (payloadOfAll !== undefined) this.#deliver({ ...arrived, payload: payloadOfAll });
  }

  /** A packet to the host itself arrives a moment later. */
  #loop(packet: Departing, source: Buffer): boolean {
    const { destination, protocol, ttl = DEFAULT_TTL } = packet;
    const whole = Buffer.concat([this.#header(packet, source, 0, packet.payload.length, 0), packet.payload]);
    const payload = whole.subarray(HEADER_BYTES);
    const { mac } = this.#link;
    this.#timers.after(0, () =>
      this.#deliver({ source, destination, protocol, ttl, payload, whole, mac, direct: true }),
    );
    return true;
  }

  #emit(packet: Departing, source: Buffer, mac: Buffer): true {
    const { payload } = packet;
    const identification = this.#identification++ & 0xffff;
    const piece = (this.#largest - HEADER_BYTES) & ~7;
    const flags = packet.dontFragment === true ? DONT_FRAGMENT : 0;
    if (payload.length + HEADER_BYTES <= this.#largest) {
      const header = this.#header(packet, source, identification, payload.length, flags);
      this.#link.send(mac, ETHERTYPE.ipv4, Buffer.concat([header, payload]));
      return true;
    }
    for (let offset = 0; offset < payload.length; offset += piece) {
      const bytes = payload.subarray(offset, offset + piece);
      const more = offset + piece < payload.length ? MORE_FRAGMENTS : 0;
      const header = this.#header(packet, source, identification, bytes.length, more | (offset / 8));
      this.#link.send(mac, ETHERTYPE.ipv4, Buffer.concat([header, bytes]));
    }
    return true;
  }

  #header(packet: Departing, source: Buffer, identification: number, length: number, fragment: number): Buffer {
    const header = Buffer.alloc(HEADER_BYTES);
    header[0] = 0x45;
    header.writeUInt16BE(HEADER_BYTES + length, 2);
    header.writeUInt16BE(identification, 4);
    header.writeUInt16BE(fragment, 6);
    header[8] = packet.ttl ?? DEFAULT_TTL;
    header[9] = packet.protocol;
    source.copy(header, 12);
    packet.destination.copy(header, 16);
    header.writeUInt16BE(fold(sumOf(header)), 10);
    return header;
  }

  #request(target: Buffer, sender: Buffer): void {
    this.#arp(REQUEST, BROADCAST_MAC, sender, BROADCAST_MAC, target);
  }

  #arp(operation: number, to: Buffer, sender: Buffer, targetMac: Buffer, target: Buffer): void {
    const kind = Buffer.from([0, operation]);
    this.#link.send(to, ETHERTYPE.arp, Buffer.concat([ARP_START, kind, this.#link.mac, sender, targetMac, target]));
  }
}

/** A DHCP server may send its offer to the address that it offers. */
function isForBootp(protocol: number, payload: Buffer): boolean {
  return protocol === PROTOCOL.udp && payload.length >= 8 && payload.readUInt16BE(2) === BOOTP_CLIENT;
}
