// The network side: listens, hands requests to the application, ends cleanly.
import { readFileSync, statSync } from 'node:fs';
import { createServer, IncomingMessage, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { Readable } from 'node:stream';
import { createSecureContext } from 'node:tls';
import { createAdaptorServer } from '@hono/node-server';
import { Failure, messageOf, systemCode } from '../failures.ts';
import { log } from '../host/log.ts';
import type { Admissions } from './admissions.ts';
import type { AppEnvironment } from './app.ts';
import type { Answering } from './arriving-app.ts';
import { Connections, guardSocket } from './connections.ts';
import { notePeer } from './local-peers.ts';
import { listenAt } from './local-socket.ts';
import { openingProblem, Upgrades } from './upgrades.ts';

/** Paths of PEM files. */
export interface TlsFiles {
  certificate: string;
  key: string;
}

export interface ListenOptions {
  host: string;
  port: number;
  tls?: TlsFiles | undefined;
  /** Looks after WebSockets: those of an account that is gone are closed. */
  admissions?: Admissions | undefined;
}

const SERVER_OPTIONS = {
  // Keeps a slow header from holding a connection; bodies may take as long as they need (uploads), JSON ones are timed in body.ts.
  headersTimeout: 20_000,
  requestTimeout: 0,
  keepAliveTimeout: 30_000,
};

/**
 * A request that keeps its target as it stood on the wire. The adaptor makes a URL of `url`, which folds dot segments and refuses
 * some spellings; routing goes by the target instead, so `url` is the same for all requests.
 */
class WireMessage extends IncomingMessage {
  target = '/';

  // @ts-expect-error: a plain property of the base class, set by the parser
  override get url(): string {
    return '/';
  }

  override set url(value: string) {
    this.target = originForm(value);
  }
}

export class HttpServer {
  readonly #options: ListenOptions;
  readonly #app: Answering;
  readonly #connections = new Connections();
  readonly #upgrades: Upgrades;
  readonly #servers: Server[] = [];

  constructor(app: Answering, options: ListenOptions) {
    this.#app = app;
    this.#options = options;
    this.#upgrades = new Upgrades(app, options.admissions);
  }

  /**
   * Listens; resolves with the address in use.
   * @throws Failure `conflict` when the address is taken or not ours
   */
  async start(): Promise<AddressInfo> {
    const { host, port, tls } = this.#options;
    const server = this.#listener(tls);
    await new Promise<void>((resolve, reject) => {
      server.once('error', (error) => reject(listenFailure(error, host, port)));
      server.listen(port, host, resolve);
    });
    this.#servers.push(server);
    return server.address() as AddressInfo;
  }

  /** Listens at a path, too, and never speaks TLS there. A server without its local socket is of use all the same. */
  async startLocally(path: string): Promise<void> {
    const server = this.#listener(undefined);
    server.prependListener('connection', notePeer);
    try {
      await listenAt(server, path);
      this.#servers.push(server);
    } catch (error) {
      log.warn('there is no local socket', { reason: messageOf(error) });
    }
  }

  #listener(tls: TlsFiles | undefined): Server {
    const serverOptions = {
      ...SERVER_OPTIONS,
      IncomingMessage: WireMessage,
      shouldUpgradeCallback: this.#upgrades.wants,
    };
    const server = createAdaptorServer({
      fetch: async (request, environment) => {
        const env = environment as unknown as AppEnvironment & { incoming: WireMessage };
        const { incoming } = env;
        env.target = incoming.target;
        env.openingProblem = incoming.headers.upgrade === undefined ? undefined : openingProblem(incoming);
        if (incoming.method === 'GET' && announcesBody(incoming)) {
          env.body = () => Readable.toWeb(incoming) as ReadableStream<Uint8Array>;
        }
        const app = await this.#app.able(incoming.method ?? '', incoming.target);
        const response = await app.hono.fetch(request, env);
        // The adaptor discards what is left of a body that was refused, so that the next request on this connection is heard;
        // the stream through which the body was read would stop it.
        if (!incoming.readableEnded) incoming.removeAllListeners('data');
        return response;
      },
      overrideGlobalObjects: false,
      ...(tls === undefined
        ? { createServer, serverOptions }
        : { createServer: createTlsServer, serverOptions: { ...serverOptions, ...readTls(tls) } }),
    }) as Server;
    server.on('connection', (socket: Socket) => this.#connections.accept(socket));
    server.on('secureConnection', guardSocket);
    this.#upgrades.attach(server);
    return server;
  }

  /** Connections of clients, WebSockets included. */
  get connectionCount(): number {
    return this.#connections.size;
  }

  /** Takes no more requests, closes WebSockets (1001), and waits at most `patience` milliseconds for answers under way. */
  async stop(patience = 2_000): Promise<void> {
    const servers = this.#servers.splice(0);
    if (servers.length === 0) return;
    this.#upgrades.close();
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

function announcesBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** `GET http://host/path` is the same as `GET /path`. */
function originForm(target: string): string {
  return target.startsWith('/') ? target : target.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '') || '/';
}

function readTls({ certificate, key }: TlsFiles): { cert: Buffer; key: Buffer } {
  const read = (path: string, name: string): Buffer => {
    try {
      if (!statSync(path).isFile()) throw new Error('it is not a regular file');
      return readFileSync(path);
    } catch (error) {
      throw new Failure('invalid', `${name} ${path} cannot be read: ${systemCode(error) ?? messageOf(error)}`);
    }
  };
  const files = { cert: read(certificate, 'certfile'), key: read(key, 'certkey') };
  try {
    createSecureContext(files);
  } catch (error) {
    throw new Failure(
      'invalid',
      `certfile ${certificate} and certkey ${key} are no certificate and its key (${messageOf(error)}): name PEM files that belong together`,
    );
  }
  return files;
}

function listenFailure(error: Error, host: string, port: number): Failure {
  const reasons: Record<string, string> = {
    EADDRINUSE: `port ${port} on ${host} is taken by another program: stop that one, or choose another with --port`,
    EADDRNOTAVAIL: `${host} is no address of this machine: choose one with --host`,
    EACCES: `port ${port} may not be used by this user: choose one above 1023 with --port`,
  };
  return new Failure('conflict', `Cannot listen: ${reasons[systemCode(error) ?? ''] ?? messageOf(error)}`);
}
