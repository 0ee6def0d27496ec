// A console that is a web server in the container, reached at the container's loopback address, without any interface.
// Requests and WebSockets are proxied one by one; TLS is passed on unchanged.
import { createServer as createHttpServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { createServer, type Server, Socket } from 'node:net';
import { messageOf } from '../../../failures.ts';
import { connectInNetworkOf } from '../../../host/system-calls.ts';
import type { ConsoleListener } from '../../nodes/consoles/console-endpoint.ts';
import { refusal } from './engine.ts';

/** Concurrent client connections. */
const MOST_CONNECTIONS = 128;

export interface WebConsoleOptions {
  /** The address that clients connect to. */
  at: { host: string; port: number };
  name: string;
  secure: boolean;
  /** First process of the container, and the port of its web server. */
  target: () => { process: number; port: number };
}

export class WebConsole implements ConsoleListener {
  readonly #options: WebConsoleOptions;
  readonly #sockets = new Set<Socket>();
  #server: Server | undefined;

  constructor(options: WebConsoleOptions) {
    this.#options = options;
  }

  /** @throws Failure `conflict` if the port is not available */
  async start(): Promise<void> {
    const { at, secure, name } = this.#options;
    const server = secure ? createServer((client) => this.#tunnel(client)) : this.#webServer();
    server.maxConnections = MOST_CONNECTIONS;
    server.on('connection', (socket: Socket) => this.#keep(socket));
    await new Promise<void>((resolve, reject) => {
      server.once('error', (error) => {
        const message = `cannot open console port ${at.port} on ${at.host} for '${name}': ${messageOf(error)}`;
        reject(refusal(message, error));
      });
      server.listen({ ...at, exclusive: true }, resolve);
    });
    server.on('error', () => {});
    this.#server = server;
  }

  async stop(): Promise<void> {
    const server = this.#server;
    if (!server) return;
    this.#server = undefined;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #webServer(): Server {
    const server = createHttpServer({ keepAliveTimeout: 5_000 }, (asked, answer) => this.#pass(asked, answer));
    server.on('upgrade', (asked: IncomingMessage, client: Socket, head: Buffer) => {
      const there = this.#tunnel(client);
      if (!there) return;
      const lines = [
        `${asked.method} ${asked.url} HTTP/1.1`,
        ...pairs(asked.rawHeaders).map((pair) => pair.join(': ')),
      ];
      there.write(`${lines.join('\r\n')}\r\n\r\n`);
      there.write(head);
    });
    return server;
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => {}); // 'close' follows
    socket.on('close', () => this.#sockets.delete(socket));
  }

  #connect(): Socket {
    const { process, port } = this.#options.target();
    const there = new Socket({ fd: connectInNetworkOf(process, port), readable: true, writable: true });
    this.#keep(there);
    return there;
  }

  /** Connects the client to the container's port. */
  #tunnel(client: Socket): Socket | undefined {
    try {
      const there = this.#connect();
      there.pipe(client);
      client.pipe(there);
      there.on('close', () => client.destroy());
      client.on('close', () => there.destroy());
      return there;
    } catch {
      client.destroy();
      return undefined;
    }
  }

  #pass(asked: IncomingMessage, answer: ServerResponse): void {
    const refuse = (error: unknown): void => {
      if (answer.headersSent) return void answer.destroy();
      const { port } = this.#options.target();
      answer.writeHead(502, { 'content-type': 'text/plain' });
      answer.end(`Nothing answers on port ${port} of ${this.#options.name}: ${messageOf(error)}\n`);
    };
    try {
      // Keep the client's Host, so that the application's links lead back here.
      const passed = request({
        createConnection: () => this.#connect(),
        method: asked.method,
        path: asked.url,
        setHost: false,
      });
      for (const [name, value] of pairs(asked.rawHeaders)) passed.appendHeader(name, value);
      passed.setHeader('connection', 'close');
      passed.on('response', (response) => {
        for (const [name, value] of pairs(response.rawHeaders)) {
          if (name.toLowerCase() !== 'connection') answer.appendHeader(name, this.#here(name, value, asked));
        }
        answer.writeHead(response.statusCode ?? 502, response.statusMessage);
        response.pipe(answer);
        response.on('error', refuse);
      });
      passed.on('error', refuse);
      answer.on('close', () => passed.destroy());
      asked.pipe(passed);
    } catch (error) {
      refuse(error);
    }
  }

  /** Rewrites redirections to the container's own address to the client's address. */
  #here(name: string, value: string, { headers }: IncomingMessage): string {
    if (name.toLowerCase() !== 'location') return value;
    const { port } = this.#options.target();
    const own = new RegExp(`^http://(?:127\\.0\\.0\\.1|localhost)(?::${port})?(?=/|$)`, 'i');
    return value.replace(own, `http://${headers.host ?? ''}`);
  }
}

function pairs(rawHeaders: readonly string[]): [string, string][] {
  const found: [string, string][] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) found.push([rawHeaders[at]!, rawHeaders[at + 1]!]);
  return found;
}
