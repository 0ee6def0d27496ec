// Work of which only so much is done at the same time, whoever asks for it. Those who wait may leave the line.

export class Slots {
  #free: number;
  readonly #line: (() => void)[] = [];

  /** @param count how much at the same time */
  constructor(count: number) {
    this.#free = count;
  }

  /**
   * Waits for a slot in the order of arrival; it is free again when it is disposed of.
   * @throws the reason of the signal, when that is aborted before there is one
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
