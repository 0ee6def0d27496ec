// A PC's few timers. Time and wake-ups come from outside.

export interface Clock {
  /** Milliseconds, with fractions, that never go back. */
  now(): number;
  /** Requests a call of `Timers.run` after this time, replacing the earlier request; undefined: none. */
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
        // Another one that is due at the same time may stop it.
        entry.ring = () => {};
        const index = this.#entries.indexOf(entry);
        if (index >= 0) this.#entries.splice(index, 1);
        if (index >= 0 && index === this.#entries.length) this.#ask();
      },
    };
  }

  /** Rings all timers that are due. */
  run(): void {
    const now = this.now();
    // Timers started meanwhile without a delay ring next time.
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
