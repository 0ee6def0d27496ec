// Runs tasks one at a time per key, in the order of arrival.

export class KeyedLock {
  readonly #tails = new Map<string, Promise<unknown>>();

  /** Runs `task` when all earlier tasks of the same key have ended, successfully or not. */
  async run<T>(key: string, task: () => T | Promise<T>): Promise<T> {
    const previous = this.#tails.get(key);
    const turn = previous ? previous.then(task, task) : Promise.resolve().then(task);
    const tail = turn.then(
      () => {},
      () => {},
    );
    this.#tails.set(key, tail);
    try {
      return await turn;
    } finally {
      if (this.#tails.get(key) === tail) this.#tails.delete(key);
    }
  }
}
