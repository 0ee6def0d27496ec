// Commands of a PC as generators that can wait. The PC's thread never returns to Node's event loop, so promises would not continue.

import type { Timers } from './timers.ts';

/** Begins to wait: `resume` is to be called once, now or later. Answers how to stop waiting. */
// biome-ignore lint/suspicious/noExplicitAny: what a job is given back is known to `until` alone
export type Wait = (resume: (value: any) => void) => (() => void) | undefined;

/** A generator that yields each wait and continues with its result. */
export type Job<T = void> = Generator<Wait, T, unknown>;

/** In a job: `const value = yield* until(...)`. */
export function* until<T>(wait: (resume: (value: T) => void) => (() => void) | undefined): Job<T> {
  return (yield wait) as T;
}

/** In a job: waits so long. */
export function* pause({ timers }: { timers: Timers }, milliseconds: number): Job {
  yield* until<void>((resume) => {
    const timer = timers.after(milliseconds, () => resume());
    return () => timer.stop();
  });
}

/** Runs one job; it can be ended at any wait. */
export class Running {
  readonly #job: Job;
  readonly #done: () => void;
  #cancel: (() => void) | undefined;
  #over = false;

  constructor(job: Job, done: () => void) {
    this.#job = job;
    this.#done = done;
  }

  start(): void {
    this.#go(undefined);
  }

  /** Ends the job where it waits; its `finally` clauses run, and `done` is not called. */
  stop(): void {
    if (this.#over) return;
    this.#over = true;
    this.#cancel?.();
    this.#job.return();
  }

  #go(first: unknown): void {
    let value = first;
    for (;;) {
      const step = this.#job.next(value);
      if (step.done === true) {
        this.#over = true;
        this.#done();
        return;
      }
      // Immediate resumes loop here, or a long script would overflow the stack.
      let waiting = false;
      let resumed = false;
      this.#cancel = step.value((result) => {
        if (resumed || this.#over) return;
        resumed = true;
        value = result;
        if (waiting) this.#go(result);
      });
      waiting = true;
      if (!resumed) return;
    }
  }
}
