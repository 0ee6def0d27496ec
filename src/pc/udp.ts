// UDP: the PC's own sockets, and the echo service on all other ports.

import { familyOf } from './address.ts';
import { fold, pseudoSum, sumOf } from './checksum.ts';
import type { Icmp } from './icmp.ts';
import { type Arrived, type Departing, type Network, PROTOCOL } from './packet.ts';

const HEADER_BYTES = 8;
const ECHO = 7;
/** Ports used by other systems' traceroute, which expects them to be closed. */
const TRACE_PORTS = { first: 33_434, last: 33_689 };
/** Echoes in a second; two PCs that echo each other's echoes are no storm then. */
const ECHOES_PER_SECOND = 1000;
/** Ports of ended sockets that late answers may still come to: those are no requests. */
const LATE_PORTS = 16;

/** A datagram for a socket; the buffers are good until the call returns. */
export type HearDatagram = (datagram: { source: Buffer; port: number; ttl: number; data: Buffer }) => void;

export class Udp {
  readonly #network: Network;
  readonly #icmp: Icmp;
  readonly #now: () => number;
  readonly #sockets = new Map<number, HearDatagram>();
  readonly #late: number[] = [];
  #second = 0;
  #echoes = 0;

  constructor(network: Network, icmp: Icmp, now: () => number) {
    this.#network = network;
    this.#icmp = icmp;
    this.#now = now;
  }

  /** Receives datagrams to a port until the returned function is called. */
  open(port: number, hear: HearDatagram): () => void {
    this.#sockets.set(port, hear);
    return () => {
      if (this.#sockets.get(port) !== hear) return;
      this.#sockets.delete(port);
      this.#late.push(port);
      if (this.#late.length > LATE_PORTS) this.#late.shift();
    };
  }

  /** Sends a datagram; false when there is no way to the destination. */
  send(datagram: Omit<Departing, 'protocol' | 'payload'> & { from: number; to: number; data: Buffer }): boolean {
    const { from, to, data, ...packet } = datagram;
    const source = packet.source ?? this.#network.sourceFor(packet.destination);
    if (source === undefined) return false;
    const payload = udpMessage(source, packet.destination, { from, to, data });
    return this.#network.send({ ...packet, source, protocol: PROTOCOL.udp, payload });
  }

  receive(arrived: Arrived): void {
    const { source, destination, payload, ttl, mac, direct } = arrived;
    if (payload.length < HEADER_BYTES) return;
    const length = payload.readUInt16BE(4);
    if (length < HEADER_BYTES || length > payload.length) return;
    const isChecked = payload.readUInt16BE(6) !== 0;
    const start = pseudoSum(source, destination, PROTOCOL.udp, length);
    // Over IPv6 a datagram must carry a checksum.
    if (isChecked ? fold(sumOf(payload.subarray(0, length), start)) !== 0 : familyOf(source) === 6) return;
    const [from, to] = [payload.readUInt16BE(0), payload.readUInt16BE(2)];
    const data = payload.subarray(HEADER_BYTES, length);
    const socket = this.#sockets.get(to);
    if (socket !== undefined) {
      socket({ source, port: from, ttl, data });
      return;
    }
    if (!direct || this.#late.includes(to)) return;
    // VPCS traces with the port above its own.
    if (to === from + 1 || (to >= TRACE_PORTS.first && to <= TRACE_PORTS.last)) {
      this.#icmp.refusePort(arrived);
      return;
    }
    if (from === 0 || from === ECHO || !this.#mayEcho()) return;
    const answer = { source: Buffer.from(destination), destination: Buffer.from(source), mac };
    this.send({ ...answer, from: to, to: from, data });
  }

  #mayEcho(): boolean {
    const second = Math.floor(this.#now() / 1000);
    if (second !== this.#second) this.#echoes = 0;
    this.#second = second;
    return ++this.#echoes <= ECHOES_PER_SECOND;
  }
}

export function udpMessage(
  source: Buffer,
  destination: Buffer,
  { from, to, data }: { from: number; to: number; data: Buffer },
): Buffer {
  const message = Buffer.concat([Buffer.alloc(HEADER_BYTES), data]);
  message.writeUInt16BE(from, 0);
  message.writeUInt16BE(to, 2);
  // Longer ones do not leave: IP refuses them.
  message.writeUInt16BE(message.length & 0xffff, 4);
  const sum = fold(sumOf(message, pseudoSum(source, destination, PROTOCOL.udp, message.length)));
  message.writeUInt16BE(sum === 0 ? 0xffff : sum, 6);
  return message;
}
