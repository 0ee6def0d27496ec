// Frames of links between hosts that do not reach each other, carried by NATS. The fabric sends them as on any UDP tunnel: each end of such a
// link has a socket here, on the loopback address.
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import type { NatsConnection } from '@nats-io/transport-node';
import { Counters } from '../host/metrics.ts';
import { frameSubject, framesTo, subjects } from './subjects.ts';

/** Frames that NATS has not taken yet may have this many bytes; more are dropped, as on any network. */
const MOST_PENDING_BYTES = 1024 * 1024;
const RECEIVE_BUFFER_BYTES = 4 * 1024 * 1024;

/** What the relay needs of a connection to NATS. */
export interface FrameCarrier {
  publish(subject: string, frame: Uint8Array): void;
  /** Resolves when NATS has taken all that was published. */
  flush(): Promise<void>;
}

export interface FarEnd {
  /** Its name in the cluster. */
  host: string;
  /** The UDP port of the link there. */
  port: number;
}

/**
 * Whether it is an answer of NATS, in JSON, which a joined host can direct here under the name of another one. A frame with this beginning
 * would be for a multicast group that no protocol uses.
 */
const isAnswer = (frame: Uint8Array): boolean => frame[0] === 0x7b && frame[1] === 0x22;

interface End {
  socket: Socket;
  /** The host that may send frames to it. */
  from: string;
}

export class FrameRelay {
  readonly #host: string;
  readonly #isJoined: boolean;
  /** Frames by what became of them. */
  readonly counters = new Counters();
  /** By the UDP port that the fabric has for the link. */
  readonly #ends = new Map<number, End>();
  #carrier: FrameCarrier | undefined;
  #pendingBytes = 0;
  #isFlushing = false;

  /**
   * @param host this host's name in the cluster
   * @param isJoined whether it is in the account of joined hosts
   */
  constructor(host: string, isJoined: boolean) {
    this.#host = host;
    this.#isJoined = isJoined;
  }

  /** Undefined while there is no connection: frames are dropped meanwhile. */
  set carrier(carrier: FrameCarrier | undefined) {
    this.#carrier = carrier;
    this.#pendingBytes = 0;
    // A connection that was closed never answers what it was asked last.
    this.#isFlushing = false;
  }

  /** The local UDP port to which the fabric sends the frames of a link, and from which it gets those of the far end. */
  async open(port: number, far: FarEnd): Promise<number> {
    const socket = createSocket({ type: 'udp4', recvBufferSize: RECEIVE_BUFFER_BYTES });
    // Frames that the fabric does not take any more: the port is being closed.
    socket.on('error', () => {});
    socket.bind({ address: '127.0.0.1', port: 0, exclusive: true });
    await once(socket, 'listening');
    socket.connect(port, '127.0.0.1');
    await once(socket, 'connect');
    const subject = framesTo(far, this.#host, this.#isJoined);
    socket.on('message', (frame) => this.#send(subject, frame));
    this.close(port);
    this.#ends.set(port, { socket, from: far.host });
    return socket.address().port;
  }

  /** Ends what `open` began for this port, if anything. */
  close(port: number): void {
    this.#ends.get(port)?.socket.close();
    this.#ends.delete(port);
  }

  /** Receives the frames for this host on a new connection. */
  hear(nats: Pick<NatsConnection, 'subscribe'>): void {
    const { framesHere, framesOfJoined } = subjects(this.#host);
    for (const frames of [framesHere, framesOfJoined])
      nats.subscribe(`${frames}.*.*`, { callback: (_error, { subject, data }) => this.#receive(subject, data) });
  }

  /** A frame for this host; ignored unless a link leads to the host that sent it. */
  #receive(subject: string, frame: Uint8Array): void {
    const { from, port } = frameSubject(subject);
    const end = this.#ends.get(port);
    const isExpected = end?.from === from && !isAnswer(frame);
    this.counters.add({ result: isExpected ? 'received' : 'unexpected' });
    if (isExpected) end.socket.send(frame);
  }

  #send(subject: string, frame: Buffer): void {
    const carrier = this.#carrier;
    const isFull = this.#pendingBytes + frame.length > MOST_PENDING_BYTES;
    const isSent = carrier && !isFull && isPublished(carrier, subject, frame);
    this.counters.add({ result: isSent ? 'sent' : carrier && isFull ? 'queue_full' : 'not_connected' });
    if (!isSent) return;
    this.#pendingBytes += frame.length;
    if (!this.#isFlushing) void this.#flush(carrier);
  }

  async #flush(carrier: FrameCarrier): Promise<void> {
    this.#isFlushing = true;
    // Frames of the same turn go with the first one.
    await Promise.resolve();
    const bytes = this.#pendingBytes;
    await carrier.flush().catch(() => {});
    if (carrier !== this.#carrier) return;
    this.#pendingBytes = Math.max(0, this.#pendingBytes - bytes);
    this.#isFlushing = false;
    if (this.#pendingBytes > 0) void this.#flush(carrier);
  }

  stop(): void {
    for (const port of [...this.#ends.keys()]) this.close(port);
  }
}

/** False on a connection that is closed, which its owner learns a moment later. */
function isPublished(carrier: FrameCarrier, subject: string, frame: Uint8Array): boolean {
  try {
    carrier.publish(subject, frame);
    return true;
  } catch {
    return false;
  }
}
