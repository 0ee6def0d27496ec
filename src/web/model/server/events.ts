// The server's notifications without gaps: after a reconnect the stream resumes, or reports that events are missing.
import { signal } from '@preact/signals';
import { openSocket } from './sockets.ts';
import type { Message } from './types.ts';

/** Pings come every five seconds; without a message for this time the connection counts as lost. */
const SILENCE_MS = 12_000;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;
/** Code with which the server closes a connection that is no longer allowed. */
const NOT_ALLOWED = 1008;
/** Missed events follow the first message directly; after this time without another one they are counted. */
const BACKLOG_MS = 500;

/** Whether the event `number` is not after `last`: its number is not higher, or it is of the controller before. */
function isUpTo(number: string, last: string | undefined): boolean {
  const [[epoch, at], [lastEpoch, lastAt]] = [number.split('-'), (last ?? '').split('-')];
  return epoch !== lastEpoch || Number(at) <= Number(lastAt);
}

export type Connection = 'connecting' | 'live' | 'lost';

export interface EventsOptions {
  /** Path of the socket below `/v2`. */
  path: string;
  /** Further query parameters. */
  query?: Readonly<Record<string, string>>;
  message(message: Message): void;
  /**
   * Read everything: `first` after the stream has started, so that no later change is missed; `gap` when the server no longer has the
   * missed events.
   */
  missed(why: 'first' | 'gap'): void;
  /** The stream resumed; `changes` missed events were delivered. Called again with their new number if more come late. */
  resumed?(changes: number): void;
  /** The server has ended the stream, because it is no longer allowed as it was. It is opened again all the same. */
  refused?(): void;
}

export class Events {
  readonly connection = signal<Connection>('connecting');
  /** Time of the last message and of the loss of the connection (`Date.now()`), 0 for never. */
  readonly lastMessage = signal(0);
  readonly lostSince = signal(0);
  readonly #options: EventsOptions;
  #socket: WebSocket | undefined;
  /** Counts openings, so that messages of earlier ones are ignored. */
  #attempts = 0;
  #since = 'now';
  #pause = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #over = false;
  /** Missed events since the connection: those up to `last`, the first message's number. */
  #backlog: { events: number; last: string | undefined; timer: ReturnType<typeof setTimeout> } | undefined;

  constructor(options: EventsOptions) {
    this.#options = options;
  }

  start(): void {
    // Exists only in browsers.
    globalThis.addEventListener?.('online', this.again);
    globalThis.document?.addEventListener('visibilitychange', this.again);
    this.#connect();
  }

  stop(): void {
    this.#over = true;
    globalThis.removeEventListener?.('online', this.again);
    globalThis.document?.removeEventListener('visibilitychange', this.again);
    clearTimeout(this.#timer);
    this.#forgetMissed();
    this.#socket?.close();
  }

  /** Reconnects at once, without waiting for the pause to end. */
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
    socket.onclose = ({ code }) => {
      if (socket !== this.#socket) return;
      this.#lost();
      if (code === NOT_ALLOWED) this.#options.refused?.();
    };
  }

  /** Handles the first message of a connection, a ping. Missed events follow it, so its number does not count yet. */
  #opened(ping: Message): void {
    this.#heard();
    if (this.#since === 'now') {
      this.#since = ping.sequence ?? 'now';
      this.#options.missed('first');
    } else {
      this.#backlog = { events: 0, last: ping.sequence, timer: setTimeout(this.#tellMissed, BACKLOG_MS) };
    }
    this.#options.message(ping);
  }

  #received(message: Message): void {
    this.#heard();
    const { action, sequence } = message;
    if (sequence !== undefined) this.#since = sequence;
    if (action === 'notifications.gap') {
      this.#forgetMissed();
      this.#options.missed('gap');
    } else if (this.#backlog && action !== 'ping' && action !== 'compute.updated' && sequence !== undefined) {
      if (isUpTo(sequence, this.#backlog.last)) {
        this.#backlog.events += 1;
        clearTimeout(this.#backlog.timer);
        this.#backlog.timer = setTimeout(this.#tellMissed, BACKLOG_MS);
      }
    }
    this.#options.message(message);
  }

  readonly #tellMissed = (): void => this.#options.resumed?.(this.#backlog?.events ?? 0);

  #forgetMissed(): void {
    clearTimeout(this.#backlog?.timer);
    this.#backlog = undefined;
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
    this.#forgetMissed();
    if (this.connection.value !== 'lost') this.lostSince.value = Date.now();
    const wasLive = this.connection.value === 'live';
    this.connection.value = 'lost';
    clearTimeout(this.#timer);
    // Reconnect at once after a working connection: timers of background tabs may be a minute late, and the lab may close meanwhile.
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
