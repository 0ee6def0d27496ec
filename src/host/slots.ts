// Work of which only so much is done at the same time, whoever asks for it.

export class Slots {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  /** @param count how much at the same time */
  constructor(count: number) {
    this.#free = count;
  }

  /** Waits for a slot in the order of arrival; it is free again when it is disposed of. */
  async take(): Promise<Disposable> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    let isHeld = true;
    return {
      [Symbol.dispose]: () => {
        if (!isHeld) return;
        isHeld = false;
        const next = this.#waiting.shift();
        if (next) next();
        else this.#free += 1;
      },
    };
  }
}
