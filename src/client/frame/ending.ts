// Cleanup at the end of a command: by itself, by Ctrl+C or a signal, or when its output is closed.
import { AsyncLocalStorage } from 'node:async_hooks';
import { constants } from 'node:os';

export type Step = () => void | Promise<void>;

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export interface Deferred {
  /** Does the step now, unless it was done. */
  now(): Promise<void>;
  /** The step is not needed any more. */
  cancel(): void;
}

export class Ending {
  readonly #steps: Step[] = [];
  readonly #inStep = new AsyncLocalStorage<true>();
  /** Set if Ctrl+C is the normal end of the command. */
  isUsual = false;
  /** Never resolves, as the process ends after the cleanup. Undefined until a signal comes or the output is closed. */
  leaving: Promise<never> | undefined;

  /** Adds a step before the others; returns a function that runs it now instead. */
  defer(step: Step): Deferred {
    this.#steps.unshift(step);
    const cancel = (): boolean => {
      const at = this.#steps.indexOf(step);
      if (at !== -1) this.#steps.splice(at, 1);
      return at !== -1;
    };
    return {
      cancel: () => void cancel(),
      now: async () => {
        if (cancel()) await step();
      },
    };
  }

  /** Does all steps, each once, also those that are added meanwhile; one that fails keeps no other from being done. */
  async run(): Promise<void> {
    for (let step = this.#steps.shift(); step; step = this.#steps.shift()) {
      try {
        await this.#inStep.run(true, step);
      } catch {
        // A failed cleanup must not hide the reason of the end.
      }
    }
  }

  /** To be awaited before a request: while the process ends only steps send more of them. */
  get pause(): Promise<never> | undefined {
    return this.#inStep.getStore() ? undefined : this.leaving;
  }

  /** From now on signals and a closed output end the process by way of the steps. The same signal again ends it at once. */
  watch(): void {
    const leave = (code: number): void => {
      this.leaving ??= this.run().then(() => process.exit(code));
    };
    for (const signal of SIGNALS)
      process.once(signal, () => leave(this.isUsual && signal === 'SIGINT' ? 0 : 128 + constants.signals[signal]));
    process.stdout.on('error', (error: NodeJS.ErrnoException) => {
      // As a program that SIGPIPE ends: what it was to do may be half done.
      const code = error.code === 'EPIPE' ? 128 + constants.signals.SIGPIPE : 1;
      leave(this.isUsual && error.code === 'EPIPE' ? 0 : code);
    });
  }
}
