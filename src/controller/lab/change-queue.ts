// Orders the changes of one project: changes that touch the same things run one after the other, all others concurrently.
import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * The names of the things that a change touches. Two changes conflict if one writes a name that the other reads or
 * writes.
 */
export interface Claim {
  reads?: readonly string[];
  writes?: readonly string[];
}

/** The claim of a change that runs alone: opening, closing, replacing files, deletion. */
export const EVERYTHING = 'everything';

type AnyClaim = Claim | typeof EVERYTHING;

interface Change {
  claim: AnyClaim;
  begin: () => void;
}

/** Counts the names that a set of changes touches. */
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
 * A change begins when no earlier conflicting change is running or waiting, so that none starves. It claims everything
 * at once and keeps it to its end. A change that awaits another conflicting change of the same queue therefore
 * deadlocks.
 */
export class ChangeQueue {
  readonly #running = new Touched();
  readonly #waiting = new Set<Change>();
  /** The claims of waiting changes: newcomers queue behind them. */
  readonly #wanted = new Touched();

  /**
   * Runs `task` when its turn comes, synchronously with the granting of its claim and in the caller's async context.
   */
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

  /** The number of running and waiting changes. */
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

  /** Begins the changes that may begin, in order of arrival. */
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
