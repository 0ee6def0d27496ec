// Connects node:http and the App: converts requests, responses and WebSockets to and from those of the Fetch standard.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { getRequestListener } from '@hono/node-server';
import { Upgrades } from '../sockets/upgrades.ts';
import { openingProblem } from '../sockets/websocket-requests.ts';
import type { App, AppEnvironment } from './app.ts';
import type { WireMessage } from './wire-message.ts';

export class Adaptor {
  readonly upgrades: Upgrades;
  /** Answers one request. */
  readonly answer: (request: WireMessage, response: ServerResponse) => Promise<void>;

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
        const response = await app.hono.fetch(request, env);
        incoming.discardRest(env.outgoing);
        return response;
      },
      { overrideGlobalObjects: false },
    );
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
