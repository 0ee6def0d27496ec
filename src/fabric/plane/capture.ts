// The worker's half of a capture: frames become records in a chunk of memory, which the main thread writes to the file.

import type { FrameCalls } from '../../host/system-calls.ts';
import { LONGEST_SNAP_BYTES } from '../../store/captures.ts';
import type { CaptureChunk } from '../capture-chunk.ts';
import type { CaptureEncoding, RecordTime } from '../capture-encoding.ts';
import { ENCODINGS } from '../capture-format.ts';
import type { CaptureSettings, CaptureStatistics } from '../model.ts';
import { CaptureChunks, type Lender } from './capture-chunks.ts';
import { accepts } from './packet-filter.ts';

/** Milliseconds that a record waits for others; with the way through the main thread a reader sees it within 100. */
const GATHER_MS = 50;
/** A clock that is set back by less than this many nanoseconds stands still in captures until it is back. */
const SET_BACK_NS = 1e9;

export class Capture implements Lender {
  /** Chunks at the main thread. */
  lent = 0;
  readonly #id: number;
  readonly #captures: Captures;
  readonly #encoding: CaptureEncoding;
  readonly #snapLength: number;
  readonly #program: Uint32Array | undefined;
  #chunk: CaptureChunk | undefined;
  #used = 0;
  #frames = 0;
  #bytes = 0;
  #drops = 0;
  #filtered = 0;

  constructor(id: number, settings: CaptureSettings, captures: Captures) {
    this.#id = id;
    this.#captures = captures;
    this.#encoding = ENCODINGS[settings.format ?? 'pcap'];
    this.#snapLength = settings.snapLength ?? LONGEST_SNAP_BYTES;
    this.#program = settings.filter?.program;
    captures.open++;
  }

  /** `outgoing`: the frame leaves the node. */
  write(slot: number, length: number, outgoing: boolean): void {
    const frame = this.#captures.frame(slot);
    if (this.#program !== undefined && !accepts(this.#program, frame, length)) {
      this.#filtered++;
      return;
    }
    const captured = Math.min(length, this.#snapLength);
    const needed = this.#encoding.recordBytes(captured);
    if (this.#chunk !== undefined && this.#used + needed > this.#chunk.records.length) this.flush();
    if (this.#chunk === undefined) {
      this.#chunk = this.#captures.chunks.take(this);
      if (this.#chunk === undefined) {
        this.#drops++;
        return;
      }
      this.#captures.gather(this);
    }
    this.#frames++;
    this.#bytes += length;
    const time = this.#captures.time();
    this.#used = this.#encoding.write(this.#chunk.records, this.#used, time, frame, captured, length, outgoing);
  }

  /** Hands the records to the main thread. */
  flush(): void {
    const chunk = this.#chunk;
    if (chunk === undefined) return;
    const length = this.#used;
    this.#chunk = undefined;
    this.#used = 0;
    chunk.lend(this.statistics());
    this.#captures.chunks.out(chunk, this);
    this.#captures.hand(this.#id, chunk, length);
  }

  statistics(): CaptureStatistics {
    return { frames: this.#frames, bytes: this.#bytes, drops: this.#drops, filtered: this.#filtered };
  }

  /** Hands over what is left, before anything else is said to the main thread. */
  close(): void {
    this.flush();
    this.#captures.post();
    if (--this.#captures.open === 0) this.#captures.chunks.clear();
  }
}

export type PostChunks = (chunks: { capture: number; memory: SharedArrayBuffer; length: number }[]) => void;

/** What the captures of the worker share: memory, the clock, and the moment at which all hand over their records. */
export class Captures {
  readonly chunks = new CaptureChunks();
  /** Captures that run. */
  open = 0;
  /** On the clock of `performance.now()`; undefined when nothing waits. */
  nextFlush: number | undefined;
  readonly #calls: FrameCalls;
  readonly #post: PostChunks;
  readonly #gathering = new Set<Capture>();
  #handed: Parameters<PostChunks>[0] = [];
  /** Time of day at `#clockRead` on the clock of `performance.now()`; read again for each flush, so that it follows a clock that is set. */
  #clock: RecordTime = { seconds: 0, nanoseconds: 0 };
  #clockRead = 0;
  /** The last time that was given. */
  readonly #time: RecordTime = { seconds: 0, nanoseconds: 0 };

  constructor(calls: FrameCalls, post: PostChunks) {
    this.#calls = calls;
    this.#post = post;
  }

  /** The capture has records; all are handed over within {@link GATHER_MS}. */
  gather(capture: Capture): void {
    this.#gathering.add(capture);
    if (this.nextFlush !== undefined) return;
    this.nextFlush = this.#readClock() + GATHER_MS;
  }

  /** The slot's memory. */
  frame(slot: number): Buffer {
    return this.#calls.slots[slot]!;
  }

  /** Now: not before the time that was given last, unless the clock was set back by a second or more. Valid until the next call. */
  time(): RecordTime {
    const time = this.#time;
    const past = this.#clock.nanoseconds + Math.floor((performance.now() - this.#clockRead) * 1e6);
    const whole = Math.floor(past / 1e9);
    const seconds = this.#clock.seconds + whole;
    const nanoseconds = past - whole * 1e9;
    const step = (seconds - time.seconds) * 1e9 + nanoseconds - time.nanoseconds;
    if (step >= 0 || step <= -SET_BACK_NS) {
      time.seconds = seconds;
      time.nanoseconds = nanoseconds;
    }
    return time;
  }

  /** The chunk goes to the main thread with the others of this moment. */
  hand(capture: number, { memory }: CaptureChunk, length: number): void {
    this.#handed.push({ capture, memory, length });
  }

  /** Sends what was handed over. */
  post(): void {
    if (this.#handed.length === 0) return;
    this.#post(this.#handed);
    this.#handed = [];
  }

  /** Hands over what was gathered, but for captures whose last chunk is not yet in the file: these fill theirs meanwhile. */
  flushDue(): void {
    this.chunks.reclaim();
    for (const capture of this.#gathering) {
      if (capture.lent > 0) continue;
      capture.flush();
      this.#gathering.delete(capture);
    }
    this.nextFlush = this.#gathering.size === 0 ? undefined : this.#readClock() + GATHER_MS;
    this.post();
  }

  /** Hands over everything. */
  flush(): void {
    for (const capture of this.#gathering) capture.flush();
    this.#gathering.clear();
    this.nextFlush = undefined;
    this.post();
  }

  #readClock(): number {
    this.#clock = this.#calls.timeOfDay();
    this.#clockRead = performance.now();
    return this.#clockRead;
  }
}
