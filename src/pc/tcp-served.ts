// An incoming TCP connection. Only one segment is unacknowledged at a time, and data that does not fit is not acknowledged.

import { distance, FLAG, type Segment } from './tcp-segment.ts';
import type { Timer, Timers } from './timers.ts';

const ECHO = 7;
/** Also the limit of data held for the echo. */
const WINDOW_BYTES = 4096;
const LARGEST_SEGMENT_BYTES = 1400;
const RETRY_MS = 500;
const RETRIES = 6;
/** A connection on which nothing happens ends in silence. */
const IDLE_MS = 60_000;
const NOTHING = Buffer.alloc(0);

export class TcpServed {
  readonly #ports: { from: number; to: number };
  readonly #send: (segment: Segment) => boolean;
  readonly #timers: Timers;
  readonly #ended: () => void;
  readonly #echoes: boolean;
  #timer: Timer | undefined;
  #retries = 0;
  /** The next byte that is expected, and the first that is not acknowledged. */
  #expected: number;
  #unacknowledged = Math.floor(Math.random() * 0xffff_ffff);
  /** The unacknowledged segment: flags, data and its length in sequence numbers. */
  #flying: { flags: number; data: Buffer; length: number } | undefined;
  #queue: Buffer = NOTHING;
  #peerHasEnded = false;
  #hasEnded = false;

  constructor(syn: Segment, send: (segment: Segment) => boolean, timers: Timers, ended: () => void) {
    this.#ports = { from: syn.to, to: syn.from };
    this.#expected = (syn.sequence + 1) >>> 0;
    this.#echoes = syn.to === ECHO;
    this.#send = send;
    this.#timers = timers;
    this.#ended = ended;
  }

  accept(): void {
    this.#fly(FLAG.syn | FLAG.ack, NOTHING);
  }

  /** Forgets the connection. */
  end(): void {
    this.#timer?.stop();
    this.#ended();
  }

  hear(segment: Segment): void {
    if ((segment.flags & FLAG.rst) !== 0) {
      if (segment.sequence === this.#expected) this.end();
      return;
    }
    if ((segment.flags & FLAG.ack) !== 0 && !this.#hearAcknowledgement(segment)) return;
    this.#hearData(segment);
    if (this.#flying === undefined) this.#next();
  }

  /** False when the connection is over. */
  #hearAcknowledgement({ acknowledgement }: Segment): boolean {
    const flying = this.#flying;
    if (flying === undefined || distance(acknowledgement, this.#unacknowledged + flying.length) !== 0) return true;
    this.#unacknowledged = acknowledgement;
    this.#flying = undefined;
    this.#retries = 0;
    this.#waitIdle();
    if ((flying.flags & FLAG.fin) === 0) return true;
    this.end();
    return false;
  }

  #hearData({ sequence, flags, data }: Segment): void {
    const isFinal = (flags & FLAG.fin) !== 0;
    if (data.length === 0 && !isFinal) return;
    if (this.#flying === undefined) this.#waitIdle();
    const fits = !this.#echoes || this.#queue.length + data.length <= WINDOW_BYTES;
    if (sequence === this.#expected && fits && !this.#peerHasEnded) {
      this.#expected = (sequence + data.length + (isFinal ? 1 : 0)) >>> 0;
      if (this.#echoes) this.#queue = Buffer.concat([this.#queue, data]);
      this.#peerHasEnded = isFinal;
    }
    this.#transmit(FLAG.ack, NOTHING);
  }

  #next(): void {
    if (this.#queue.length > 0) {
      const data = Buffer.from(this.#queue.subarray(0, LARGEST_SEGMENT_BYTES));
      this.#queue = this.#queue.subarray(data.length);
      this.#fly(FLAG.ack | FLAG.psh, data);
    } else if (this.#peerHasEnded && !this.#hasEnded) {
      this.#hasEnded = true;
      this.#fly(FLAG.ack | FLAG.fin, NOTHING);
    }
  }

  #fly(flags: number, data: Buffer): void {
    const length = data.length + ((flags & (FLAG.syn | FLAG.fin)) === 0 ? 0 : 1);
    this.#flying = { flags, data, length };
    this.#repeat();
  }

  #repeat(): void {
    if (this.#flying === undefined) return;
    if (this.#retries++ > RETRIES) {
      this.end();
      return;
    }
    this.#transmit(this.#flying.flags, this.#flying.data);
    this.#wait(RETRY_MS * this.#retries, () => this.#repeat());
  }

  #transmit(flags: number, data: Buffer): void {
    const isPureAnswer = this.#flying !== undefined && this.#flying.data !== data && flags === FLAG.ack;
    const sequence = this.#unacknowledged + (isPureAnswer ? this.#flying!.length : 0);
    const window = this.#echoes ? WINDOW_BYTES - this.#queue.length : WINDOW_BYTES;
    this.#send({ ...this.#ports, sequence, acknowledgement: this.#expected, flags, window, data });
  }

  #waitIdle(): void {
    this.#wait(IDLE_MS, () => this.end());
  }

  #wait(milliseconds: number, ring: () => void): void {
    this.#timer?.stop();
    this.#timer = this.#timers.after(milliseconds, ring);
  }
}
