// What a PC does later. The time and the wake-up come from outside; a PC has only a handful at a time.

export interface Clock {
  /** Milliseconds, with fractions, that never go back. */
  now(): number;
  /** Asks for a call of `Timers.run` in so many milliseconds, in place of the one that was asked for before; never, if undefined. */
  wakeIn(milliseconds: number | undefined): void;
}

export interface Timer {
  stop(): void;
}

interface Entry {
  due: number;
  ring: () => void;
}

export class Timers {
  readonly #clock: Clock;
  /** The next one is last. */
  readonly #entries: Entry[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  now(): number {
    return this.#clock.now();
  }

  after(milliseconds: number, ring: () => void): Timer {
    const entry = { due: this.now() + milliseconds, ring };
    let place = this.#entries.length;
    while (place > 0 && this.#entries[place - 1]!.due <= entry.due) place--;
    this.#entries.splice(place, 0, entry);
    if (place === this.#entries.length - 1) this.#ask();
    return {
      stop: () => {
        const index = this.#entries.indexOf(entry);
        if (index >= 0) this.#entries.splice(index, 1);
        if (index >= 0 && index === this.#entries.length) this.#ask();
      },
    };
  }

  /** Rings what is due. */
  run(): void {
    const now = this.now();
    // What starts meanwhile without a delay rings the next time.
    const due: Entry[] = [];
    while (this.#entries.length > 0 && this.#entries.at(-1)!.due <= now) due.push(this.#entries.pop()!);
    this.#ask();
    for (const { ring } of due) ring();
  }

  clear(): void {
    this.#entries.length = 0;
    this.#ask();
  }

  #ask(): void {
    const next = this.#entries.at(-1);
    this.#clock.wakeIn(next === undefined ? undefined : Math.max(0, next.due - this.now()));
  }
}
