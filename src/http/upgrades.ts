// Which requests become WebSockets. What is no complete opening of a WebSocket route is answered as the plain request that it also is,
// and nothing is opened behind a route before the answer is certain to be 101.
import type { IncomingMessage, OutgoingHttpHeaders, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { type VerifyClientCallbackAsync, type WebSocket, WebSocketServer } from 'ws';
import { log } from '../host/log.ts';
import type { Admissions } from './admissions.ts';
import type { AppEnvironment } from './app.ts';
import type { Answering } from './arriving-app.ts';
import { hostName } from './guard.ts';
import type { Connected } from './route.ts';
import { type MessageSocket, type SocketData, SocketInbox } from './sockets.ts';

/** Keystrokes and terminal sizes; no client sends anything larger over a WebSocket. */
const MESSAGE_BYTES = 1024 * 1024;
/** A question to each client: what is on the way without an answer shows who has vanished, and proxies see that the connection is in use. */
const PING_MS = 30_000;
/** RFC 6455, section 4.2.2. */
const VERSION = '13';
/** Close code of RFC 6455, section 7.4.1. */
const POLICY_VIOLATION = 1008;
/** Close code of a connection that ended without a closing frame (RFC 6455, section 7.1.5). */
const ABNORMAL = 1006;

/** A request as {@link Upgrades} needs it: `target` is path and query as they stood on the wire. */
export type UpgradeRequest = IncomingMessage & { target: string };

/** What the application said to a complete opening. */
interface Decision {
  connected: Connected | undefined;
  headers: Headers;
  /** Who opened it, and whether that is still allowed. */
  environment: AppEnvironment;
}

/** Why a request that asks for an upgrade is no complete opening of a WebSocket; undefined when it is. */
export function openingProblem(request: IncomingMessage): string | undefined {
  const { headers } = request;
  if (headers.upgrade?.toLowerCase() !== 'websocket') return 'Upgrade must be "websocket"';
  if (!tokens(headers.connection).includes('upgrade')) return 'Connection must hold "Upgrade"';
  if (request.httpVersionMajor !== 1 || request.httpVersionMinor < 1) return 'the request must be HTTP/1.1';
  if (headers['sec-websocket-version'] !== VERSION) return `Sec-WebSocket-Version must be ${VERSION}`;
  if (!/^[+/0-9A-Za-z]{22}==$/.test(headers['sec-websocket-key'] ?? ''))
    return 'Sec-WebSocket-Key must be 16 bytes in base64';
  if (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) !== 0)
    return 'an opening has no body';
  return undefined;
}

function tokens(header: string | undefined): string[] {
  return (header ?? '').split(',').map((token) => token.trim().toLowerCase());
}

export class Upgrades {
  readonly #app: Answering;
  readonly #sockets: WebSocketServer;
  readonly #decisions = new WeakMap<IncomingMessage, Decision>();
  /** Answers under way, by connection. */
  readonly #answering = new WeakMap<Duplex, number>();
  readonly #admissions: Admissions | undefined;
  #pings: NodeJS.Timeout | undefined;

  /** @param admissions looks after the sockets */
  constructor(app: Answering, admissions?: Admissions) {
    this.#app = app;
    this.#admissions = admissions;
    const verifyClient: VerifyClientCallbackAsync = ({ req }, answer) => void this.#ask(req as UpgradeRequest, answer);
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
    // The opening is complete but for what the library finds in its extensions and protocols.
    this.#sockets.on('wsClientError', (error, socket) => refuse(socket, 400, { message: error.message, status: 400 }));
  }

  /** Option of Node's server: whether a request with `Upgrade` leaves HTTP behind. */
  readonly wants = (request: IncomingMessage): boolean =>
    request.method === 'GET' &&
    openingProblem(request) === undefined &&
    hostName(request.headers.host ?? '') !== undefined &&
    // Whoever asks for a WebSocket before the answers to earlier requests are complete would find them between its frames.
    !this.#answering.get(request.socket) &&
    this.#app.hasSocket((request as UpgradeRequest).target);

