// Connects node:http and the App: converts requests, responses and WebSockets to and from those of the Fetch standard.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { getRequestListener } from '@hono/node-server';
import type { Failure } from '../../failures.ts';
import { Upgrades } from '../sockets/upgrades.ts';
import { openingProblem } from '../sockets/websocket-requests.ts';
import type { App, AppEnvironment } from './app.ts';
import { renderFailure } from './errors.ts';
import type { WireMessage } from './wire-message.ts';

/** How often (ms) pending answers are counted. */
const LOOK_MS = 50;

export class Adaptor {
  readonly upgrades: Upgrades;
  readonly answer: (request: WireMessage, response: ServerResponse) => Promise<void>;
  /** Answers of the application that are not complete, each with what answers in its place. */
  readonly #pending = new Map<ServerResponse, (response: Response) => void>();

  constructor(app: App) {
    this.upgrades = new Upgrades(app);
    this.answer = getRequestListener(
      async (request, environment) => {
        const env = environment as unknown as AppEnvironment & { incoming: WireMessage; outgoing: ServerResponse };
        const { incoming } = env;
        env.target = incoming.target;
        env.openingProblem = incoming.headers.upgrade === undefined ? undefined : openingProblem(incoming);
        if (incoming.method === 'GET' && announcesBody(incoming)) {
          env.body = () => bodyOf(incoming);
        }
        const { promise: response, resolve, reject } = Promise.withResolvers<Response>();
        const { outgoing } = env;
        this.#pending.set(outgoing, resolve);
        outgoing.once('close', () => this.#pending.delete(outgoing));
        Promise.resolve(app.hono.fetch(request, env)).then(resolve, reject);
        await response.finally(() => incoming.discardRest(outgoing));
        return response;
      },
      { overrideGlobalObjects: false },
    );
  }

  /** Another application serves from now on: WebSockets are closed (1001), requests without an answer after `patience` ms get `failure`. */
  async end(patience: number, failure: Failure): Promise<void> {
    this.upgrades.close();
    const deadline = performance.now() + patience;
    while (this.#pending.size > 0 && performance.now() < deadline) await sleep(LOOK_MS);
    for (const answer of this.#pending.values()) answer(renderFailure(failure));
    await sleep(this.#pending.size > 0 ? LOOK_MS : 0);
    // Streams of the former application.
    for (const response of this.#pending.keys()) response.destroy();
  }
}

/** A body that its reader may cancel without closing the connection, which is needed for the response. */
function bodyOf(incoming: IncomingMessage): ReadableStream<Uint8Array> {
  const reader = (Readable.toWeb(incoming) as ReadableStream<Uint8Array>).getReader();
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await reader.read();
        if (done) controller.close();
        else controller.enqueue(value);
      },
    },
    { highWaterMark: 0 },
  );
}

function announcesBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}
