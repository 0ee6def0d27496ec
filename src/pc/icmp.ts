// ICMP and ICMPv6: echo, and error messages about packets.

import { familyOf } from './address.ts';
import { fold, pseudoSum, sumOf } from './checksum.ts';
import { type Arrived, type EchoReply, type Network, type PacketError, PROTOCOL } from './packet.ts';

const HEADER_BYTES = 8;
const TYPES = {
  4: { request: 8, reply: 0, unreachable: 3, protocol: PROTOCOL.icmp },
  6: { request: 128, reply: 129, unreachable: 1, protocol: PROTOCOL.icmpv6 },
} as const;
/** Errors of both versions: unreachable, too big, time exceeded, parameter problem. */
const ERRORS = { 4: new Set([3, 11, 12]), 6: new Set([1, 2, 3, 4]) } as const;
const PORT_UNREACHABLE = { 4: 3, 6: 4 } as const;
/** An ICMP error quotes so much of the packet. */
const QUOTE = { 4: 576 - 20 - HEADER_BYTES, 6: 1280 - 40 - HEADER_BYTES } as const;

export class Icmp {
  readonly #network: Network;
  /** Those who wait for answers; a PC runs one command at a time. */
  readonly replyListeners = new Set<(reply: EchoReply) => void>();
  readonly errorListeners = new Set<(error: PacketError) => void>();

  constructor(network: Network) {
    this.#network = network;
  }

  /** Sends an echo request; false when there is no way to the destination. */
  request(
    destination: Buffer,
    {
      identifier,
      sequence,
      data,
      ttl,
      dontFragment,
    }: {
      identifier: number;
      sequence: number;
      data: Buffer;
      ttl: number;
      dontFragment: boolean;
    },
  ): boolean {
    const start = Buffer.alloc(HEADER_BYTES);
    start[0] = TYPES[familyOf(destination)].request;
    start.writeUInt16BE(identifier, 4);
    start.writeUInt16BE(sequence, 6);
    return this.#send({ destination, ttl, dontFragment }, Buffer.concat([start, data]));
  }

  /** Sends "port unreachable" to the sender. */
  refusePort({ source, destination, whole, mac, direct }: Arrived): void {
    if (!direct) return;
    const family = familyOf(source);
    const start = Buffer.alloc(HEADER_BYTES);
    start[0] = TYPES[family].unreachable;
    start[1] = PORT_UNREACHABLE[family];
    this.#send(
      { source: destination, destination: source, mac },
      Buffer.concat([start, whole.subarray(0, QUOTE[family])]),
    );
  }

  /** The packet's checksum is looked at here. */
  receive(arrived: Arrived): void {
    const { source, destination, payload, ttl, mac, direct } = arrived;
    const family = familyOf(source);
    const types = TYPES[family];
    if (arrived.protocol !== types.protocol || !isIntact(arrived)) return;
    const type = payload[0]!;
    if (type === types.request && direct) {
      const reply = Buffer.from(payload);
      reply[0] = types.reply;
      this.#send({ source: destination, destination: source, mac }, reply);
    } else if (type === types.reply) {
      const [identifier, sequence] = [payload.readUInt16BE(4), payload.readUInt16BE(6)];
      const reply = { source, ttl, identifier, sequence, bytes: payload.length };
      for (const listener of [...this.replyListeners]) listener(reply);
    } else if (ERRORS[family].has(type)) this.#reportError(arrived);
  }

  #reportError({ source, ttl, payload }: Arrived): void {
    const quote = payload.subarray(HEADER_BYTES);
    const family = familyOf(source);
    const length = family === 4 ? ((quote[0] ?? 0) & 15) * 4 : 40;
    if (quote.length < length + 8 || length < 20) return;
    const error: PacketError = {
      source,
      ttl,
      type: payload[0]!,
      code: payload[1]!,
      destination: family === 4 ? quote.subarray(16, 20) : quote.subarray(24, 40),
      protocol: quote[family === 4 ? 9 : 6]!,
      quoted: quote.subarray(length),
    };
    for (const listener of [...this.errorListeners]) listener(error);
  }

  #send(
    to: { source?: Buffer; destination: Buffer; mac?: Buffer; ttl?: number; dontFragment?: boolean },
    message: Buffer,
  ): boolean {
    const family = familyOf(to.destination);
    const source = Buffer.from(to.source ?? this.#network.sourceFor(to.destination) ?? []);
    if (source.length === 0) return false;
    const destination = Buffer.from(to.destination);
    const { protocol } = TYPES[family];
    message.writeUInt16BE(0, 2);
    const start = family === 4 ? 0 : pseudoSum(source, destination, protocol, message.length);
    message.writeUInt16BE(fold(sumOf(message, start)), 2);
    return this.#network.send({ ...to, source, destination, protocol, payload: message });
  }
}

export function isIntact({ source, destination, protocol, payload }: Arrived): boolean {
  if (payload.length < HEADER_BYTES) return false;
  const start = familyOf(source) === 4 ? 0 : pseudoSum(source, destination, protocol, payload.length);
  return fold(sumOf(payload, start)) === 0;
}
