// What devices in memory do at some time: the next timer ends the worker's wait.

import { type DueEntry, DueHeap } from './due-heap.ts';

/** Timers that ring in one step; then sockets and the main thread get their turn first. */
const RINGS = 256;

/** Started any number of times; rings once after each start. Made by a device in memory. */
export class Timer implements DueEntry {
  due = 0;
  sequence = 0;
  place = -1;
  readonly ring: () => void;
  readonly #timers: Timers;

  constructor(timers: Timers, ring: () => void) {
    this.#timers = timers;
    this.ring = ring;
  }

  get running(): boolean {
    return this.place !== -1;
  }

  /** Rings in so many milliseconds from now, and not at the time of an earlier start. */
  start(milliseconds: number): void {
    this.stop();
    this.due = performance.now() + milliseconds;
    this.#timers.heap.push(this);
  }

  stop(): void {
    if (this.running) this.#timers.heap.remove(this);
  }
}

export class Timers {
  readonly heap = new DueHeap<Timer>();

  /** Rings those that are due. */
  run(): void {
    if (this.heap.nextDue === undefined) return;
    const now = performance.now();
    for (let rung = 0; rung < RINGS; rung++) {
      const timer = this.heap.shift(now);
      if (timer === undefined) return;
      timer.ring();
    }
  }
}
