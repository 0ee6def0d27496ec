// Keeps the connection to one compute: made once however many ask for it, made again when it is lost.
import { messageOf } from '../../failures.ts';
import { log } from '../../host/log.ts';
import type { MessageSocket, SocketData } from '../../http/sockets.ts';
import { type Capabilities, type Introduction, introduce, Unauthorized } from './handshake.ts';
import { type ComputeTransport, ComputeUnreachable } from './transport.ts';

export interface ConnectionEvents {
  /** It is there; its notifications follow. */
  up(capabilities: Capabilities): void;
  notification(data: SocketData): void;
  down(): void;
  /** An attempt failed: what has to be put right, or null when nobody answered. */
  failed(reason: string | null): void;
  /** It was looked for in vain for as long as labs wait for it. */
  gaveUp(): void;
}

/** Milliseconds until the next attempt: after a loss, when nobody answers, and when somebody has to put something right first. */
const AFTER_LOSS_MS = 1_000;
const UNREACHABLE_AGAIN_MS = 5_000;
const REFUSED_AGAIN_MS = 30_000;
/** Attempts in a row after which labs no longer wait for a compute. */
const PATIENCE_ATTEMPTS = 10;

export class Connection {
  connected = false;
  #current: ComputeTransport;
  readonly #events: ConnectionEvents;
  /** The compute's name and this server's release. */
  readonly #identity: () => { id: string; name: string; version: string };
  #socket: MessageSocket | undefined;
  #connecting: Promise<void> | undefined;
  #retry: NodeJS.Timeout | undefined;
  #failures = 0;
  /** The compute rejected this server's login; until the next attempt every call fails with it. */
  #rejection: Unauthorized | undefined;
  #stopped = false;

  constructor(
    transport: ComputeTransport,
    identity: () => { id: string; name: string; version: string },
    events: ConnectionEvents,
  ) {
    this.#current = transport;
    this.#identity = identity;
    this.#events = events;
  }

  get transport(): ComputeTransport {
    return this.#current;
  }

  /**
   * Connects unless it is connected; one attempt at a time. From now on the connection is kept up: lost or not made, it is tried again.
   * @throws ComputeUnreachable, Failure `conflict` when something has to be put right
   */
  async connect(): Promise<void> {
    if (this.connected) return;
    if (this.#rejection) throw this.#rejection;
    if (this.#connecting === undefined) {
      const attempt = this.#attempt().finally(() => {
        if (this.#connecting === attempt) this.#connecting = undefined;
      });
      this.#connecting = attempt;
    }
    await this.#connecting;
  }

  /** A call over this transport was rejected: the connection ends, and nothing is sent before the next attempt or other credentials. */
  rejected(transport: ComputeTransport, rejection: Unauthorized): void {
    if (transport !== this.#current || this.#stopped) return;
    this.#rejection = rejection;
    const socket = this.#socket;
    this.#lost();
    socket?.close(1000, '');
    this.#events.failed(rejection.message);
    this.#retryIn(rejection.retryMs);
  }

  /** Uses another address or other credentials from now on, and connects at once. */
  replace(transport: ComputeTransport): void {
    const old = this.#current;
    this.#current = transport;
    this.#failures = 0;
    this.#rejection = undefined;
    this.#connecting = undefined;
    this.#socket = undefined;
    this.connected = false;
    old.close?.();
    this.#events.down();
    this.#retryIn(0);
  }

  /** Ends the connection for good. */
  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#retry);
    this.#socket?.close(1000, '');
    this.#current.close?.();
    this.#lost();
  }

  async #attempt(): Promise<void> {
    clearTimeout(this.#retry);
    const transport = this.#current;
    const isCurrent = (): boolean => transport === this.#current && !this.#stopped;
    let introduction: Introduction;
    try {
      introduction = await introduce(transport, this.#identity());
    } catch (error) {
      if (!isCurrent()) return this.#connectAfterChange();
      const unreachable = error instanceof ComputeUnreachable;
      if (error instanceof Unauthorized) this.#rejection = error;
      this.#events.failed(unreachable ? null : messageOf(error));
      this.#retryIn(unreachable ? UNREACHABLE_AGAIN_MS : (this.#rejection?.retryMs ?? REFUSED_AGAIN_MS));
      throw error;
    }
    if (isCurrent()) return this.#join(introduction);
    introduction.socket.close(1000, '');
    return this.#connectAfterChange();
  }

  /** Callers that wait for an attempt over the old transport get the connection over the new one. */
  #connectAfterChange(): Promise<void> {
    if (!this.#stopped) return this.connect();
    throw new ComputeUnreachable(`The compute ${this.#identity().name} was removed meanwhile.`);
  }

  #join({ capabilities, socket }: Introduction): void {
    this.#socket = socket;
    this.connected = true;
    this.#rejection = undefined;
    this.#failures = 0;
    this.#events.up(capabilities);
    socket.listen({
      message: (data) => this.#events.notification(data),
      close: () => {
        if (this.#socket === socket) this.#lost();
      },
    });
  }

  #retryIn(delay: number): void {
    clearTimeout(this.#retry);
    if (this.#stopped) return;
    this.#retry = setTimeout(() => this.#tryAgain(), delay);
    this.#retry.unref();
  }

  /** What clients ask for in vain does not count: they may ask often. */
  #tryAgain(): void {
    this.#rejection = undefined;
    this.connect().catch((error: unknown) => {
      this.#failures += 1;
      if (this.#failures === 1) {
        log.warn('compute is unavailable', { compute: this.#identity().id, reason: messageOf(error) });
      }
      if (this.#failures === PATIENCE_ATTEMPTS && error instanceof ComputeUnreachable) this.#events.gaveUp();
    });
  }

  #lost(): void {
    if (!this.connected) return;
    this.#socket = undefined;
    this.connected = false;
    this.#events.down();
    this.#retryIn(AFTER_LOSS_MS);
  }
}
