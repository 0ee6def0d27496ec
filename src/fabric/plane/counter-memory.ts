// Counters shared with the native frame loop: numbered blocks in one array.

import { MOST_COUNTERS } from '../../host/network/frame-loop.ts';

export interface CounterBlock {
  readonly values: Float64Array;
  /** Index of the block's first number in {@link CounterMemory.values}; -1 if the array was full and the block is separate. */
  readonly place: number;
}

export class CounterMemory {
  /** Only used pages cost memory. */
  readonly values = new Float64Array(new ArrayBuffer(MOST_COUNTERS * 8));
  readonly #free = new Map<number, number[]>();
  #used = 0;

  /** Takes a zeroed block. */
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

  /** Returns the block for reuse. */
  give({ values, place }: CounterBlock): void {
    if (place === -1) return;
    const free = this.#free.get(values.length);
    if (free === undefined) this.#free.set(values.length, [place]);
    else free.push(place);
  }
}
