// A compute in the controller: its address, connection, capabilities and load, and the calls to it.

import { AsyncLocalStorage } from 'node:async_hooks';
import type { Relayed } from '../../api/events.ts';
import type { HeldLease } from '../../api/leases.ts';
import type { ComputeObject } from '../../api/objects.ts';
import { conflict } from '../../failures.ts';
import { isLoopback } from '../../host/network/loopback.ts';
import type { Called } from '../../http/app/app.ts';
import type { MessageSocket } from '../../http/sockets/message-socket.ts';
import { reachableHost } from './address.ts';
import { answerJson, answerText, ComputeRefusal, mustBeList } from './answers.ts';
import { Connection } from './connection.ts';
import { type Capabilities, type Introduction, rejectionOf, Unauthorized } from './handshake.ts';
import { DEFAULT_LIMIT_MS, watched, within } from './limits.ts';
import { type ComputeTransport, ComputeUnreachable } from './transport.ts';

export type ComputeDescription = Pick<ComputeObject, 'compute_id' | 'name' | 'protocol' | 'host' | 'port' | 'user'>;

/** Where a host of the cluster is. */
export type Place = Pick<HeldLease, 'name' | 'address' | 'outsideAddress'>;

export interface ComputeListener {
  /** The compute's object changed. */
  changed(compute: Compute): void;
  /** A notification other than a ping arrived. */
  announced(compute: Compute, message: Relayed): void;
  /**
   * It is connected, perhaps again. Calls to it wait until this settles, except calls made by this itself. Never
   * rejects.
   */
  joined(compute: Compute): Promise<void>;
  /** The first failed attempt to connect after a successful one: the state of its nodes is unknown. */
  lost(compute: Compute): void;
}

export interface CallOptions {
  /** JSON body; an empty object is sent as no body, as the release does. */
  body?: object;
  headers?: Readonly<Record<string, string>>;
  /** Time limit (ms) including connecting; 0 for none. Default 120,000. */
  limit?: number;
  /** If false, fails at once when the compute is not connected, instead of connecting first. */
  connect?: boolean;
  /** Cancels the call. */
  signal?: AbortSignal;
}

export interface PassOptions {
  body?: ReadableStream<Uint8Array> | null;
  headers?: Readonly<Record<string, string>>;
  signal?: AbortSignal;
  /**
   * Time limit (ms) without progress, from the last part of the request's body to the head of the answer. As in
   * CallOptions.
   */
  limit?: number;
}

const BASE = '/v2/compute';
const NOTHING: Capabilities = { version: null, node_types: [] };

/**
 * Set for all work of reconciling a compute after it has connected. Such calls neither wait for that nor connect: two
 * computes that come back at the same time would otherwise wait for each other.
 */
const takingUp = new AsyncLocalStorage<true>();

export class Compute {
  /** The host for consoles of this compute's nodes: the first given address, wildcard included. */
  readonly consoleHost: string;
  description: ComputeDescription;
  lastError: string | null = null;
  /** It takes no new nodes. */
  draining = false;
  /** Whether its nodes may have NIOs from before this controller started. */
  mayBeWired = true;
  /** Undefined for computes that are in no cluster. */
  place: Place | undefined;
  capabilities: Capabilities = NOTHING;
  /** The UDP port of its links to other hosts by VXLAN, if any. */
  vxlanPort: number | undefined;
  #usage: { cpu: number | null; memory: number | null } = { cpu: null, memory: null };
  /** As reported by the compute; null if unknown. */
  #consolesListenOn: string | null = null;
  readonly #connection: Connection;
  readonly #listener: ComputeListener;
  #takenUp: Promise<void> = Promise.resolve();
  #interfaces: Promise<Record<string, unknown>[]> | undefined;

