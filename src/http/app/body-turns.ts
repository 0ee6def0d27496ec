// Fair reading of request bodies. By itself Node reads up to 2 MiB from one connection before it looks at the next, so that a few clients that
// send as fast as the network allows would delay all others by half a second. Here all bodies take turns, one chunk at a time.

/** Starts one reading after the other, in the order in which they were asked for. */
export class Turns {
  readonly #defer: (next: () => void) => void;
  readonly #waiting: (() => void)[] = [];

  /** @param defer calls its argument later, when the next turn is due */
  constructor(defer: (next: () => void) => void) {
    this.#defer = defer;
  }

  /** Calls `read` when its turn has come. */
  take(read: () => void): void {
    if (this.#waiting.push(read) === 1) this.#defer(this.#next);
  }

  readonly #next = (): void => {
    this.#waiting.shift()?.();
    if (this.#waiting.length > 0) this.#defer(this.#next);
  };
}

/** Of bodies that are used: one turn per turn of the event loop, so that other clients are served between two chunks. */
export const READING = new Turns((next) => setImmediate(next));

/** Milliseconds between two chunks (of 64 KiB at most) of bodies that are discarded. */
const DISCARDING_MS = 2;

/** Of bodies that are discarded: at most 32 MiB/s for all of them together, because discarding takes as much time as reading. */
export const DISCARDING = new Turns((next) => setTimeout(next, DISCARDING_MS));
