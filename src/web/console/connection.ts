// The connection of a terminal to a node's console. Reconnects when it is lost.
import { signal } from '@preact/signals';
import { openSocket } from '../model/server/sockets.ts';

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;

/** `off`: the node is not running. */
export type ConnectionState = 'connecting' | 'open' | 'lost' | 'off';

export interface ConnectionOptions {
  /** Path of the WebSocket below `/v2`. */
  path: string;
  /** Query parameters for opening it. */
  query?(): Record<string, string>;
  /** A new socket is open. It first sends the previous output again. */
  opened(socket: WebSocket): void;
}

export class Connection {
  readonly state = signal<ConnectionState>('off');
  /** The server's reason for closing the last connection; empty if it gave none. */
  readonly reason = signal('');
  readonly #options: ConnectionOptions;
  #socket: WebSocket | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #pause = FIRST_PAUSE_MS;
  #isWanted = false;
  /** Counts attempts, so that results of earlier ones are ignored. */
  #attempt = 0;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    addEventListener('online', this.#online);
  }

  /** Connects while the node is running, and disconnects otherwise. */
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

  /** Reconnects, because the rights have changed. */
  again(): void {
    if (this.state.peek() === 'open') void this.#connect();
  }

  /** Changes whenever the connection ends, so that clients notice one that is back already. */
  get attempt(): number {
    return this.#attempt;
  }

  /** False when there is no connection. */
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
    // A listener, because VNC clients set `onclose` themselves.
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
