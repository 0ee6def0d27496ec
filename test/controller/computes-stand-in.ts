// A compute that says what a test wants: a web server on this host, well-behaved unless told otherwise.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { type WebSocket, WebSocketServer } from 'ws';
import { until } from './lab-server.ts';

export type Answering = (request: IncomingMessage, response: ServerResponse) => void;

export interface Heard {
  /** Method and path below /v2/compute. */
  call: string;
  headers: IncomingMessage['headers'];
  body: string;
}

const BASE = '/v2/compute';

export class StandIn {
  /** What was asked for, in order. */
  readonly heard: Heard[] = [];
  /** By method and path below /v2/compute; JSON with status 200 (201 for POST), or whatever a function does. */
  readonly answers: Record<string, object | Answering> = {
    'GET /capabilities': { version: '2.2.57', platform: 'linux', node_types: ['vpcs', 'qemu'] },
    'GET /projects': [],
    'GET /network/interfaces': [],
  };
  port = 0;
  readonly host: string;
  /** WebSockets that it has no route for, as the release has none of ours. */
  unknownSockets = /\/window\/ws/;
  /** Rejects the login of every request and WebSocket from now on. */
  rejects: { status: 401 | 429; retryAfter?: string } | undefined;
  /** Told of each WebSocket that was opened. */
  opened: ((socket: WebSocket) => void) | undefined;
  /** Connections so far. */
  connections = 0;
  readonly #server = createServer((request, response) => void this.#answer(request, response));
  readonly #sockets = new WebSocketServer({ noServer: true });
  readonly #open = new Set<Socket>();

  private constructor(host: string) {
    this.host = host;
    this.#server.on('upgrade', (request, socket, head) => {
      this.heard.push({ call: `WEBSOCKET ${pathOf(request)}`, headers: request.headers, body: '' });
      if (this.rejects) {
        const { status, retryAfter } = this.rejects;
        const wait = retryAfter === undefined ? '' : `Retry-After: ${retryAfter}\r\n`;
        socket.end(`HTTP/1.1 ${status} No\r\n${wait}Content-Length: 0\r\nConnection: close\r\n\r\n`);
        return;
      }
      if (this.unknownSockets.test(request.url ?? '')) {
        socket.end('HTTP/1.1 404 Not Found\r\nContent-Length: 14\r\nConnection: close\r\n\r\n404: Not Found');
        return;
      }
      this.#sockets.handleUpgrade(request, socket, head, (opened) => this.opened?.(opened));
    });
    this.#server.on('connection', (socket) => {
      this.connections += 1;
      this.#open.add(socket);
      socket.on('close', () => this.#open.delete(socket));
    });
  }

  static async start(t: TestContext, answers: StandIn['answers'] = {}, host = '127.0.0.1'): Promise<StandIn> {
    const standIn = new StandIn(host);
    Object.assign(standIn.answers, answers);
    await standIn.listen();
    t.after(() => standIn.close());
    return standIn;
  }

  async listen(): Promise<void> {
    this.#server.listen(this.port, this.host);
    await once(this.#server, 'listening');
    this.port = (this.#server.address() as AddressInfo).port;
  }

  /** Vanishes: no connection is left, and none is taken. */
  async close(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.#open) socket.destroy();
    await closed;
  }

  /** The body that registers it. */
  body(more: object = {}): object {
    return { compute_id: 'it', name: 'It', protocol: 'http', host: this.host, port: this.port, ...more };
  }

  get calls(): string[] {
    return this.heard.map(({ call }) => call);
  }

  /** Sends a message to whoever listens to its notifications, once somebody does. */
  async notify(message: object | string): Promise<void> {
    await until(() => this.listeners.length > 0, 'a listener of notifications');
    for (const socket of this.listeners) socket.send(typeof message === 'string' ? message : JSON.stringify(message));
  }

  get listeners(): WebSocket[] {
    return [...this.#sockets.clients].filter((socket) => socket.readyState === socket.OPEN);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const call = `${request.method} ${pathOf(request)}`;
    const known = Object.keys(this.answers).find((pattern) => new RegExp(`^${pattern}(?:\\?.*)?$`).test(call));
    const answer = known === undefined ? undefined : this.answers[known];
    const heard: Heard = { call, headers: request.headers, body: '' };
    this.heard.push(heard);
    if (this.rejects) {
      const { status, retryAfter } = this.rejects;
      request.resume();
      response.writeHead(status, retryAfter === undefined ? {} : { 'Retry-After': retryAfter }).end();
      return;
    }
    if (typeof answer === 'function') return answer(request, response);
    heard.body = (await buffer(request).catch(() => Buffer.alloc(0))).toString();
    sendJson(response, known === undefined ? 404 : request.method === 'POST' ? 201 : 200, answer ?? { message: 'no' });
  }
}

export function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
}

/** A refusal as servers of the API answer it. */
export function refusing(status: number, more: object = {}): Answering {
  return (request, response) => {
    request.resume();
    sendJson(response, status, { message: `refused with ${status}`, status, ...more });
  };
}

function pathOf({ url = '' }: IncomingMessage): string {
  return url.replace(BASE, '');
}
