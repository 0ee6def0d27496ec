// Returns memory to the system after a busy time, once requests have stopped.
import type { MiddlewareHandler } from 'hono';
import { forgetTexts } from '../events/json.ts';
import type { Fabric } from '../fabric/fabric.ts';
import { log } from '../host/log.ts';
import { releaseMemory } from '../host/processes/memory.ts';

/** How long (ms) after the start, so as not to delay the first requests. */
const AFTER_START_MS = 1_000;
/** How long (ms) no request must have ended. */
const QUIET_MS = 3_000;
/** Least growth of the process in bytes since the last time. */
const GROWTH_BYTES = 8 << 20;

/** Checks the memory some time after the last request; runs no timer without requests. */
export class IdleMemoryTrimmer {
  readonly #fabric: Pick<Fabric, 'trimMemory'>;
  #timer: NodeJS.Timeout | undefined;
  #running = 0;
  #lastRequest = -Infinity;
  /** Size of the process in bytes after the last time. */
  #before = 0;

  constructor(fabric: Pick<Fabric, 'trimMemory'>) {
    this.#fabric = fabric;
  }

  get middleware(): MiddlewareHandler {
    return async (_, next) => {
      this.#running += 1;
      try {
        await next();
      } finally {
        this.#running -= 1;
        this.#lastRequest = performance.now();
        if (this.#before > 0) this.#look(QUIET_MS);
      }
    };
  }

  start(): void {
    this.#look(AFTER_START_MS);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#before = 0;
  }

  #look(milliseconds: number): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      const left = this.#lastRequest + QUIET_MS - performance.now();
      if (this.#before === 0) void this.#release();
      else if (this.#running > 0)
        return; // checked again at its end
      else if (left > 0) this.#look(left);
      else void this.#release();
    }, milliseconds).unref();
  }

  async #release(): Promise<void> {
    const size = process.memoryUsage.rss();
    this.#before = Math.min(this.#before, size);
    if (this.#before > 0 && size < this.#before + GROWTH_BYTES) return;
    const started = performance.now();
    forgetTexts();
    releaseMemory();
    const milliseconds = Math.round(performance.now() - started);
    // A broken fabric reports its failure elsewhere.
    await this.#fabric.trimMemory().catch(() => {});
    this.#before = process.memoryUsage.rss();
    log.debug('gave memory back', { milliseconds, from: size, to: this.#before });
  }
}
