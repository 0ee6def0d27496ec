// A compute reached over HTTP or HTTPS. Uses Node's `http`, not `fetch`: `fetch` normalizes dot segments and escapes in
// paths that must arrive unchanged, ends answers after five minutes of silence (an idle capture), and accepts
// self-signed certificates only with an extra package.
//
// Certificates are not checked, as in release 2.2.57: computes create their own. HTTPS protects against eavesdroppers,
// not against impostors.
import { once, setMaxListeners } from 'node:events';
import { type ClientRequest, Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { type Duplex, Readable } from 'node:stream';
import type { ReadableStream as WebStream } from 'node:stream/web';
import type WebSocket from 'ws';
import { Failure, messageOf, systemCode, timedOut } from '../../failures.ts';
import { type Dial, dialing } from '../../host/network/dialing.ts';
import { basicHeader, type Credentials } from '../../http/access/authentication.ts';
import type { RequestOptions } from '../../http/app/app.ts';
import { CONSOLE_HOST, VXLAN_PORT } from '../../http/app/compute-headers.ts';
import type { MessageSocket } from '../../http/sockets/message-socket.ts';
import { type ComputeAddress, originOf, reachableHost } from './address.ts';
import { openRemoteSocket } from './remote-socket.ts';
import { type ComputeTransport, ComputeUnreachable } from './transport.ts';

/** How long (ms) an idle connection is kept: less than on any server (Node's default 5,000). */
const IDLE_MS = 4_000;
/** After this silence (ms) the kernel probes the other side, once a second and ten times. */
export const KEEP_ALIVE_MS = 10_000;
/** Methods that may be repeated if a kept connection turns out to be closed. */
const REPEATABLE = ['GET', 'PUT', 'DELETE'];
/** Statuses without a body. */
const BODILESS = [204, 205, 304];

/** The other side closed a kept connection before it could read the request. */
class StaleConnection extends Error {}

export class RemoteTransport implements ComputeTransport {
  readonly #address: ComputeAddress;
  readonly #headers: Record<string, string>;
  readonly #agent: HttpAgent;
  readonly #dial: Dial | undefined;
  readonly #calls = new Set<ClientRequest>();
  readonly #sockets = new Set<WebSocket>();
  readonly #ending = new AbortController();

  /** @param dial opens a connection, for hosts that are reached another way than by TCP (over NATS) */
  constructor(address: ComputeAddress, credentials: Credentials | undefined, dial?: () => Duplex) {
    this.#address = { ...address };
    this.#dial = dial && dialing(dial);
    this.#headers = credentials ? { Authorization: basicHeader(credentials) } : {};
    // A stream over NATS costs nothing to open, and has no time limit to be kept for.
    const options = dial ? {} : { keepAlive: true, timeout: IDLE_MS, noDelay: true };
    this.#agent = address.protocol === 'https' ? new HttpsAgent(options) : new HttpAgent(options);
    if (this.#dial) this.#agent.createConnection = this.#dial;
    // Every open console listens to it.
    setMaxListeners(0, this.#ending.signal);
  }

  async request(target: string, options: RequestOptions = {}): Promise<Response> {
    try {
      return await this.#send(target, options, this.#agent);
    } catch (error) {
      // Other kept connections may be closed as well.
      if (error instanceof StaleConnection) return this.#send(target, options, false);
      throw error;
    }
  }

  openSocket(target: string, headers: Record<string, string> = {}): Promise<MessageSocket> {
    const origin = originOf(this.#address).replace(/^http/, 'ws');
    return openRemoteSocket(`${origin}${target}`, {
      headers: { ...this.#headers, ...headers },
      signal: this.#ending.signal,
      ...(this.#dial && { dial: this.#dial }),
      opened: (socket) => {
        this.#sockets.add(socket);
        socket.on('close', () => this.#sockets.delete(socket));
      },
      vanished: () => void this.#endAll(new Error('it no longer answers')),
    });
  }

  close(): void {
    this.#endCalls(new Error('the connection was given up'));
    this.#ending.abort();
    this.#agent.destroy();
  }

  /**
   * A host that is gone answers none of its calls, and some have no time limit. They end after the sockets, so that a
   * caller that gets the failure finds the compute disconnected.
   */
  async #endAll(reason: Error): Promise<void> {
    const closed = [...this.#sockets].map((socket) => once(socket, 'close'));
    for (const socket of this.#sockets) socket.terminate();
    await Promise.all(closed);
    this.#endCalls(reason);
  }

  #endCalls(reason: Error): void {
    for (const call of this.#calls) call.destroy(reason);
  }

  #send(
    target: string,
    { method = 'GET', headers = {}, body, signal }: RequestOptions,
    agent: HttpAgent | false,
  ): Promise<Response> {
    const { promise, resolve, reject } = Promise.withResolvers<Response>();
    const { protocol, host, port } = this.#address;
    const request = (protocol === 'https' ? requestHttps : requestHttp)({
      host: reachableHost(host),
      port,
      method,
      path: target,
      agent,
      rejectUnauthorized: false,
      headers: { ...headers, ...this.#headers },
      ...(signal ? { signal } : {}),
    });
    this.#calls.add(request);
    request.on('close', () => {
      this.#calls.delete(request);
      // In any case a closed connection ends the call.
      reject(this.#unreachable(new Error('the connection was closed without an answer')));
    });
    const switched = new Error('it changed to another protocol without being asked');
    request.on('upgrade', (_answer, socket) => {
      socket.destroy();
      reject(this.#unreachable(switched));
    });
    // The same, for an answer without the `Upgrade` fields.
    request.on('information', ({ statusCode }) => {
      if (statusCode === 101) request.destroy(switched);
    });
    request.on('socket', (socket) => socket.setKeepAlive(true, KEEP_ALIVE_MS));
    const source = body instanceof ReadableStream ? Readable.fromWeb(body as WebStream<Uint8Array>) : undefined;
    request.on('response', (answer) => {
      const { statusCode: status = 0 } = answer;
      // A rejection before the body's end means that the rest is not read.
      if (status >= 300 && source && !request.writableFinished) {
        source.unpipe(request);
        source.destroy();
        answer.once('close', () => request.destroy());
      }
      if (status >= 200 && status <= 599) return resolve(responseOf(answer, status));
      request.destroy();
      reject(this.#unreachable(new Error(`status ${status} is invalid`)));
    });
    request.on('error', (error) => {
      source?.destroy();
      const repeatable = REPEATABLE.includes(method) && source === undefined;
      if (signal?.aborted) reject(endedBy(signal));
      else if (request.reusedSocket && repeatable && isClosed(error)) reject(new StaleConnection());
      else reject(this.#unreachable(error));
    });
    if (source) {
      source.on('error', (error) => request.destroy(error));
      source.pipe(request);
    } else request.end(body as string | Uint8Array | null | undefined);
    return promise;
  }

  #unreachable(error: Error): ComputeUnreachable {
    const reason = systemCode(error) ?? messageOf(error);
    return new ComputeUnreachable(`The compute at ${originOf(this.#address)} cannot be reached: ${reason}.`, {
      cause: error,
    });
  }
}

/** The reason is a failure if the time limit passed; otherwise the controller's own client has disconnected. */
function endedBy({ reason }: AbortSignal): Failure {
  return reason instanceof Failure ? reason : timedOut('The client has gone.', { cause: reason });
}

function isClosed(error: Error): boolean {
  return ['ECONNRESET', 'EPIPE'].includes(systemCode(error) ?? '');
}

/** Headers of an answer that are passed on. */
const PASSED_ON = [
  'content-type',
  'content-length',
  'content-range',
  'last-modified',
  'retry-after',
  CONSOLE_HOST.toLowerCase(),
  VXLAN_PORT.toLowerCase(),
] as const;

/** Status, headers and body of an answer; the body arrives at the reader's pace. */
function responseOf(answer: IncomingMessage, status: number): Response {
  const headers = new Headers();
  for (const name of PASSED_ON) {
    const value = answer.headers[name];
    if (typeof value === 'string') headers.set(name, value);
  }
  if (BODILESS.includes(status)) {
    answer.resume();
    return new Response(null, { status, headers });
  }
  return new Response(Readable.toWeb(answer) as ReadableStream<Uint8Array>, { status, headers });
}
