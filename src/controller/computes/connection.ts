// Keeps the connection to one compute: concurrent callers share an attempt, and a lost connection is made again.
import type { Relayed } from '../../api/events.ts';
import type { ComputeFeed } from '../../events/feed.ts';
import { type Failure, messageOf } from '../../failures.ts';
import { log } from '../../host/log.ts';
import { type Introduction, introduce, Unauthorized } from './handshake.ts';
import { type ComputeTransport, ComputeUnreachable } from './transport.ts';

export interface ConnectionEvents {
  /** Connected; notifications follow. */
  up(introduction: Omit<Introduction, 'feed'>): void;
  notification(message: Relayed): void;
  down(): void;
  failed(reason: string): void;
}

/**
 * How long (ms) until the next attempt: after a loss, without an answer, and when a person must fix something first.
 */
const AFTER_LOSS_MS = 1_000;
const UNREACHABLE_AGAIN_MS = 5_000;
const REFUSED_AGAIN_MS = 30_000;

export class Connection {
  connected = false;
  #current: ComputeTransport;
  readonly #events: ConnectionEvents;
  /** The compute's id and name, and this server's version. */
  readonly #identity: () => { id: string; name: string; version: string };
  #feed: ComputeFeed | undefined;
  #connecting: Promise<void> | undefined;
  #retry: NodeJS.Timeout | undefined;
  #failures = 0;
  /**
   * The failure for all callers until one of our own attempts ends differently: a rejected password, because every
   * attempt counts there as a wrong guess, or a timeout, so that callers do not wait for it again and again.
   */
  #standing: Failure | undefined;
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
   * Connects unless connected; one attempt at a time. From now on the connection is kept up and failed attempts are
   * repeated.
   * @throws ComputeUnreachable, Failure `conflict` if a person must fix something
   */
  async connect(): Promise<void> {
    if (this.connected) return;
    if (this.#standing) throw this.#standing;
    await this.#attempted();
  }

  async #attempted(): Promise<void> {
    if (this.#connecting === undefined) {
      const attempt = this.#attempt().finally(() => {
        if (this.#connecting === attempt) this.#connecting = undefined;
      });
      this.#connecting = attempt;
    }
    await this.#connecting;
  }

  /**
   * A call over this transport was rejected: the connection ends, and no request is sent before the next attempt or a
   * change of credentials.
   */
  rejected(transport: ComputeTransport, rejection: Unauthorized): void {
    if (transport !== this.#current || this.#stopped) return;
    this.#standing = rejection;
    const feed = this.#feed;
    this.#lost();
    feed?.close();
    this.#events.failed(rejection.message);
    this.#retryIn(rejection.retryMs);
  }

  /** Changes address or credentials, and connects at once. */
  replace(transport: ComputeTransport): void {
    const old = this.#current;
    this.#current = transport;
    this.#failures = 0;
    this.#standing = undefined;
    this.#connecting = undefined;
    this.#feed = undefined;
    this.connected = false;
    old.close?.();
    this.#events.down();
    this.#retryIn(0);
  }

  /** Ends the connection for good. */
  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#retry);
    this.#feed?.close();
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
      const rejection = error instanceof Unauthorized ? error : undefined;
      this.#standing = rejection ?? (unreachable && error.late ? error : undefined);
      this.#events.failed(messageOf(error));
      this.#retryIn(unreachable ? UNREACHABLE_AGAIN_MS : (rejection?.retryMs ?? REFUSED_AGAIN_MS));
      throw error;
    }
    if (isCurrent()) return this.#join(introduction);
    introduction.feed.close();
    return this.#connectAfterChange();
  }

  /** Callers waiting for an attempt over the old transport get the connection over the new one. */
  #connectAfterChange(): Promise<void> {
    if (!this.#stopped) return this.connect();
    throw new ComputeUnreachable(`The compute ${this.#identity().name} was removed meanwhile.`);
  }

  #join({ feed, ...introduction }: Introduction): void {
    this.#feed = feed;
    this.connected = true;
    this.#failures = 0;
    this.#standing = undefined;
    this.#events.up(introduction);
    feed.listen({
      message: (message) => this.#events.notification(message),
      close: () => {
        if (this.#feed === feed) this.#lost();
      },
    });
  }

  #retryIn(delay: number): void {
    clearTimeout(this.#retry);
    if (this.#stopped) return;
    this.#retry = setTimeout(() => this.#tryAgain(), delay);
    this.#retry.unref();
  }

  #tryAgain(): void {
    if (this.connected) return;
    this.#attempted().catch((error: unknown) => {
      this.#failures += 1;
      if (this.#failures > 1) return;
      log.warn('compute is unavailable', { compute: this.#identity().id, reason: messageOf(error) });
    });
  }

  #lost(): void {
    if (!this.connected) return;
    this.#feed = undefined;
    this.connected = false;
    this.#events.down();
    this.#retryIn(AFTER_LOSS_MS);
  }
}
