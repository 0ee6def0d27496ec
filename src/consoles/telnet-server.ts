// A console on a TCP port, for telnet clients and for plain ones such as netcat.

import { createServer, type Server, type Socket } from 'node:net';
import { conflict, type Failure, messageOf, systemCode } from '../failures.ts';
import type { Console, ConsoleClient } from './console.ts';
import { escapeTelnet, TelnetSession } from './telnet.ts';

const KEEP_ALIVE_IDLE_MS = 60_000;
const KEEP_ALIVE_INTERVAL_MS = 10_000;
const KEEP_ALIVE_PROBES = 4;
/** How long (ms) a disconnected client may read nothing of the remaining output, which ends with the reason, whatever it sends. */
const FAREWELL_MS = 2000;
/** Limit of data waiting for a client before its telnet requests go unanswered. */
const REPLY_BYTES = 16 * 1024;

export interface TelnetServerOptions {
  console: Console;
  /** Address to listen on. */
  host: string;
  port: number;
}

export class TelnetServer {
  readonly #options: TelnetServerOptions;
  readonly #sockets = new Set<Socket>();
  #server: Server | undefined;

  constructor(options: TelnetServerOptions) {
    this.#options = options;
  }

  /** @throws Failure `conflict` if the port is not available */
  async start(): Promise<void> {
    const { host, port } = this.#options;
    const server = createServer({ noDelay: true }, (socket) => this.#welcome(socket));
    await new Promise<void>((resolve, reject) => {
      server.once('error', (error) => reject(this.#portFailure(error)));
      server.listen({ host, port, exclusive: true }, resolve);
    });
    // If a connection cannot be accepted (no descriptor left), only that client fails, not the daemon.
    server.on('error', () => {});
    this.#server = server;
  }

  #portFailure(error: unknown): Failure {
    const { host, port, console } = this.#options;
    const code = systemCode(error);
    const fix =
      code === 'EADDRINUSE'
        ? 'another program uses the port: end that program or give the node another console port'
        : code === 'EADDRNOTAVAIL'
          ? 'this host does not have the address: correct the host setting'
          : code === 'EACCES'
            ? 'ports below 1024 need a privilege: give the node another console port'
            : messageOf(error);
    return conflict(`cannot open console port ${port} on ${host} for '${console.name}': ${fix}`, {
      cause: error,
    });
  }

  #welcome(socket: Socket): void {
    const { console } = this.#options;
    this.#sockets.add(socket);
    socket.setKeepAlive(true, KEEP_ALIVE_IDLE_MS, KEEP_ALIVE_INTERVAL_MS, KEEP_ALIVE_PROBES);
    const session = new TelnetSession({ windowSize: console.resizable, greeting: `${console.name} is here` });
    const client: ConsoleClient = {
      description: `telnet ${socket.remoteAddress}:${socket.remotePort}`,
      send: (output) => void socket.write(escapeTelnet(output)),
      get queuedBytes() {
        return socket.writableLength;
      },
      close: (reason) => {
        socket.end(`\r\n[disconnected: ${reason}]\r\n`);
        let left = socket.writableLength;
        const timer = setInterval(() => {
          if (socket.writableLength >= left) socket.destroy();
          left = socket.writableLength;
        }, FAREWELL_MS).unref();
        socket.once('close', () => clearInterval(timer));
      },
    };
    socket.write(session.start());
    const attachment = console.attach(client);
    socket.on('data', (chunk) => {
      const { data, reply, windowSize } = session.receive(chunk);
      // A client that never reads its answers gets no more of them.
      if (reply.length > 0 && socket.writable && socket.writableLength < REPLY_BYTES) socket.write(reply);
      if (windowSize) attachment.resize(windowSize.columns, windowSize.rows);
      if (data.length > 0) attachment.input(data);
    });
    socket.on('error', () => {}); // a reset connection; 'close' follows
    socket.on('close', () => {
      attachment.detach();
      this.#sockets.delete(socket);
    });
  }

  /** Stops listening and closes every connection at once. Resolves when the port is free again. */
  async stop(): Promise<void> {
    const server = this.#server;
    if (!server) return;
    this.#server = undefined;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const socket of this.#sockets) {
      // Data accepted by the kernel still arrives. Slow clients are not waited for.
      if (socket.writableLength > 0) socket.destroy();
      else socket.destroySoon();
    }
    await closed;
  }
}
