// The server's notifications, without holes: after a pause the stream goes on where it stopped, or says that it cannot.
import { signal } from '@preact/signals';
import { socketAddress } from './api.ts';
import type { Message } from './types.ts';

/** Pings come every five seconds: after this time without any message the connection counts as lost. */
const SILENCE_MS = 12_000;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;

export type Connection = 'connecting' | 'live' | 'lost';

export interface EventsOptions {
  /** Path of the socket below `/v2`. */
  path: string;
  message(message: Message): void;
  /** Events are missing: everything is to be read again. Also told once at the beginning. */
  missed(): void;
}

export class Events {
  readonly connection = signal<Connection>('connecting');
  readonly #options: EventsOptions;
  #socket: WebSocket | undefined;
  #since = 'now';
  #pause = FIRST_PAUSE_MS;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #over = false;

  constructor(options: EventsOptions) {
    this.#options = options;
  }

  start(): void {
    addEventListener('online', this.#again);
    this.#connect();
  }

  stop(): void {
    this.#over = true;
    removeEventListener('online', this.#again);
    clearTimeout(this.#timer);
    this.#socket?.close();
  }

  readonly #again = (): void => {
    if (this.connection.value === 'lost') this.#connect();
  };

  #connect(): void {
    clearTimeout(this.#timer);
    const former = this.#socket;
    this.#socket = undefined;
    former?.close();
    const socket = new WebSocket(socketAddress(`${this.#options.path}?since=${this.#since}`));
    this.#socket = socket;
    this.#watch(SILENCE_MS);
    socket.onmessage = ({ data }) => {
      if (socket === this.#socket) this.#received(JSON.parse(String(data)) as Message);
    };
    socket.onclose = () => {
      if (socket === this.#socket) this.#lost();
    };
  }

  #received(message: Message): void {
    const first = this.#since === 'now';
    if (message.sequence !== undefined) this.#since = message.sequence;
    this.#pause = FIRST_PAUSE_MS;
    this.connection.value = 'live';
    this.#watch(SILENCE_MS);
    if (first || message.action === 'notifications.gap') this.#options.missed();
    this.#options.message(message);
  }

  #watch(milliseconds: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#lost(), milliseconds);
  }

  #lost(): void {
    if (this.#over) return;
    this.connection.value = 'lost';
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#connect(), this.#pause * (0.75 + Math.random() / 2));
    this.#pause = Math.min(this.#pause * 2, LONGEST_PAUSE_MS);
  }
}
