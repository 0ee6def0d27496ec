// Reads request bodies in turn. Node reads up to 2 MiB from one connection before the next, so a few fast clients would delay all others by
// half a second. Here each body gets one chunk at a time.

/** Starts readings one by one, in the order of requests. */
export class Turns {
  readonly #defer: (next: () => void) => void;
  readonly #waiting: (() => void)[] = [];

  /** @param defer calls its argument when the next turn is due */
  constructor(defer: (next: () => void) => void) {
    this.#defer = defer;
  }

  /** Calls `read` at its turn. */
  take(read: () => void): void {
    if (this.#waiting.push(read) === 1) this.#defer(this.#next);
  }

  readonly #next = (): void => {
    this.#waiting.shift()?.();
    if (this.#waiting.length > 0) this.#defer(this.#next);
  };
}

/** For bodies that are used: one chunk per turn of the event loop, so that other clients are served in between. */
export const READING = new Turns((next) => setImmediate(next));

/** Milliseconds between two chunks (of 64 KiB at most) of bodies that are discarded. */
const DISCARDING_MS = 2;

/** For discarded bodies: at most 32 MiB/s in total, because discarding takes as much time as reading. */
export const DISCARDING = new Turns((next) => setTimeout(next, DISCARDING_MS));
