// The changes of one project, in order: those that touch the same things run one after the other, all others side by side.
import { AsyncLocalStorage } from 'node:async_hooks';

/** The names of what a change touches. Two changes meet when one of them writes what the other reads or writes. */
export interface Claim {
  reads?: readonly string[];
  writes?: readonly string[];
}

/** The claim of a change that runs alone: an opening, a closing, an exchange of files, a deletion. */
export const EVERYTHING = 'everything';

type AnyClaim = Claim | typeof EVERYTHING;

interface Change {
  claim: AnyClaim;
  begin: () => void;
}

/** What some changes touch together. */
class Touched {
  count = 0;
  #everything = 0;
  readonly #reads = new Map<string, number>();
  readonly #writes = new Map<string, number>();

  meets(claim: AnyClaim): boolean {
    if (this.#everything > 0) return true;
    if (claim === EVERYTHING) return this.count > 0;
    const { reads = [], writes = [] } = claim;
    return (
      writes.some((name) => this.#writes.has(name) || this.#reads.has(name)) ||
      reads.some((name) => this.#writes.has(name))
    );
  }

  add(claim: AnyClaim): void {
    this.count += 1;
    if (claim === EVERYTHING) this.#everything += 1;
    else this.#change(claim, 1);
  }

  remove(claim: AnyClaim): void {
    this.count -= 1;
    if (claim === EVERYTHING) this.#everything -= 1;
    else this.#change(claim, -1);
  }

  #change({ reads = [], writes = [] }: Claim, by: 1 | -1): void {
    for (const [names, counts] of [
      [reads, this.#reads],
      [writes, this.#writes],
    ] as const) {
      for (const name of names) {
        const count = (counts.get(name) ?? 0) + by;
        if (count > 0) counts.set(name, count);
        else counts.delete(name);
      }
    }
  }
}

/**
 * A change begins when no earlier one that it meets is running or waiting, so that none is overtaken for ever. It holds all that it claims
 * from its first moment to its end and asks for nothing more: whoever waits within a change for another change of the same queue that it
 * meets waits for ever.
 */
export class ChangeQueue {
  readonly #running = new Touched();
  readonly #waiting = new Set<Change>();
  /** What those that wait will touch: newcomers wait behind them. */
  readonly #wanted = new Touched();

  /** Runs `task` when its turn comes: in the moment in which its claim is granted, in the async context of the caller. */
  run<T>(claim: AnyClaim, task: () => T | Promise<T>): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const begin = (): void => {
      this.#running.add(claim);
      this.#carryOut(claim, task).then(resolve, reject);
    };
    if (this.#running.meets(claim) || this.#wanted.meets(claim)) {
      const inContext = AsyncLocalStorage.snapshot();
      this.#waiting.add({ claim, begin: () => inContext(begin) });
      this.#wanted.add(claim);
    } else begin();
    return promise;
  }

  /** Changes that run or wait. */
  get size(): number {
    return this.#running.count + this.#waiting.size;
  }

  async #carryOut<T>(claim: AnyClaim, task: () => T | Promise<T>): Promise<T> {
    try {
      return await task();
    } finally {
      this.#running.remove(claim);
      this.#admit();
    }
  }

  /** Begins what may begin, in the order of arrival. */
  #admit(): void {
    const earlier = new Touched();
    for (const change of this.#waiting) {
      const { claim, begin } = change;
      if (this.#running.meets(claim) || earlier.meets(claim)) {
        if (claim === EVERYTHING) return;
        earlier.add(claim);
      } else {
        this.#waiting.delete(change);
        this.#wanted.remove(claim);
        begin();
      }
    }
  }
}
