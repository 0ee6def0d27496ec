// Keeps the connection to one compute: made once however many ask for it, made again when it is lost.
import { messageOf } from '../../failures.ts';
import { log } from '../../host/log.ts';
import type { MessageSocket, SocketData } from '../../http/sockets.ts';
import { type Capabilities, introduce, NotLetIn } from './handshake.ts';
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
  /** It did not let this server in: whoever asks is told so until the next attempt, as each one counts there as a wrong guess. */
  #notLetIn: NotLetIn | undefined;
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
    if (this.#notLetIn) throw this.#notLetIn;
    this.#connecting ??= this.#attempt().finally(() => {
      this.#connecting = undefined;
    });
    await this.#connecting;
  }

  /** Goes another way from now on; connects anew, a little later or with the next call. */
  replace(transport: ComputeTransport): void {
    const old = this.#current;
    this.#current = transport;
    this.#failures = 0;
    this.#notLetIn = undefined;
    this.#socket = undefined;
    this.connected = false;
    old.close?.();
    this.#events.down();
    this.#retryIn(AFTER_LOSS_MS);
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
    try {
      const { capabilities, socket } = await introduce(transport, this.#identity());
      if (!isCurrent()) {
        socket.close(1000, '');
        throw new ComputeUnreachable(`The compute ${this.#identity().name} was changed meanwhile.`);
      }
      this.#join(capabilities, socket);
    } catch (error) {
      if (isCurrent()) {
        const unreachable = error instanceof ComputeUnreachable;
        if (error instanceof NotLetIn) this.#notLetIn = error;
        this.#events.failed(unreachable ? null : messageOf(error));
        this.#retryIn(unreachable ? UNREACHABLE_AGAIN_MS : REFUSED_AGAIN_MS);
      }
      throw error;
    }
  }

  #join(capabilities: Capabilities, socket: MessageSocket): void {
    this.#socket = socket;
    this.connected = true;
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
    this.#notLetIn = undefined;
    this.connect().catch((error: unknown) => {
      this.#failures += 1;
      if (this.#failures === 1) {
        log.warn('a compute is not there', { compute: this.#identity().id, reason: messageOf(error) });
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
