// The server's notifications, without holes: after a pause the stream goes on where it stopped, or says that it cannot.
import { signal } from '@preact/signals';
import { openSocket } from './sockets.ts';
import type { Message } from './types.ts';

/** Pings come every five seconds: after this time without any message the connection counts as lost. */
const SILENCE_MS = 12_000;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;
/** What was missed comes at once after the first message: after this time it is there. */
const BACKLOG_MS = 500;

export type Connection = 'connecting' | 'live' | 'lost';

export interface EventsOptions {
  /** Path of the socket below `/v2`. */
  path: string;
  /** More of what is asked for. */
  query?: Readonly<Record<string, string>>;
  message(message: Message): void;
  /**
   * Everything is to be read: `first` when the stream has begun, so that nothing that happens from then on is overlooked; `gap` when events
   * are missing that the server does not have any more.
   */
  missed(why: 'first' | 'gap'): void;
  /** The stream goes on where it broke off; `changes` events have happened meanwhile and were told. */
  resumed?(changes: number): void;
}

export class Events {
  readonly connection = signal<Connection>('connecting');
  /** When the last message came, and when the connection was lost; milliseconds of `Date.now()`, 0 for never. */
  readonly lastMessage = signal(0);
  readonly lostSince = signal(0);
  readonly #options: EventsOptions;
  #socket: WebSocket | undefined;
  /** Counts openings: what an earlier one brings is not wanted any more. */
  #attempts = 0;
  #since = 'now';
  #pause = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #over = false;
  /** Events of the time that this connection was away, while they come. */
  #backlog: { events: number; timer: ReturnType<typeof setTimeout> } | undefined;

  constructor(options: EventsOptions) {
    this.#options = options;
  }

  start(): void {
    // Not there outside of browsers.
    globalThis.addEventListener?.('online', this.again);
    globalThis.document?.addEventListener('visibilitychange', this.again);
    this.#connect();
  }

  stop(): void {
    this.#over = true;
    globalThis.removeEventListener?.('online', this.again);
    globalThis.document?.removeEventListener('visibilitychange', this.again);
    clearTimeout(this.#timer);
    clearTimeout(this.#backlog?.timer);
    this.#socket?.close();
  }

  /** Tries at once, without waiting for the end of the pause. */
  readonly again = (): void => {
    const isSilent = Date.now() - this.lastMessage.value > SILENCE_MS;
    if (this.connection.value === 'lost' || (this.connection.value === 'live' && isSilent)) this.#connect();
  };

  #connect(): void {
    clearTimeout(this.#timer);
    const former = this.#socket;
    this.#socket = undefined;
    former?.close();
    this.#attempts += 1;
    const attempt = this.#attempts;
    this.#watch(SILENCE_MS);
    openSocket(this.#options.path, { ...this.#options.query, since: this.#since }).then(
      (socket) => {
        if (attempt === this.#attempts && !this.#over) this.#follow(socket);
        else socket.close();
      },
      () => {
        if (attempt === this.#attempts) this.#lost();
      },
    );
  }

  #follow(socket: WebSocket): void {
    this.#socket = socket;
    let isFirst = true;
    socket.onmessage = ({ data }) => {
      if (socket !== this.#socket) return;
      const message = JSON.parse(String(data)) as Message;
      if (isFirst) this.#opened(message);
      else this.#received(message);
      isFirst = false;
    };
    socket.onclose = () => {
      if (socket === this.#socket) this.#lost();
    };
  }

  /** The first message of a connection, a ping: what was missed comes after it, so its number does not count yet. */
  #opened(ping: Message): void {
    this.#heard();
    if (this.#since === 'now') {
      this.#since = ping.sequence ?? 'now';
      this.#options.missed('first');
    } else {
      const timer = setTimeout(() => this.#caughtUp(), BACKLOG_MS);
      this.#backlog = { events: 0, timer };
    }
    this.#options.message(ping);
  }

  #received(message: Message): void {
    this.#heard();
    if (message.sequence !== undefined) this.#since = message.sequence;
    if (message.action === 'notifications.gap') {
      clearTimeout(this.#backlog?.timer);
      this.#backlog = undefined;
      this.#options.missed('gap');
    } else if (this.#backlog && message.action !== 'ping' && message.action !== 'compute.updated') {
      this.#backlog.events += 1;
    }
    this.#options.message(message);
  }

  #caughtUp(): void {
    const { events = 0 } = this.#backlog ?? {};
    this.#backlog = undefined;
    this.#options.resumed?.(events);
  }

  #heard(): void {
    this.#pause = 0;
    this.connection.value = 'live';
    this.lastMessage.value = Date.now();
    this.#watch(SILENCE_MS);
  }

  #watch(milliseconds: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#lost(), milliseconds);
  }

  #lost(): void {
    if (this.#over) return;
    clearTimeout(this.#backlog?.timer);
    this.#backlog = undefined;
    if (this.connection.value !== 'lost') this.lostSince.value = Date.now();
    const wasLive = this.connection.value === 'live';
    this.connection.value = 'lost';
    clearTimeout(this.#timer);
    // At once after a connection that worked: timers of tabs in the background may be a minute late, and a lab may close meanwhile.
    if (wasLive && this.#pause === 0) {
      this.#pause = FIRST_PAUSE_MS;
      this.#connect();
      return;
    }
    this.#pause = Math.min(Math.max(this.#pause, FIRST_PAUSE_MS), LONGEST_PAUSE_MS);
    this.#timer = setTimeout(() => this.#connect(), this.#pause * (0.75 + Math.random() / 2));
    this.#pause *= 2;
  }
}
