// Rest: when much was done and nobody asks for more, the memory that it took is given back.
import type { MiddlewareHandler } from 'hono';
import type { Fabric } from './fabric/fabric.ts';
import { log } from './host/log.ts';
import { releaseMemory } from './host/memory.ts';

/** Milliseconds after the start, so that it is not in the way of the first requests. */
const AFTER_START = 1_000;
/** Milliseconds without the end of a request. */
const QUIET = 3_000;
/** Bytes by which the process has to have grown since the last time. */
const GROWTH = 8 << 20;

/** Looks at the memory some time after the last request; without requests it has no timer. */
export class Rest {
  private readonly fabric: Pick<Fabric, 'rest'>;
  private timer: NodeJS.Timeout | undefined;
  private running = 0;
  private lastRequest = -Infinity;
  /** Bytes of the process after the last time. */
  private before = 0;

  constructor(fabric: Pick<Fabric, 'rest'>) {
    this.fabric = fabric;
  }

  get middleware(): MiddlewareHandler {
    return async (_, next) => {
      this.running += 1;
      try {
        await next();
      } finally {
        this.running -= 1;
        this.lastRequest = performance.now();
        if (this.before > 0) this.look(QUIET);
      }
    };
  }

  start(): void {
    this.look(AFTER_START);
  }

  stop(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.before = 0;
  }

  private look(milliseconds: number): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      const left = this.lastRequest + QUIET - performance.now();
      if (this.before === 0) void this.release();
      else if (this.running > 0)
        return; // its end looks again
      else if (left > 0) this.look(left);
      else void this.release();
    }, milliseconds).unref();
  }

  private async release(): Promise<void> {
    const size = process.memoryUsage.rss();
    this.before = Math.min(this.before, size);
    if (this.before > 0 && size < this.before + GROWTH) return;
    const started = performance.now();
    releaseMemory();
    const milliseconds = Math.round(performance.now() - started);
    // What the fabric cannot be asked, it tells its users itself.
    await this.fabric.rest().catch(() => {});
    this.before = process.memoryUsage.rss();
    log.debug('gave memory back', { milliseconds, from: size, to: this.before });
  }
}
