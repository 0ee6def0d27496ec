// A stream of TCP put together from its segments: both directions in the order in which their bytes could be read.
import type { Segment } from '../decode/part.ts';

const FIN = 1;
const SYN = 2;
const RST = 4;
const ACK = 16;

/** A segment as it was captured. */
export interface Captured {
  segment: Segment;
  data: Uint8Array;
  /** Bytes at its end that the capture did not keep. */
  cut: number;
  /** The number of its frame. */
  frame: number;
}

/** Bytes of one direction, in a row; or those that are missing there. */
export interface StreamPart {
  /** 0: from the end that sent first. */
  side: 0 | 1;
  /** The number of the frame that it begins in, or behind which it is known to be missing. */
  frame: number;
  data: Uint8Array;
  /** Bytes that were acknowledged but are not in the capture; `data` is empty then. */
  missing: number;
}

export interface SideFigures {
  /** Bytes that were put together. */
  bytes: number;
  missing: number;
  /** Segments whose bytes had come before, wholly or in part. */
  repeated: number;
  /** Segments that came before those that belong in front of them. */
  early: number;
  end: 'open' | 'closed' | 'reset';
}

interface Side extends SideFigures {
  /** The sequence number of the byte that is read next; undefined before anything was seen of this direction. */
  next: number | undefined;
  early: number;
  waiting: Captured[];
}

/** Bytes that wait for others in front of them, at most; beyond, those are taken to be missing. */
const MOST_WAITING_BYTES = 1 << 20;
/** What a part costs beside its bytes. */
const PART_BYTES = 128;

/** How far one sequence number is behind another, around the end of their range. */
const distance = (from: number, to: number): number => (to - from) | 0;
const behind = (sequence: number, by: number): number => (sequence + by) >>> 0;
const sizeOf = ({ data, cut }: Captured): number => data.length + cut;

export class Reassembly {
  /** Addresses and ports of the end that sent first, and of the other one. */
  readonly ends: readonly [string, string];
  readonly parts: StreamPart[] = [];
  /** Bytes beyond the limit, which were counted only. */
  dropped = 0;
  readonly #sides: readonly [Side, Side] = [newSide(), newSide()];
  readonly #limit: number;
  #kept = 0;

  /** @param limit bytes that are kept of both directions, with what keeping them costs */
  constructor(first: Segment, limit: number) {
    this.ends = [first.from, first.to];
    this.#limit = limit;
  }

  get sides(): readonly [SideFigures, SideFigures] {
    const [one, other] = this.#sides.map(({ bytes, missing, repeated, early, end }) => {
      return { bytes, missing, repeated, early, end };
    });
    return [one!, other!];
  }

  /** Bytes that have come but wait for others in front of them. */
  get waiting(): number {
    return this.#sides.reduce((sum, { waiting }) => sum + bytesOf(waiting), 0);
  }

  /** A segment between these two ends; in the order of the capture. */
  push(captured: Captured): void {
    const { segment, frame } = captured;
    const at = segment.from === this.ends[0] ? 0 : 1;
    const side = this.#sides[at];
    if (segment.flags & ACK) this.#acknowledged(at === 0 ? 1 : 0, segment.acknowledged, frame);
    if (segment.flags & SYN) side.next ??= behind(segment.sequence, 1);
    side.next ??= segment.sequence;
    if (sizeOf(captured) > 0) this.#take(at, captured);
    if (segment.flags & RST) side.end = 'reset';
    else if (segment.flags & FIN && side.end === 'open') side.end = 'closed';
  }

  #take(at: 0 | 1, captured: Captured): void {
    const side = this.#sides[at];
    const ahead = distance(side.next!, startOf(captured));
    if (ahead > 0) {
      side.early += 1;
      // A copy: the frame shares its memory with others.
      side.waiting.push({ ...captured, data: captured.data.slice() });
      side.waiting.sort((one, other) => distance(startOf(other), startOf(one)));
      if (bytesOf(side.waiting) > MOST_WAITING_BYTES)
        this.#skip(at, distance(side.next!, startOf(side.waiting[0]!)), captured.frame);
      return;
    }
    // A keep-alive repeats the byte before the next one.
    if (ahead < 0 && !(ahead === -1 && sizeOf(captured) === 1)) side.repeated += 1;
    this.#append(at, captured);
    this.#follow(at);
  }

  /** Takes the bytes that are new. */
  #append(at: 0 | 1, captured: Captured): void {
    const side = this.#sides[at];
    const { data, cut, frame } = captured;
    const old = -distance(side.next!, startOf(captured));
    if (old >= sizeOf(captured)) return;
    const fresh = data.subarray(Math.min(old, data.length));
    if (fresh.length > 0) {
      side.next = behind(side.next!, fresh.length);
      side.bytes += fresh.length;
      this.#keep(at, frame, fresh);
    }
    const lost = cut - Math.max(0, old - data.length);
    if (lost > 0) this.#skip(at, lost, frame);
  }

  /** What waited, and has nothing missing in front of it any more. */
  #follow(at: 0 | 1): void {
    const side = this.#sides[at];
    for (let first = side.waiting[0]; first; first = side.waiting[0]) {
      if (distance(side.next!, startOf(first)) > 0) return;
      side.waiting.shift();
      this.#append(at, first);
    }
  }

  /** The other end has got everything before `acknowledged`: what is not here by then was not captured. */
  #acknowledged(at: 0 | 1, acknowledged: number, frame: number): void {
    const side = this.#sides[at];
    for (;;) {
      const first = side.waiting[0];
      if (side.next === undefined || !first) return;
      const gap = distance(side.next, startOf(first));
      if (distance(side.next, acknowledged) < gap) return;
      this.#skip(at, gap, frame);
    }
  }

  #skip(at: 0 | 1, missing: number, frame: number): void {
    const side = this.#sides[at];
    side.missing += missing;
    side.next = behind(side.next!, missing);
    if (this.#kept < this.#limit) this.parts.push({ side: at, frame, data: new Uint8Array(0), missing });
    this.#kept += PART_BYTES;
    this.#follow(at);
  }

  #keep(side: 0 | 1, frame: number, data: Uint8Array): void {
    const kept = data.slice(0, Math.max(0, this.#limit - this.#kept));
    this.#kept += kept.length + PART_BYTES;
    this.dropped += data.length - kept.length;
    if (kept.length > 0) this.parts.push({ side, frame, data: kept, missing: 0 });
  }
}

function newSide(): Side {
  return { bytes: 0, missing: 0, repeated: 0, early: 0, end: 'open', next: undefined, waiting: [] };
}

function bytesOf(waiting: readonly Captured[]): number {
  return waiting.reduce((sum, { data }) => sum + data.length, 0);
}

/** Data of a SYN lie behind it. */
function startOf({ segment: { sequence, flags } }: Captured): number {
  return flags & SYN ? behind(sequence, 1) : sequence;
}
