// What is noted of each request from the network: a number, a line in the log, and counts for the metrics.
import { randomBytes } from 'node:crypto';
import type { MiddlewareHandler } from 'hono';
import { log } from '../host/log.ts';
import { Counters, Histogram, type Metric } from '../host/metrics.ts';
import { type AppEnvironment, targetOf } from './app.ts';

/** Seconds. Streams and consoles are counted when they begin. */
const DURATION_BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
/** Characters of a path that go into the log. */
const LOGGED_CHARACTERS = 200;

export class Observation {
  readonly metrics: readonly Metric[];
  readonly #requests = new Counters();
  readonly #durations = new Histogram(DURATION_BUCKETS_SECONDS);
  /** Numbers of two starts of the server do not meet. */
  readonly #prefix = randomBytes(3).toString('hex');
  #last = 0;
  #running = 0;

  constructor() {
    this.metrics = [
      {
        name: 'labwire_http_requests_total',
        type: 'counter',
        help: 'Requests from the network, by method, route and status.',
        samples: () => this.#requests.samples(),
      },
      {
        name: 'labwire_http_request_duration_seconds',
        type: 'histogram',
        help: 'Time until the answer began.',
        samples: () => this.#durations.samples(),
      },
      {
        name: 'labwire_http_requests_running',
        type: 'gauge',
        help: 'Requests whose answer has not begun.',
        samples: () => [{ value: this.#running }],
      },
    ];
  }

  /** To stand before everything else. */
  get middleware(): MiddlewareHandler<{ Bindings: AppEnvironment }> {
    return async (context, next) => {
      const started = performance.now();
      this.#last += 1;
      const request = `${this.#prefix}-${this.#last.toString(36)}`;
      context.env.requestId = request;
      this.#running += 1;
      try {
        await next();
      } finally {
        this.#running -= 1;
      }
      const { method } = context.req;
      const { status } = context.res;
      const seconds = (performance.now() - started) / 1000;
      const route = context.env.route ?? 'none';
      this.#requests.add({ method, route, status: String(status) });
      this.#durations.observe(seconds);
      if (status !== 101) context.res.headers.set('X-Request-Id', request);
      const [path = ''] = targetOf(context.req.raw, context.env).split('?');
      log.info('request', {
        ...{ method, path: path.slice(0, LOGGED_CHARACTERS), status, milliseconds: Math.round(seconds * 10_000) / 10 },
        ...{ request, client: context.env.client?.address ?? context.env.incoming?.socket.remoteAddress },
      });
    };
  }
}
