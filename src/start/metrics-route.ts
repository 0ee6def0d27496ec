// `GET /metrics`: metrics of this process in Prometheus format.
import { performance } from 'node:perf_hooks';
import { exposition, Histogram, type Metric, single } from '../host/metrics.ts';
import { version } from '../host/version.ts';
import { type Route, route } from '../http/app/route.ts';

/** How often (ms) the event loop's delay is measured; the cost is negligible. */
const LOOK_MS = 1_000;
const DELAY_BUCKETS_SECONDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5];

/** The delay of timers: how long requests wait while other work has the thread. */
export class LoopDelay {
  readonly #delays = new Histogram(DELAY_BUCKETS_SECONDS);
  #timer: NodeJS.Timeout | undefined;

  start(): void {
    let due = performance.now() + LOOK_MS;
    this.#timer = setInterval(() => {
      const now = performance.now();
      this.#delays.observe(Math.max(0, now - due) / 1000);
      due = now + LOOK_MS;
    }, LOOK_MS);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  get metric(): Metric {
    return {
      name: 'labwire_loop_delay_seconds',
      type: 'histogram',
      help: 'How late a timer of the main thread came, looked at every second.',
      samples: () => this.#delays.samples(),
    };
  }
}

/** Process metrics, named as by the usual client libraries. */
function processMetrics(): Metric[] {
  const started = Date.now() / 1000 - performance.now() / 1000;
  return [
    {
      name: 'labwire_info',
      type: 'gauge',
      help: 'Always 1; the version is its label.',
      samples: () => [{ labels: { version: version() }, value: 1 }],
    },
    single('process_start_time_seconds', 'gauge', 'Start of the process, in seconds since 1970.', () => started),
    single('process_resident_memory_bytes', 'gauge', 'Memory of the process that is resident.', () =>
      process.memoryUsage.rss(),
    ),
    single('process_cpu_seconds_total', 'counter', 'Processor time of all threads.', () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1e6;
    }),
  ];
}

export function metricsRoute(metrics: readonly Metric[]): Route {
  const all = [...processMetrics(), ...metrics];
  return route(
    'GET /metrics',
    // They contain the ids of all labs and nodes.
    { access: 'figures' },
    async () =>
      new Response(await exposition(all), {
        headers: { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8', 'Cache-Control': 'no-store' },
      }),
  );
}
