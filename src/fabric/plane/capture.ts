// The worker's half of a capture: frames become pcap records in a buffer, which the main thread writes to the file.

import type { FrameCalls } from '../../host/system-calls.ts';
import { RECORD_HEADER_BYTES, writeRecord } from '../pcap.ts';

const BUFFER_BYTES = 256 << 10;
/** Bytes on the way to a slow disk; what comes then is dropped from the capture, never from the cable. */
const BACKLOG_BYTES = 16 << 20;
/** Milliseconds that a record waits for others; with the way through the main thread a reader sees it within 100. */
const GATHER_MILLISECONDS = 50;

export class Capture {
  drops = 0;
  readonly #id: number;
  readonly #captures: Captures;
  readonly #backlog: Int32Array<SharedArrayBuffer>;
  #buffer: Buffer<ArrayBuffer> | undefined;
  #used = 0;

  constructor(id: number, backlog: Int32Array<SharedArrayBuffer>, captures: Captures) {
    this.#id = id;
    this.#backlog = backlog;
    this.#captures = captures;
  }

  write(slot: number, length: number): void {
    const needed = RECORD_HEADER_BYTES + length;
    if (this.#buffer !== undefined && this.#used + needed > this.#buffer.length) this.flush();
    if (this.#buffer === undefined) {
      if (Atomics.load(this.#backlog, 0) > BACKLOG_BYTES) {
        this.drops++;
        return;
      }
      this.#buffer = Buffer.allocUnsafeSlow(Math.max(BUFFER_BYTES, needed)) as Buffer<ArrayBuffer>;
      this.#captures.gather(this);
    }
    const frame = this.#captures.frame(slot);
    this.#used = writeRecord(this.#buffer, this.#used, this.#captures.time(), frame, length);
  }

  /** Hands the records to the main thread. */
  flush(): void {
    if (this.#buffer === undefined) return;
    const records = new Uint8Array(this.#buffer.buffer, 0, this.#used);
    Atomics.add(this.#backlog, 0, this.#used);
    this.#buffer = undefined;
    this.#used = 0;
    this.#captures.post(this.#id, records);
  }
}

export type PostRecords = (capture: number, records: Uint8Array<ArrayBuffer>) => void;

/** What the captures of the worker share: the clock, and the moment at which all hand over their records. */
export class Captures {
  readonly post: PostRecords;
  readonly #calls: FrameCalls;
  readonly #gathering = new Set<Capture>();
  /** Time of day minus `performance.now()`, in microseconds; read anew for each flush, so that it follows a clock that is set. */
  #epoch = 0;
  /** On the clock of `performance.now()`; undefined when nothing waits. */
  nextFlush: number | undefined;

  constructor(calls: FrameCalls, post: PostRecords) {
    this.#calls = calls;
    this.post = post;
  }

  /** The capture has records; all are handed over within {@link GATHER_MILLISECONDS}. */
  gather(capture: Capture): void {
    this.#gathering.add(capture);
    if (this.nextFlush !== undefined) return;
    const now = performance.now();
    this.nextFlush = now + GATHER_MILLISECONDS;
    this.#epoch = this.#calls.microseconds() - now * 1000;
  }

  /** The slot's memory. */
  frame(slot: number): Buffer {
    return this.#calls.slots[slot]!;
  }

  /** Microseconds since 1970. */
  time(): number {
    return this.#epoch + performance.now() * 1000;
  }

  flush(): void {
    for (const capture of this.#gathering) capture.flush();
    this.#gathering.clear();
    this.nextFlush = undefined;
  }
}
