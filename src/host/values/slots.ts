// Limits how much work runs at the same time, across all callers. Waiting callers may give up.

export class Slots {
  #free: number;
  readonly #line: (() => void)[] = [];

  /** @param count number of concurrent slots */
  constructor(count: number) {
    this.#free = count;
  }

  /**
   * Waits for a slot in the order of arrival. Disposing of it frees the slot.
   * @throws the reason of the signal, if it is aborted before a slot is free
   */
  async take(signal?: AbortSignal): Promise<Disposable> {
    signal?.throwIfAborted();
    if (this.#free > 0) this.#free -= 1;
    else await this.#wait(signal);
    let isHeld = true;
    return {
      [Symbol.dispose]: () => {
        if (!isHeld) return;
        isHeld = false;
        const next = this.#line.shift();
        if (next) next();
        else this.#free += 1;
      },
    };
  }

  #wait(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const enter = (): void => {
        signal?.removeEventListener('abort', leave);
        resolve();
      };
      const leave = (): void => {
        this.#line.splice(this.#line.indexOf(enter), 1);
        reject(signal?.reason);
      };
      signal?.addEventListener('abort', leave, { once: true });
      this.#line.push(enter);
    });
  }
}
