// Reassembles a TCP stream from its segments: both directions, in the order in which the bytes could be read.
import type { Segment } from '../decode/packet-part.ts';

const FIN = 1;
const SYN = 2;
const RST = 4;
const ACK = 16;

/** A captured segment. */
export interface Captured {
  segment: Segment;
  data: Uint8Array;
  /** Number of its frame. */
  frame: number;
}

/** Contiguous bytes of one direction, or a gap. */
export interface StreamPart {
  /** 0: the end that sent first. */
  side: 0 | 1;
  /** Number of the frame with its first byte; for a gap, the frame that revealed it. */
  frame: number;
  data: Uint8Array;
  /** Bytes that were acknowledged but not captured; `data` is empty then. */
  missing: number;
}

export interface SideFigures {
  /** Reassembled bytes. */
  bytes: number;
  missing: number;
  /** Segments with bytes that had already arrived, fully or in part. */
  repeated: number;
  /** Segments that arrived out of order, too early. */
  early: number;
  end: 'open' | 'closed' | 'reset';
}

interface Side extends SideFigures {
  /** Sequence number of the next byte; undefined before the first segment of this direction. */
  next: number | undefined;
  early: number;
  /** Segments beyond a gap, in the order of their bytes. */
  waiting: Captured[];
  /** Sum of their `costOf`. */
  waitingCost: number;
}

/** Most that waits for a gap to be filled, by `costOf`; beyond, the gap counts as missing. */
const MOST_WAITING_BYTES = 1 << 20;
/** Memory per part, or waiting segment, besides its bytes. */
const PART_BYTES = 128;

/** Distance between two sequence numbers, with wraparound. */
const distance = (from: number, to: number): number => (to - from) | 0;
const behind = (sequence: number, by: number): number => (sequence + by) >>> 0;
const sizeOf = ({ data, segment }: Captured): number => data.length + segment.cut;
const costOf = (captured: Captured): number => sizeOf(captured) + PART_BYTES;

export class Reassembly {
  /** `address:port` of the end that sent first, and of the other end. */
  readonly ends: readonly [string, string];
  readonly parts: StreamPart[] = [];
  /** Bytes beyond the limit; they are only counted. */
  dropped = 0;
  readonly #sides: readonly [Side, Side] = [newSide(), newSide()];
  readonly #limit: number;
  #kept = 0;

  /** @param limit bytes kept of both directions, overhead included */
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

  /** Bytes that wait for a gap to be filled. */
  get waiting(): number {
    return this.#sides.reduce((sum, { waiting }) => waiting.reduce((bytes, { data }) => bytes + data.length, sum), 0);
  }

  /** Adds a segment between these two ends, in capture order. */
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
      // Most come in order.
      let place = side.waiting.length;
      while (place > 0 && distance(startOf(side.waiting[place - 1]!), startOf(captured)) < 0) place -= 1;
      // A copy, because the frame shares its memory with others.
      side.waiting.splice(place, 0, { ...captured, data: captured.data.slice() });
      side.waitingCost += costOf(captured);
      if (side.waitingCost > MOST_WAITING_BYTES) {
        this.#skip(at, distance(side.next!, startOf(side.waiting[0]!)), captured.frame);
        this.#follow(at);
      }
      return;
    }
    // A keep-alive repeats the byte before the next one.
    if (ahead < 0 && !(ahead === -1 && sizeOf(captured) === 1)) side.repeated += 1;
    this.#append(at, captured);
    this.#follow(at);
  }

  /** Appends the new bytes. */
  #append(at: 0 | 1, captured: Captured): void {
    const side = this.#sides[at];
    const { data, segment, frame } = captured;
    const old = -distance(side.next!, startOf(captured));
    if (old >= sizeOf(captured)) return;
    const fresh = data.subarray(Math.min(old, data.length));
    if (fresh.length > 0) {
      side.next = behind(side.next!, fresh.length);
      side.bytes += fresh.length;
      this.#keep(at, frame, fresh);
    }
    const lost = segment.cut - Math.max(0, old - data.length);
    if (lost > 0) this.#skip(at, lost, frame);
  }

  /** Appends waiting segments that are now next. */
  #follow(at: 0 | 1): void {
    const side = this.#sides[at];
    for (let first = side.waiting[0]; first; first = side.waiting[0]) {
      if (distance(side.next!, startOf(first)) > 0) return;
      side.waiting.shift();
      side.waitingCost -= costOf(first);
      this.#append(at, first);
    }
  }

  /** The other end received everything before `acknowledged`: any gap before it was not captured. */
  #acknowledged(at: 0 | 1, acknowledged: number, frame: number): void {
    const side = this.#sides[at];
    for (;;) {
      const first = side.waiting[0];
      if (side.next === undefined || !first) return;
      const gap = distance(side.next, startOf(first));
      if (distance(side.next, acknowledged) < gap) return;
      this.#skip(at, gap, frame);
      this.#follow(at);
    }
  }

  /** Notes a gap; the segments behind it are not appended. */
  #skip(at: 0 | 1, missing: number, frame: number): void {
    const side = this.#sides[at];
    side.missing += missing;
    side.next = behind(side.next!, missing);
    if (this.#kept < this.#limit) this.parts.push({ side: at, frame, data: new Uint8Array(0), missing });
    this.#kept += PART_BYTES;
  }

  #keep(side: 0 | 1, frame: number, data: Uint8Array): void {
    const kept = data.slice(0, Math.max(0, this.#limit - this.#kept));
    this.#kept += kept.length + PART_BYTES;
    this.dropped += data.length - kept.length;
    if (kept.length > 0) this.parts.push({ side, frame, data: kept, missing: 0 });
  }
}

function newSide(): Side {
  return { bytes: 0, missing: 0, repeated: 0, early: 0, end: 'open', next: undefined, waiting: [], waitingCost: 0 };
}

/** Data of a SYN starts one sequence number later. */
function startOf({ segment: { sequence, flags } }: Captured): number {
  return flags & SYN ? behind(sequence, 1) : sequence;
}
