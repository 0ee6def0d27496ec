// Gives each network request a number, a log line and metrics.
import type { MiddlewareHandler } from 'hono';
import { log } from '../../host/log.ts';
import { Counters, Histogram, type Metric } from '../../host/metrics.ts';
import type { AppEnvironment } from './app.ts';
import { targetOf } from './target.ts';

/** Seconds. Streams and consoles are counted at their start. */
const DURATION_BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
/** Characters of a path in the log. */
const LOGGED_CHARACTERS = 200;

/** Response header with the request's number. */
const REQUEST_ID = 'X-Request-Id';

/** A request without a response yet. */
export interface Seen {
  id: string;
  /** On the clock of `performance`. */
  since: number;
}

/** A request whose response has started. */
export interface Answered {
  method: string;
  /** Path and query as sent. */
  target: string;
  /** The pattern of its route. */
  route: string;
  status: number;
  client: string | undefined;
}

export class Observation {
  readonly metrics: readonly Metric[];
  readonly #requests = new Counters();
  readonly #durations = new Histogram(DURATION_BUCKETS_SECONDS);
  /** Distinguishes starts of the server. It is no secret, so it does not load node:crypto (9 ms). */
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

  /** Must be the first middleware. */
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
        method: context.req.method,
        target: targetOf(context.req.raw, env),
        route: env.route ?? 'none',
        status,
        client: env.client?.address ?? env.incoming?.socket.remoteAddress,
      });
    };
  }

  /** Called for each new request. */
  begin(): Seen {
    this.#last += 1;
    this.#running += 1;
    return { id: `${this.#prefix}-${this.#last.toString(36)}`, since: performance.now() };
  }

  /** Called for the response to a request that did not pass the middleware. */
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
      method,
      path: path.slice(0, LOGGED_CHARACTERS),
      status,
      milliseconds: Math.round(seconds * 10_000) / 10,
      request: id,
      client,
    });
  }
}