  constructor(
    description: ComputeDescription,
    options: { transport: ComputeTransport; listener: ComputeListener; version: string; consoleHost: string },
  ) {
    const { transport, listener, version, consoleHost } = options;
    this.description = description;
    this.#listener = listener;
    this.consoleHost = consoleHost;
    const identity = () => ({ id: this.id, name: this.name, version });
    this.#connection = new Connection(transport, identity, {
      up: (introduction) => this.#joined(introduction),
      notification: (message) => this.#received(message),
      down: () => this.#lost(),
      failed: (reason) => this.#failed(reason),
    });
  }

  get id(): string {
    return this.description.compute_id;
  }

  get name(): string {
    return this.description.name;
  }

  get connected(): boolean {
    return this.#connection.connected;
  }

  /** Why it cannot be called: names the host and the reason of the last failed attempt. */
  get absence(): string {
    const reason = this.lastError === null ? '' : ` ${this.lastError}`;
    return `The host ${this.name} is not connected.${reason}`;
  }

  /** Its consoles listen on the loopback of another host, so that only its own server can reach them. */
  get hidesConsoles(): boolean {
    const on = this.#consolesListenOn;
    return this.id !== 'local' && on !== null && isLoopback(on) && !isLoopback(reachableHost(this.description.host));
  }

  /** The object that clients see (`Compute`), always without the password. */
  json() {
    return {
      ...this.description,
      connected: this.connected,
      cpu_usage_percent: this.#usage.cpu,
      memory_usage_percent: this.#usage.memory,
      capabilities: this.capabilities,
      last_error: this.lastError,
      ...(this.draining && { draining: true as const }),
    };
  }

  /** @throws Failure `conflict` while it is being drained */
  requireAccepting(): void {
    if (!this.draining) return;
    throw conflict(
      `compute_id: the host ${this.name} is being drained and takes no new nodes; choose another host, or end that with "labwired compute undrain".`,
    );
  }

  /** Connects unless connected, and keeps the connection up. @throws as Connection.connect */
  connect(): Promise<void> {
    return this.#connection.connect();
  }

  /** Sets another name, address or user; reconnects a little later or with the next call. */
  change(description: ComputeDescription, transport: ComputeTransport): void {
    this.description = description;
    this.lastError = null;
    this.#connection.replace(transport);
  }

  /** Ends the connection for good. */
  stop(): void {
    this.#connection.stop();
  }

  #joined({ capabilities, consoleHost, vxlanPort }: Omit<Introduction, 'feed'>): void {
    this.capabilities = capabilities;
    this.vxlanPort = vxlanPort;
    this.#consolesListenOn = consoleHost;
    this.lastError = null;
    this.#listener.changed(this);
    this.#takenUp = this.#takenUp.then(() => takingUp.run(true, () => this.#listener.joined(this)));
  }

  #lost(): void {
    this.#interfaces = undefined;
    this.#usage = { cpu: null, memory: null };
    this.#listener.changed(this);
  }

  #failed(reason: string): void {
    const isLost = this.lastError === null;
    if (reason === this.lastError) return;
    this.lastError = reason;
    this.#listener.changed(this);
    if (isLost) this.#listener.lost(this);
  }

  #received(message: Relayed): void {
    if (message.action !== 'ping') {
      this.#listener.announced(this, message);
      return;
    }
    const { cpu_usage_percent: cpu, memory_usage_percent: memory } = message.event;
    this.#usage = { cpu: typeof cpu === 'number' ? cpu : null, memory: typeof memory === 'number' ? memory : null };
    this.#listener.changed(this);
  }

  /**
   * Connects unless connected, and waits until its labs have been compared with its running nodes.
   * @throws ComputeUnreachable, Failure `conflict` if a person must fix something
   */
  ready(): Promise<void> {
    return this.#ready(true);
  }

  async #ready(connect: boolean): Promise<void> {
    const ours = takingUp.getStore() === true;
    if (!this.connected) {
      if (ours || !connect) throw new ComputeUnreachable(this.absence);
      await this.connect().catch((error: unknown) => {
        // The address alone means little to users.
        throw error instanceof ComputeUnreachable ? new ComputeUnreachable(this.absence, { cause: error }) : error;
      });
    }
    if (!ours && connect) await this.#takenUp;
  }

  /** @throws ComputeUnreachable; Unauthorized, which ends the connection */
  async #ask<Answer extends Response | Called>(
    send: (transport: ComputeTransport) => Promise<Answer>,
  ): Promise<Answer> {
    const { transport } = this.#connection;
    const answer = await send(transport).catch((error: unknown) => {
      if (!(error instanceof ComputeUnreachable) || error.late) throw error;
      throw new ComputeUnreachable(`The host ${this.name} does not answer. ${error.message}`, { cause: error });
    });
    if (!(answer instanceof Response)) return answer;
    const { status, headers } = answer;
    const rejection = rejectionOf({ status, retryAfter: headers.get('retry-after') }, this.name);
    if (rejection === undefined) return answer;
    await answer.body?.cancel();
    this.#connection.rejected(transport, rejection);
    throw rejection;
  }

  /**
   * A request whose answer is passed on, whatever its status: the body of a GET is streamed, other bodies are read up
   * to a limit. `path` is below /v2/compute.
   */
  async pass(
    method: string,
    path: string,
    { body, headers: asked, signal, limit = DEFAULT_LIMIT_MS }: PassOptions = {},
  ): Promise<Response> {
    const call = `${method} ${path}`;
    return within(limit, call, async (late, progress) => {
      await this.#ready(true);
      const answer = await this.#ask((transport) =>
        transport.request(BASE + path, {
          method,
          headers: { ...asked, 'Content-Type': body ? 'application/octet-stream' : 'application/json' },
          ...both(signal, late),
          ...(body ? { body: watched(body, progress) } : {}),
        }),
      );
      if (method === 'GET' && answer.status < 300) return answer;
      const { status, headers } = answer;
      return new Response((await answerText(answer, call)) || null, { status, headers });
    });
  }

  /**
   * Makes a repeatable call, and repeats it once if it fails, as the answer may be lost. It is not repeated if the
   * compute is disconnected, rejects this server, or took too long.
   */
  async retryOnce(call: (connect: boolean) => Promise<unknown>): Promise<void> {
    try {
      await call(true);
    } catch (error) {
      const late = error instanceof ComputeUnreachable && error.late;
      if (late || error instanceof Unauthorized || !this.connected) throw error;
      await call(false);
    }
  }

  /** Deletes something; a missing one is ignored. Returns the answer, if it was not lost. */
  async remove(path: string, options: { connect?: boolean } = {}): Promise<unknown> {
    let isLost = false;
    let answer: unknown;
    await this.retryOnce(async (connect) => {
      try {
        answer = await this.delete(path, { connect, ...options });
      } catch (error) {
        // After a lost answer, any rejection means that nothing is left.
        if (error instanceof ComputeRefusal && (isLost || error.status === 404)) return;
        isLost = !(error instanceof ComputeRefusal);
        throw error;
      }
    });
    return answer;
  }

  /**
   * A request with JSON both ways; an empty answer is undefined.
   * @throws ComputeRefusal for a rejection; ComputeUnreachable, also past the limit; Unauthorized
   */
  async call(
    method: string,
    path: string,
    { body, headers, limit = DEFAULT_LIMIT_MS, connect = true, signal }: CallOptions = {},
  ): Promise<unknown> {
    const call = `${method} ${path}`;
    return within(limit, call, async (late) => {
      await this.#ready(connect);
      const answer = await this.#ask((transport) => {
        const ends = both(signal, late);
        if (transport.call)
          return transport.call(BASE + path, { method, body, ...(headers && { headers: { ...headers } }), ...ends });
        const text = body && Object.keys(body).length > 0 ? { body: JSON.stringify(body) } : {};
        const sent = { ...headers, 'Content-Type': 'application/json' };
        return transport.request(BASE + path, { method, headers: sent, ...text, ...ends });
      });
      return answer instanceof Response ? answerJson(answer, call) : answer.value;
    });
  }

  get = (path: string, options?: CallOptions): Promise<unknown> => this.call('GET', path, options);
  post = (path: string, options?: CallOptions): Promise<unknown> => this.call('POST', path, options);
  put = (path: string, options?: CallOptions): Promise<unknown> => this.call('PUT', path, options);
  delete = (path: string, options?: CallOptions): Promise<unknown> => this.call('DELETE', path, options);

  /** @throws ComputeRefusal, ComputeUnreachable; Unauthorized, which ends the connection */
  async openSocket(path: string): Promise<MessageSocket> {
    await this.#ready(true);
    const { transport } = this.#connection;
    try {
      return await transport.openSocket(BASE + path);
    } catch (error) {
      const rejection = error instanceof ComputeRefusal ? rejectionOf(error, this.name) : undefined;
      if (rejection === undefined) throw error;
      this.#connection.rejected(transport, rejection);
      throw rejection;
    }
  }

  /** Its network interfaces, requested once per connection. */
  networkInterfaces(): Promise<Record<string, unknown>[]> {
    const path = '/network/interfaces';
    this.#interfaces ??= this.get(path).then((list) => mustBeList(list, `GET ${path}`));
    this.#interfaces.catch(() => {
      this.#interfaces = undefined;
    });
    return this.#interfaces;
  }
}

function both(one: AbortSignal | undefined, other: AbortSignal | undefined): { signal?: AbortSignal } {
  const signal = one && other ? AbortSignal.any([one, other]) : (one ?? other);
  return signal ? { signal } : {};
}
