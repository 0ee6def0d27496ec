// Upgrades WebSockets: a route's work starts only when the response is certain to be 101.
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import type { Duplex } from 'node:stream';
import { type VerifyClientCallbackAsync, type WebSocket, WebSocketServer } from 'ws';
import { log } from '../../host/log.ts';
import type { App, AppEnvironment } from '../app/app.ts';
import type { Connected } from '../app/route.ts';
import type { WireMessage } from '../app/wire-message.ts';
import { ABNORMAL, type MessageSocket, POLICY_VIOLATION, type SocketData, SocketInbox } from './message-socket.ts';
import { refuse } from './websocket-requests.ts';

/** Only keystrokes and terminal sizes are received. */
const MESSAGE_BYTES = 1024 * 1024;
/** Pings reveal vanished clients and show proxies that the connection is in use. */
const PING_MS = 30_000;

/** The application's decision on a complete opening. */
interface Decision {
  connected: Connected | undefined;
  /** Watches long-lived connections. */
  app: App;
  headers: Headers;
  /** The client and its right. */
  environment: AppEnvironment;
}

export class Upgrades {
  readonly #app: App;
  readonly #sockets: WebSocketServer;
  readonly #decisions = new WeakMap<IncomingMessage, Decision>();
  readonly #pings = setInterval(() => this.#ping(), PING_MS).unref();

  constructor(app: App) {
    this.#app = app;
    const verifyClient: VerifyClientCallbackAsync = ({ req }, answer) => void this.#ask(req as WireMessage, answer);
    this.#sockets = new WebSocketServer({
      noServer: true,
      verifyClient,
      maxPayload: MESSAGE_BYTES,
      perMessageDeflate: { serverNoContextTakeover: true, threshold: 1024 },
    });
    this.#sockets.on('headers', (lines, request) => {
      const { headers } = this.#decisions.get(request) ?? {};
      headers?.forEach((value, name) => {
        if (!OF_THE_BODY.has(name)) lines.push(`${name}: ${value}`);
      });
    });
    // The opening is valid except for extensions or protocols, which the library rejects.
    this.#sockets.on('wsClientError', (error, socket) => refuse(socket, 400, { message: error.message, status: 400 }));
  }

  /** Closes all sockets when the server stops (1001). */
  close(): void {
    clearInterval(this.#pings);
    for (const socket of this.#sockets.clients) socket.close(1001, 'The server is stopping.');
  }

  /** Handles a request that `Openings` let through. */
  upgrade(request: WireMessage, socket: Duplex, head: Buffer): void {
    this.#sockets.handleUpgrade(request, socket, head, (webSocket) => {
      const decision = this.#decisions.get(request);
      this.#decisions.delete(request);
      if (decision) lookAfter(webSocket, decision);
      decision?.connected?.(messageSocket(webSocket, socket));
    });
  }

  /** Called for a valid opening: guard, authentication and route decide. */
  async #ask(request: WireMessage, answer: Parameters<VerifyClientCallbackAsync>[1]): Promise<void> {
    let connected: Connected | undefined;
    const environment: AppEnvironment = {
      target: request.target,
      incoming: request,
      connect: (accepted) => {
        connected = accepted;
      },
    };
    try {
      const sent = new Request('http://localhost/', { headers: headersOf(request) });
      const app = this.#app;
      const response = await app.hono.fetch(sent, environment);
      if (connected === undefined) {
        return answer(false, response.status, await response.text(), refusalHeaders(response.headers));
      }
      this.#decisions.set(request, { connected, app, headers: response.headers, environment });
      answer(true);
    } catch (error) {
      log.error('a WebSocket could not be opened', { error: String(error) });
      answer(false, 500, '', {});
    }
    // The client has disconnected meanwhile: its accepted socket is closed at once.
    if (this.#decisions.delete(request)) connected?.(closedSocket());
  }

  #ping(): void {
    for (const socket of this.#sockets.clients) if (socket.readyState === socket.OPEN) socket.ping();
  }
}

/** After a change of rights, clients must reconnect. */
function lookAfter(socket: WebSocket, { app, environment: { client, check } }: Decision): void {
  const over = app.admissions?.watch({
    tag: client?.identity?.tag,
    check,
    // A close frame has room for 123 bytes of reason.
    end: ({ message }) => socket.close(POLICY_VIOLATION, Buffer.from(message).subarray(0, 120).toString('utf8')),
  });
  if (over) socket.once('close', over);
}

/** Response headers that do not belong in a 101. */
const OF_THE_BODY = new Set(['content-length', 'content-type', 'transfer-encoding', 'connection']);

function headersOf({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers();
  for (let at = 0; at < rawHeaders.length; at += 2) headers.append(rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '');
  return headers;
}

/** In the library's form: it adds its own length and knows one header only in its usual spelling. */
function refusalHeaders(headers: Headers): OutgoingHttpHeaders {
  const { 'content-type': type = 'text/plain; charset=utf-8', ...others } = Object.fromEntries(headers);
  return { ...others, 'Content-Type': type };
}

function messageSocket(webSocket: WebSocket, connection: Duplex): MessageSocket {
  const inbox = new SocketInbox();
  webSocket.on('message', (data, isBinary) => {
    const bytes = data as Buffer;
    inbox.message(isBinary ? new Uint8Array(bytes) : bytes.toString('utf8'));
  });
  webSocket.on('close', (code, reason) => inbox.close(code, reason.toString('utf8')));
  webSocket.on('error', (error) => log.debug('a WebSocket failed', { error: error.message }));
  return {
    send: (data: SocketData) => webSocket.send(data),
    get bufferedAmount() {
      return webSocket.bufferedAmount;
    },
    close: (code, reason) => (code === ABNORMAL ? webSocket.terminate() : webSocket.close(code, reason)),
    cork: (send) => {
      connection.cork();
      try {
        send();
      } finally {
        connection.uncork();
      }
    },
    listen: (events) => inbox.listen(events),
  };
}

/** The socket of a client that has disconnected already. */
function closedSocket(): MessageSocket {
  const inbox = new SocketInbox();
  inbox.close(ABNORMAL, '');
  return { send: () => {}, bufferedAmount: 0, close: () => {}, listen: (events) => inbox.listen(events) };
}
