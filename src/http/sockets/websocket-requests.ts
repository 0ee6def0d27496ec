// Decides which requests become WebSockets; incomplete openings are answered as plain requests.
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { hostName } from '../access/guard.ts';
import type { WireMessage } from '../app/wire-message.ts';

/** RFC 6455, section 4.2.2. */
const VERSION = '13';
/** Why an upgrade request is not a complete opening; undefined if it is. */
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

/** Recognizes WebSocket openings. */
export class Openings {
  readonly #hasSocket: (target: string) => boolean;
  /** Pending responses by connection. */
  readonly #answering = new WeakMap<Duplex, number>();

  /** @param hasSocket whether there may be a WebSocket at a target */
  constructor(hasSocket: (target: string) => boolean) {
    this.#hasSocket = hasSocket;
  }

  /** Node's option: whether a request with `Upgrade` leaves HTTP. */
  readonly wants = (request: IncomingMessage): boolean =>
    request.method === 'GET' &&
    openingProblem(request) === undefined &&
    hostName(request.headers.host ?? '') !== undefined &&
    // Pending responses would otherwise be mixed with WebSocket frames.
    !this.#answering.get(request.socket) &&
    this.#hasSocket((request as WireMessage).target);

  attach(server: Server): void {
    server.prependListener('request', (request, response) => {
      const { socket, headers } = request;
      // Node drops anything received together with such a request, so the connection is closed after it.
      if (headers.upgrade !== undefined && tokens(headers.connection).includes('upgrade'))
        response.shouldKeepAlive = false;
      this.#answering.set(socket, (this.#answering.get(socket) ?? 0) + 1);
      response.once('close', () => this.#answering.set(socket, (this.#answering.get(socket) ?? 1) - 1));
    });
    server.on('connect', (_request, socket) => refuse(socket, 405, '405: Method Not Allowed'));
  }
}

/** Responds on a connection that has left HTTP. */
export function refuse(socket: Duplex, status: 400 | 405, body: object | string): void {
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
