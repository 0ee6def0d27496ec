// Runs tasks one at a time per key, in the order of arrival.

export class KeyedLock {
  readonly #tails = new Map<string, Promise<unknown>>();

  /** Runs `task` when all earlier tasks of the same key, or of one of the same keys, have ended, successfully or not. */
  async run<T>(key: string | readonly string[], task: () => T | Promise<T>): Promise<T> {
    const keys = [key].flat();
    const earlier = keys.flatMap((one) => this.#tails.get(one) ?? []);
    // Without a turn of its own where nothing is before it: computes find a start to cancel only once it has begun.
    const turn = (earlier.length > 1 ? Promise.all(earlier) : (earlier[0] ?? Promise.resolve())).then(task);
    const tail = turn.then(
      () => {},
      () => {},
    );
    for (const one of keys) this.#tails.set(one, tail);
    try {
      return await turn;
    } finally {
      for (const one of keys) if (this.#tails.get(one) === tail) this.#tails.delete(one);
    }
  }
}
