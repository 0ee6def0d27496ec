// Reads request bodies in turn. Node reads up to 2 MiB from one connection before the next, so a few fast clients would delay all others by
// half a second. Here each body gets one chunk at a time, or a few in a row if no other body waits.

/** Starts readings one by one, in the order of requests. */
export class Turns {
  readonly #defer: (next: () => void) => void;
  readonly #inARow: number;
  readonly #waiting: (() => void)[] = [];
  #left: number;

  /**
   * @param defer calls its argument when the next turn is due
   * @param inARow readings that need not wait while no other one does
   */
  constructor(defer: (next: () => void) => void, inARow = 0) {
    this.#defer = defer;
    this.#inARow = inARow;
    this.#left = inARow;
  }

  take(read: () => void): void {
    if (this.#left > 0 && this.#waiting.length === 0) {
      this.#left -= 1;
      read();
    } else if (this.#waiting.push(read) === 1) {
      this.#defer(this.#next);
    }
  }

  readonly #next = (): void => {
    this.#left = this.#inARow;
    this.#waiting.shift()?.();
    if (this.#waiting.length > 0) this.#defer(this.#next);
  };
}

/** Chunks of a single upload per turn of the event loop: some 2 ms. */
const CHUNKS_IN_A_ROW = 4;

/** For bodies that are used: one chunk per turn of the event loop, so that other clients are served in between. */
export const READING = new Turns((next) => setImmediate(next), CHUNKS_IN_A_ROW);

/** Milliseconds between two chunks (of 64 KiB at most) of bodies that are discarded. */
const DISCARDING_MS = 2;

/** For discarded bodies: at most 32 MiB/s in total, because discarding takes as much time as reading. */
export const DISCARDING = new Turns((next) => setTimeout(next, DISCARDING_MS));
