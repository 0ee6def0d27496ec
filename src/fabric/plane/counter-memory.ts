// Memory for counters that the native frame loop counts in as well: blocks of numbers, each of which has a place that is its own.

import { MOST_COUNTERS } from '../../host/network/frame-loop.ts';

export interface CounterBlock {
  readonly values: Float64Array;
  /** Index of its first number in {@link CounterMemory.values}; -1 for a block that lies elsewhere, as that is full. */
  readonly place: number;
}

export class CounterMemory {
  /** Only the pages that are used cost memory. */
  readonly values = new Float64Array(new ArrayBuffer(MOST_COUNTERS * 8));
  readonly #free = new Map<number, number[]>();
  #used = 0;

  /** A block of zeros. */
  take(size: number): CounterBlock {
    const freed = this.#free.get(size)?.pop();
    const place = freed ?? this.#used;
    if (freed === undefined) {
      if (this.#used + size > this.values.length) return { values: new Float64Array(size), place: -1 };
      this.#used += size;
    }
    const values = this.values.subarray(place, place + size);
    values.fill(0);
    return { values, place };
  }

  /** The block is somebody else's from now on. */
  give({ values, place }: CounterBlock): void {
    if (place === -1) return;
    const free = this.#free.get(values.length);
    if (free === undefined) this.#free.set(values.length, [place]);
    else free.push(place);
  }
}
