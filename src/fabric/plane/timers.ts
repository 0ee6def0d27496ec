// Timers of devices in memory; the next one ends the worker's wait.

import { type DueEntry, DueHeap } from './due-heap.ts';

/** Timers that may ring in one step, before sockets and the main thread get their turn. */
const RINGS = 256;

/** Can be restarted any number of times; rings once per start. Created by a device in memory. */
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

  /** Rings after this time; replaces an earlier start. */
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

  /** Rings all timers that are due. */
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
