// The worker's side of a capture: writes frames as records into a chunk, which the main thread writes to the file.

import { LONGEST_SNAP_BYTES } from '../../api/captures.ts';
import type { FrameCalls } from '../../host/system-calls.ts';
import type { CaptureChunk } from '../capture-chunk.ts';
import type { CaptureEncoding, RecordTime } from '../capture-encoding.ts';
import { ENCODINGS } from '../capture-format.ts';
import type { CaptureSettings, CaptureStatistics } from '../model.ts';
import { CaptureChunks, type Lender } from './capture-chunks.ts';
import { accepts } from './packet-filter.ts';

/** How long (ms) records are collected; with the main thread's part a reader gets them within 100. */
const GATHER_MS = 50;
/** If the clock is set back by less than this (ns), capture time stands still until the clock has caught up. */
const SET_BACK_NS = 1e9;

export class Capture implements Lender {
  /** Chunks held by the main thread. */
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

  /** Hands the collected records to the main thread. */
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

  /** Hands over the remaining records; must come before any later message to the main thread. */
  close(): void {
    this.flush();
    this.#captures.post();
    if (--this.#captures.open === 0) this.#captures.chunks.clear();
  }
}

export type PostChunks = (chunks: { capture: number; memory: SharedArrayBuffer; length: number }[]) => void;

/** Shared by the worker's captures: chunks, the clock, and the time of the next handover. */
export class Captures {
  readonly chunks = new CaptureChunks();
  /** Number of running captures. */
  open = 0;
  /** On the clock of `performance.now()`; undefined when no records wait. */
  nextFlush: number | undefined;
  readonly #calls: FrameCalls;
  readonly #post: PostChunks;
  readonly #gathering = new Set<Capture>();
  #handed: Parameters<PostChunks>[0] = [];
  /**
   * Time of day at `#clockRead` on the clock of `performance.now()`. It is read again at each flush to follow changes of the system clock.
   */
  #clock: RecordTime = { seconds: 0, nanoseconds: 0 };
  #clockRead = 0;
  /** The last time returned. */
  readonly #time: RecordTime = { seconds: 0, nanoseconds: 0 };

  constructor(calls: FrameCalls, post: PostChunks) {
    this.#calls = calls;
    this.#post = post;
  }

  /** Called when a capture has records; all captures hand over within {@link GATHER_MS}. */
  gather(capture: Capture): void {
    this.#gathering.add(capture);
    if (this.nextFlush !== undefined) return;
    this.nextFlush = this.#readClock() + GATHER_MS;
  }

  /** The bytes of the slot. */
  frame(slot: number): Buffer {
    return this.#calls.slots[slot]!;
  }

  /** The present time, never before the last one returned unless the clock was set back by a second or more. Valid until the next call. */
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

  /** Adds the chunk to the next message to the main thread. */
  hand(capture: number, { memory }: CaptureChunk, length: number): void {
    this.#handed.push({ capture, memory, length });
  }

  /** Sends the chunks to the main thread. */
  post(): void {
    if (this.#handed.length === 0) return;
    this.#post(this.#handed);
    this.#handed = [];
  }

  /** Hands over the records, except for captures whose last chunk is not yet written: they continue to fill theirs. */
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

  /** Hands over all records. */
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
