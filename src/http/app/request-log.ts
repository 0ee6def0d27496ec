// What is noted of each request from the network: a number, a line in the log, and counts for the metrics.
import type { MiddlewareHandler } from 'hono';
import { log } from '../../host/log.ts';
import { Counters, Histogram, type Metric } from '../../host/metrics.ts';
import type { AppEnvironment } from './app.ts';
import { targetOf } from './target.ts';

/** Seconds. Streams and consoles are counted when they begin. */
const DURATION_BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
/** Characters of a path that go into the log. */
const LOGGED_CHARACTERS = 200;

/** Header of an answer that tells its request from others. */
export const REQUEST_ID = 'X-Request-Id';

/** A request whose answer has not begun. */
export interface Seen {
  id: string;
  /** On the clock of `performance`. */
  since: number;
}

/** A request whose answer has begun. */
export interface Answered {
  method: string;
  /** Path and query as they stood on the wire. */
  target: string;
  /** The pattern of its route. */
  route: string;
  status: number;
  /** Who has asked. */
  client: string | undefined;
}

export class Observation {
  readonly metrics: readonly Metric[];
  readonly #requests = new Counters();
  readonly #durations = new Histogram(DURATION_BUCKETS_SECONDS);
  /** Numbers of two starts of the server do not meet. They are no secret, and node:crypto would be 9 ms of the start. */
  readonly #prefix = Math.floor(Math.random() * 2 ** 24)
    .toString(16)
    .padStart(6, '0');
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
      const { env } = context;
      const seen = this.begin();
      env.requestId = seen.id;
      try {
        await next();
      } finally {
        this.#running -= 1;
      }
      const { status } = context.res;
      if (status !== 101) context.res.headers.set(REQUEST_ID, seen.id);
      this.#note(seen, {
        ...{ method: context.req.method, target: targetOf(context.req.raw, env), route: env.route ?? 'none', status },
        client: env.client?.address ?? env.incoming?.socket.remoteAddress,
      });
    };
  }

  /** A request has come. */
  begin(): Seen {
    this.#last += 1;
    this.#running += 1;
    return { id: `${this.#prefix}-${this.#last.toString(36)}`, since: performance.now() };
  }

  /** A request that did not come by the middleware has its answer. */
  end(seen: Seen, answered: Answered): void {
    this.#running -= 1;
    this.#note(seen, answered);
  }

  #note({ id, since }: Seen, { method, target, route, status, client }: Answered): void {
    const seconds = (performance.now() - since) / 1000;
    this.#requests.add({ method, route, status: String(status) });
    this.#durations.observe(seconds);
    const [path = ''] = target.split('?');
    log.info('request', {
      ...{ method, path: path.slice(0, LOGGED_CHARACTERS), status, milliseconds: Math.round(seconds * 10_000) / 10 },
      ...{ request: id, client },
    });
  }
}