  attach(server: Server): void {
    server.prependListener('request', (request, response) => {
      const { socket, headers } = request;
      // Node drops what came with such a request in one read: its client is told that nothing behind it was heard.
      if (headers.upgrade !== undefined && tokens(headers.connection).includes('upgrade'))
        response.shouldKeepAlive = false;
      this.#answering.set(socket, (this.#answering.get(socket) ?? 0) + 1);
      response.once('close', () => this.#answering.set(socket, (this.#answering.get(socket) ?? 1) - 1));
    });
    server.on('upgrade', (request: UpgradeRequest, socket, head) => this.#upgrade(request, socket, head));
    server.on('connect', (_request, socket) => refuse(socket, 405, '405: Method Not Allowed'));
    this.#pings ??= setInterval(() => this.#ping(), PING_MS).unref();
  }

  /** Tells all clients that the server stops (1001). */
  close(): void {
    clearInterval(this.#pings);
    for (const socket of this.#sockets.clients) socket.close(1001, 'The server is stopping.');
  }

  #upgrade(request: UpgradeRequest, socket: Duplex, head: Buffer): void {
    this.#sockets.handleUpgrade(request, socket, head, (webSocket) => {
      const decision = this.#decisions.get(request);
      this.#decisions.delete(request);
      if (decision) this.#lookAfter(webSocket, decision.environment);
      decision?.connected?.(messageSocket(webSocket, socket));
    });
  }

  /** Called when all of the opening is as it should be: the guard, authentication and the route decide. */
  async #ask(request: UpgradeRequest, answer: Parameters<VerifyClientCallbackAsync>[1]): Promise<void> {
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
      const app = await this.#app.able('GET', request.target);
      const response = await app.hono.fetch(sent, environment);
      if (connected === undefined) {
        return answer(false, response.status, await response.text(), refusalHeaders(response.headers));
      }
      this.#decisions.set(request, { connected, headers: response.headers, environment });
      answer(true);
    } catch (error) {
      log.error('a WebSocket could not be opened', { error: String(error) });
      answer(false, 500, '', {});
    }
    // The client has gone meanwhile: what was accepted for it ends as if it had come and left.
    if (this.#decisions.delete(request)) connected?.(closedSocket());
  }

  /** After a change of the password: those who were let in with the old one come again, or not. */
  #lookAfter(socket: WebSocket, { client, check }: AppEnvironment): void {
    const over = this.#admissions?.watch({
      tag: client?.identity?.tag,
      check,
      // A close frame has room for 123 bytes of reason.
      end: (reason) => socket.close(POLICY_VIOLATION, Buffer.from(reason).subarray(0, 120).toString('utf8')),
    });
    if (over) socket.once('close', over);
  }

  #ping(): void {
    for (const socket of this.#sockets.clients) if (socket.readyState === socket.OPEN) socket.ping();
  }
}

/** Headers of an answer that have no place in a 101. */
const OF_THE_BODY = new Set(['content-length', 'content-type', 'transfer-encoding', 'connection']);

function headersOf({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers();
  for (let at = 0; at < rawHeaders.length; at += 2) headers.append(rawHeaders[at]!, rawHeaders[at + 1]!);
  return headers;
}

/** As the library takes them, which adds a length of its own and knows one header by its usual spelling alone. */
function refusalHeaders(headers: Headers): OutgoingHttpHeaders {
  const { 'content-type': type = 'text/plain; charset=utf-8', ...others } = Object.fromEntries(headers);
  return { ...others, 'Content-Type': type };
}

/** An answer on a connection that has left HTTP. */
function refuse(socket: Duplex, status: 400 | 405, body: object | string): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const lines = [
    status === 400 ? 'HTTP/1.1 400 Bad Request' : 'HTTP/1.1 405 Method Not Allowed',
    `Content-Type: ${typeof body === 'string' ? 'text/plain; charset=utf-8' : 'application/json'}`,
    `Content-Length: ${Buffer.byteLength(text)}`,
    'Connection: close',
  ];
  socket.once('finish', () => socket.destroy());
  socket.end(`${lines.join('\r\n')}\r\n\r\n${text}`);
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
    close: (code, reason) => webSocket.close(code, reason),
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

/** A socket whose client has gone already. */
function closedSocket(): MessageSocket {
  const inbox = new SocketInbox();
  inbox.close(ABNORMAL, '');
  return { send: () => {}, bufferedAmount: 0, close: () => {}, listen: (events) => inbox.listen(events) };
}
