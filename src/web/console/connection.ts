// The connection of a terminal with a node's console, made again when it breaks off.
import { signal } from '@preact/signals';
import { openSocket } from '../model/server/sockets.ts';

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;

/** `off`: the node does not run. */
export type ConnectionState = 'connecting' | 'open' | 'lost' | 'off';

export interface ConnectionOptions {
  /** Of the WebSocket, below `/v2`. */
  path: string;
  /** The query of an opening. */
  query?(): Record<string, string>;
  /** A new socket: what it sends begins with what was there before. */
  opened(socket: WebSocket): void;
}

export class Connection {
  readonly state = signal<ConnectionState>('off');
  /** What the server said when it ended the last connection; empty without a word. */
  readonly reason = signal('');
  readonly #options: ConnectionOptions;
  #socket: WebSocket | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #pause = FIRST_PAUSE_MS;
  #isWanted = false;
  /** Counts attempts: what an earlier one brings is not wanted any more. */
  #attempt = 0;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    addEventListener('online', this.#online);
  }

  /** Connects while the node runs, and not while it does not. */
  set isRunning(isRunning: boolean) {
    if (isRunning === this.#isWanted) return;
    this.#isWanted = isRunning;
    this.#pause = FIRST_PAUSE_MS;
    if (isRunning) void this.#connect();
    else this.#end('off');
  }

  stop(): void {
    removeEventListener('online', this.#online);
    this.#isWanted = false;
    this.#end('off');
  }

  /** Connects anew: something else is allowed now. */
  again(): void {
    if (this.state.peek() === 'open') void this.#connect();
  }

  /** False when nothing is connected. */
  send(data: string | Uint8Array<ArrayBuffer>): boolean {
    if (this.#socket?.readyState !== WebSocket.OPEN) return false;
    this.#socket.send(data);
    return true;
  }

  readonly #online = (): void => {
    if (this.state.value === 'lost') void this.#connect();
  };

  #end(state: ConnectionState): void {
    this.#attempt += 1;
    clearTimeout(this.#timer);
    const socket = this.#socket;
    this.#socket = undefined;
    socket?.close();
    this.state.value = state;
  }

  async #connect(): Promise<void> {
    this.#end('connecting');
    const attempt = this.#attempt;
    const { path, query, opened } = this.#options;
    const socket = await openSocket(path, query?.()).catch(() => undefined);
    if (attempt !== this.#attempt) return socket?.close();
    if (!socket) return this.#lost();
    this.#socket = socket;
    this.#pause = FIRST_PAUSE_MS;
    this.state.value = 'open';
    this.reason.value = '';
    // A listener, as clients of displays take `onclose` for themselves.
    socket.addEventListener('close', ({ reason }) => {
      if (socket !== this.#socket) return;
      this.reason.value = reason;
      this.#lost();
    });
    opened(socket);
  }

  #lost(): void {
    this.#end('lost');
    this.#timer = setTimeout(() => void this.#connect(), this.#pause * (0.75 + Math.random() / 2));
    this.#pause = Math.min(this.#pause * 2, LONGEST_PAUSE_MS);
  }
}
