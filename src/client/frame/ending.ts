// What is still to be done however a command ends: by itself, by Ctrl+C, by a signal, or as nobody reads its output any more.
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
  /** A command that goes on until it is interrupted has done its work then. */
  isUsual = false;
  /** Never resolves: the process ends when the steps are done. Undefined until a signal has come, or nobody reads any more. */
  leaving: Promise<never> | undefined;

  /** Puts a step before those that are there; answers what does it now, and not again. */
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

  /** Does all steps, each once; one that fails keeps no other from being done. */
  async run(): Promise<void> {
    for (const step of this.#steps.splice(0)) {
      try {
        await step();
      } catch {
        // Whatever ends the command is more important than what cannot be tidied up.
      }
    }
  }

  /** From now on signals and a closed output end the process by way of the steps. The same signal again ends it at once. */
  watch(): void {
    const leave = (code: number): void => {
      this.leaving ??= this.run().then(() => process.exit(code));
    };
    for (const signal of SIGNALS)
      process.once(signal, () => leave(this.isUsual && signal === 'SIGINT' ? 0 : 128 + constants.signals[signal]));
    process.stdout.on('error', (error: NodeJS.ErrnoException) => leave(error.code === 'EPIPE' ? 0 : 1));
  }
}
