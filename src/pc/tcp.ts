// TCP: the probes' ports, and a service on all other ports that accepts data; on port 7 it echoes it.

import { formatAddress } from './address.ts';
import { type Arrived, type Departing, type Network, PROTOCOL } from './packet.ts';
import { FLAG, parseSegment, type Segment, segmentBytes } from './tcp-segment.ts';
import { TcpServed } from './tcp-served.ts';
import type { Timers } from './timers.ts';

/** Connections that are served at a time; the oldest gives way. */
const SERVED = 32;

export type HearSegment = (heard: { source: Buffer; ttl: number; segment: Segment }) => void;

export class Tcp {
  readonly #network: Network;
  readonly #timers: Timers;
  readonly #sockets = new Map<number, HearSegment>();
  #served: Map<string, TcpServed> | undefined;

  constructor(network: Network, timers: Timers) {
    this.#network = network;
    this.#timers = timers;
  }

  /** Hears every segment to a port, until the answer is called. */
  open(port: number, hear: HearSegment): () => void {
    this.#sockets.set(port, hear);
    return () => {
      if (this.#sockets.get(port) === hear) this.#sockets.delete(port);
    };
  }

  send(segment: Segment, packet: Omit<Departing, 'protocol' | 'payload'>): boolean {
    const source = packet.source ?? this.#network.sourceFor(packet.destination);
    if (source === undefined) return false;
    const payload = segmentBytes(source, packet.destination, segment);
    return this.#network.send({ ...packet, source, protocol: PROTOCOL.tcp, payload });
  }

  receive(arrived: Arrived): void {
    if (!arrived.direct) return;
    const segment = parseSegment(arrived);
    if (segment === undefined) return;
    const { source, ttl } = arrived;
    const socket = this.#sockets.get(segment.to);
    if (socket !== undefined) socket({ source, ttl, segment });
    else this.#serve(arrived, segment);
  }

  #serve({ source, destination, mac }: Arrived, segment: Segment): void {
    const key = `${formatAddress(source)} ${segment.from} ${segment.to}`;
    const served = this.#served?.get(key);
    const way = { source: Buffer.from(destination), destination: Buffer.from(source), mac: Buffer.from(mac) };
    const kind = segment.flags & (FLAG.syn | FLAG.ack | FLAG.rst);
    // A client that reconnects does not know the old connection.
    if (served !== undefined && kind !== FLAG.syn) served.hear(segment);
    else if (kind === FLAG.syn) {
      served?.end();
      this.#accept(key, segment, way);
    } else if ((segment.flags & FLAG.rst) === 0) this.#refuse(segment, way);
  }

  #accept(key: string, segment: Segment, way: Omit<Departing, 'protocol' | 'payload'>): void {
    this.#served ??= new Map();
    if (this.#served.size >= SERVED) this.#served.values().next().value!.end();
    const send = (answer: Segment): boolean => this.send(answer, way);
    const served = new TcpServed(segment, send, this.#timers, () => this.#served?.delete(key));
    this.#served.set(key, served);
    served.accept();
  }

  #refuse(segment: Segment, way: Omit<Departing, 'protocol' | 'payload'>): void {
    const { from, to, flags, sequence, acknowledgement, data } = segment;
    const isAcknowledging = (flags & FLAG.ack) !== 0;
    const length = data.length + ((flags & FLAG.fin) === 0 ? 0 : 1);
    this.send(
      {
        from: to,
        to: from,
        window: 0,
        data: Buffer.alloc(0),
        sequence: isAcknowledging ? acknowledgement : 0,
        acknowledgement: isAcknowledging ? 0 : sequence + length,
        flags: isAcknowledging ? FLAG.rst : FLAG.rst | FLAG.ack,
      },
      way,
    );
  }
}
