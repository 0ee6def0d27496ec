// Statistics of one direction of a cable since it was plugged in or reset. Nothing is allocated per frame.

import { DIRECTION_COUNTERS } from '../../host/network/frame-loop.ts';
import { DIRECTION_DROPS, type DirectionDropReason, type DirectionStatistics } from '../model.ts';
import type { CounterBlock, CounterMemory } from './counter-memory.ts';

// Indexes in the table of counters; drops follow. The native frame loop also counts the first ones.
const OFFERED_FRAMES = DIRECTION_COUNTERS.offeredFrames;
const OFFERED_BYTES = DIRECTION_COUNTERS.offeredBytes;
const DELIVERED_FRAMES = DIRECTION_COUNTERS.deliveredFrames;
const DELIVERED_BYTES = DIRECTION_COUNTERS.deliveredBytes;
const WINDOW_START = DIRECTION_COUNTERS.windowStart;
const WINDOW_BYTES = DIRECTION_COUNTERS.windowBytes;
const RATE = DIRECTION_COUNTERS.rate;
const DUPLICATED = 7;
const REORDERED = 8;
const CORRUPTED = 9;
const HELD_FRAMES = 10;
const HELD_TOTAL = 11;
const HELD_LEAST = 12;
const HELD_MOST = 13;
const DROPS = 14;
const COUNTERS = DROPS + DIRECTION_DROPS.length;

/** Window for the rate in ms. */
const WINDOW_MS = 1000;

/** Each power of two of microseconds is divided into this many buckets (a power of two), so percentiles are within 6 %. */
const PARTS = 8;
const PART_BITS = Math.log2(PARTS);
const OCTAVES = 29;

/** The bucket for this duration. */
function bucketOf(milliseconds: number): number {
  // At least PARTS, the smallest value with full buckets; at most the last octave: nine minutes.
  const time = Math.min(milliseconds * 1000 + PARTS, 2 ** OCTAVES - 1) | 0;
  const octave = 31 - Math.clz32(time);
  return octave * PARTS + ((time >> (octave - PART_BITS)) & (PARTS - 1));
}

/** Milliseconds in the middle of a bucket. */
function middleOf(bucket: number): number {
  const [octave, part] = [Math.floor(bucket / PARTS), bucket % PARTS];
  return (2 ** octave * (1 + (part + 0.5) / PARTS) - PARTS) / 1000;
}

export class DirectionCounters {
  readonly #memory: CounterMemory;
  readonly #block: CounterBlock;
  readonly #counts: Float64Array;
  /** Created when the first frame is held. */
  #times: Uint32Array | undefined;
  #since = performance.now();
  /** Number of the last frame delivered in order. */
  #last = -1;

  constructor(memory: CounterMemory) {
    this.#memory = memory;
    this.#block = memory.take(COUNTERS);
    this.#counts = this.#block.values;
    this.#counts[WINDOW_START] = this.#since;
  }

  /** Index of the counters shared with the native frame loop; -1 for none. */
  get place(): number {
    return this.#block.place;
  }

  /** Ends counting and frees the counters. */
  release(): void {
    this.#memory.give(this.#block);
  }

  /** Counts offered frames and returns the number of the first. */
  offered(bytes: number, frames: number): number {
    const first = this.#counts[OFFERED_FRAMES]!;
    this.#counts[OFFERED_BYTES]! += bytes;
    this.#counts[OFFERED_FRAMES] = first + frames;
    return first;
  }

  dropped(reason: DirectionDropReason): void {
    this.#counts[DROPS + DIRECTION_DROPS.indexOf(reason)]!++;
  }

  duplicated(): void {
    this.#counts[DUPLICATED]!++;
  }

  overtaken(frames: number): void {
    this.#counts[REORDERED]! += frames;
  }

  corrupted(): void {
    this.#counts[CORRUPTED]!++;
  }

  /** Counts delivered frames. `now` may be as old as the batch of frames. */
  delivered(bytes: number, frames: number, now: number): void {
    this.#counts[DELIVERED_FRAMES]! += frames;
    this.#counts[DELIVERED_BYTES]! += bytes;
    if (now - this.#counts[WINDOW_START]! >= WINDOW_MS) this.#roll(now);
  }

  /** Counts the delay of a frame in a direction that can hold frames. */
  held(number: number, milliseconds: number): void {
    const counts = this.#counts;
    // A frame delivered after a later one is out of order (RFC 4737, section 3.3).
    if (number < this.#last) counts[REORDERED]!++;
    else this.#last = number;
    counts[HELD_LEAST] = counts[HELD_FRAMES] === 0 ? milliseconds : Math.min(counts[HELD_LEAST]!, milliseconds);
    counts[HELD_MOST] = Math.max(counts[HELD_MOST]!, milliseconds);
    counts[HELD_FRAMES]!++;
    counts[HELD_TOTAL]! += milliseconds;
    this.#times ??= new Uint32Array(PARTS * OCTAVES);
    this.#times[bucketOf(milliseconds)]!++;
  }

  reset(now: number): void {
    this.#counts.fill(0);
    this.#times?.fill(0);
    this.#since = now;
    this.#counts[WINDOW_START] = now;
    this.#last = -1;
  }

  statistics(now: number): Omit<DirectionStatistics, 'queue' | 'held'> {
    const counts = this.#counts;
    if (now - counts[WINDOW_START]! >= WINDOW_MS) this.#roll(now);
    const frames = counts[HELD_FRAMES]!;
    const dropped = Object.fromEntries(DIRECTION_DROPS.map((reason, index) => [reason, counts[DROPS + index]!]));
    return {
      milliseconds: now - this.#since,
      offered: { frames: counts[OFFERED_FRAMES]!, bytes: counts[OFFERED_BYTES]! },
      delivered: { frames: counts[DELIVERED_FRAMES]!, bytes: counts[DELIVERED_BYTES]! },
      dropped: dropped as Record<DirectionDropReason, number>,
      duplicated: counts[DUPLICATED]!,
      reordered: counts[REORDERED]!,
      corrupted: counts[CORRUPTED]!,
      kbit: counts[RATE]!,
      delay:
        frames === 0
          ? undefined
          : {
              frames,
              mean: counts[HELD_TOTAL]! / frames,
              least: counts[HELD_LEAST]!,
              most: counts[HELD_MOST]!,
              median: this.#percentile(50),
              percentile95: this.#percentile(95),
              percentile99: this.#percentile(99),
            },
    };
  }

  #roll(now: number): void {
    const counts = this.#counts;
    const bytes = counts[DELIVERED_BYTES]!;
    counts[RATE] = ((bytes - counts[WINDOW_BYTES]!) * 8) / (now - counts[WINDOW_START]!);
    counts[WINDOW_START] = now;
    counts[WINDOW_BYTES] = bytes;
  }

  #percentile(percent: number): number {
    const [least, most] = [this.#counts[HELD_LEAST]!, this.#counts[HELD_MOST]!];
    let left = (this.#counts[HELD_FRAMES]! * percent) / 100;
    for (const [bucket, count] of this.#times!.entries()) {
      left -= count;
      if (left <= 0) return Math.min(most, Math.max(least, middleOf(bucket)));
    }
    return most;
  }
}
