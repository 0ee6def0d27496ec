// The network server: listens, passes requests to the App, and stops cleanly.
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { conflict, type Failure, messageOf, systemCode } from '../../failures.ts';
import { log } from '../../host/log.ts';
import { notePassed } from '../access/passed-connections.ts';
import { Openings } from '../sockets/websocket-requests.ts';
import { Adaptor } from './adaptor.ts';
import type { App } from './app.ts';
import { Connections, guardSocket } from './connections.ts';
import type { Passing } from './passing.ts';
import type { TlsFiles } from './tls.ts';
import { WireMessage } from './wire-message.ts';

export interface ListenOptions {
  host: string;
  port: number;
  tls?: TlsFiles | undefined;
  /** Passes requests on to another host. */
  passing?: Passing | undefined;
}

const SERVER_OPTIONS = {
  // A slow header must not hold a connection. Bodies (uploads) may take any time; JSON has a limit in body.ts.
  headersTimeout: 20_000,
  requestTimeout: 0,
  keepAliveTimeout: 30_000,
};

export class HttpServer {
  readonly #options: ListenOptions;
  readonly #connections = new Connections();
  readonly #openings: Openings;
  readonly #servers: Server[] = [];
  #app: App;
  #adaptor: Adaptor;

  constructor(app: App, options: ListenOptions) {
    this.#options = options;
    this.#app = app;
    this.#adaptor = new Adaptor(app);
    this.#openings = new Openings((target) => options.passing?.wants(target) || this.#app.hasSocket(target));
  }

  /**
   * Listens; resolves with the actual address.
   * @throws Failure `conflict` if the address is taken or not of this host
   */
  async start(): Promise<AddressInfo> {
    const { host, port, tls } = this.#options;
    const server = await this.#listener(tls);
    await new Promise<void>((resolve, reject) => {
      server.once('error', (error) => reject(listenFailure(error, host, port)));
      server.listen(port, host, resolve);
    });
    this.#servers.push(server);
    return server.address() as AddressInfo;
  }

  /** Also listens at a local path, without TLS. Failing is not fatal. */
  async startLocally(path: string): Promise<void> {
    const server = await this.#listener(undefined);
    const { notePeer } = await import('../access/local-peers.ts');
    const { listenAt } = await import('../access/local-socket.ts');
    server.prependListener('connection', notePeer);
    try {
      await listenAt(server, path);
      this.#servers.push(server);
    } catch (error) {
      log.warn('there is no local socket', { reason: messageOf(error) });
    }
  }

  /**
   * Serves connections that others made, such as streams of the cluster. They are not ended by `stop`. With a host, that passes its clients
   * on.
   */
  async servePassed(): Promise<(stream: Duplex, host?: string) => void> {
    const server = await this.#listener(undefined, false);
    return (stream, host) => {
      if (host !== undefined) notePassed(stream, host);
      server.emit('connection', stream);
    };
  }

  async #listener(tls: TlsFiles | undefined, watched = true): Promise<Server> {
    const { passing } = this.#options;
    const options = {
      ...SERVER_OPTIONS,
      IncomingMessage: WireMessage,
      shouldUpgradeCallback: this.#openings.wants,
    };
    const server = tls === undefined ? createServer(options) : (await import('./tls.ts')).createTlsServer(options, tls);
    if (watched) server.on('connection', (socket: Socket) => this.#connections.accept(socket));
    server.on('secureConnection', guardSocket);
    this.#openings.attach(server);
    server.on('request', (request: WireMessage, response: ServerResponse) => {
      if (passing?.wants(request.target)) passing.answer(request, response);
      else void this.#adaptor.answer(request, response);
    });
    server.on('upgrade', (request: WireMessage, socket, head) =>
      (passing?.wants(request.target) ? passing : this.#adaptor.upgrades).upgrade(request, socket, head),
    );
    return server;
  }

  /** Serves with another application from now on, at the same ports; resolves when the former one has answered the last request. */
  async change(app: App, failure: Failure, patience = 2_000): Promise<void> {
    const former = this.#adaptor;
    this.#app = app;
    this.#adaptor = new Adaptor(app);
    await former.end(patience, failure);
  }

  /** Number of client connections, including WebSockets. */
  get connectionCount(): number {
    return this.#connections.size;
  }

  /** Accepts no more requests, closes WebSockets (1001), and waits at most `patience` milliseconds for pending responses. */
  async stop(patience = 2_000): Promise<void> {
    const servers = this.#servers.splice(0);
    if (servers.length === 0) return;
    this.#adaptor.upgrades.close();
    setTimeout(() => this.#connections.destroy(), patience).unref();
    const closed = servers.map(
      (server) =>
        new Promise<void>((resolve) => {
          server.close(() => resolve());
          server.closeIdleConnections();
        }),
    );
    await Promise.all(closed);
  }
}

function listenFailure(error: Error, host: string, port: number): Failure {
  const reasons: Record<string, string> = {
    EADDRINUSE: `port ${port} on ${host} is taken by another program: stop that one, or choose another with --port`,
    EADDRNOTAVAIL: `${host} is no address of this machine: choose one with --host`,
    EACCES: `port ${port} may not be used by this user: choose one above 1023 with --port`,
  };
  return conflict(`Cannot listen: ${reasons[systemCode(error) ?? ''] ?? messageOf(error)}`);
}
