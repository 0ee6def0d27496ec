// A console that the emulator offers on a loopback port, as the node's console: telnet commands are removed.
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Console } from '../../../consoles/console.ts';
import { escapeTelnet } from '../../../consoles/telnet.ts';
import { refusal } from './platforms.ts';

/** Limit of input that waits for a router that does not read. */
const INPUT_BYTES = 256 * 1024;
/** The emulator listens as soon as the router is on, and greets at once. */
const GREETING_MS = 10_000;
const POLL_MS = 20;
/** Another greeting means another program. */
const GREETING = 'Connected to Dynamips VM';
/** Output of the starting router may come before the greeting, because two threads of the emulator write. */
const BEFORE_GREETING_CHARACTERS = 16 * 1024;

const IAC = 255;
const WONT = 252;
const DO = 253;
const WILL = 251;
const DONT = 254;
const TERMINAL_TYPE = 24;

/** Removes telnet commands (RFC 854). Input may be split at any byte. */
export class TelnetFilter {
  #state: 'data' | 'command' | 'option' = 'data';
  #verb = 0;

  receive(chunk: Buffer): { data: Buffer; reply: Buffer } {
    if (this.#state === 'data' && !chunk.includes(IAC)) return { data: chunk, reply: Buffer.alloc(0) };
    const data: number[] = [];
    const reply: number[] = [];
    for (const byte of chunk) {
      if (this.#state === 'data') {
        if (byte === IAC) this.#state = 'command';
        else data.push(byte);
      } else if (this.#state === 'command') {
        this.#verb = byte;
        this.#state = byte >= WILL && byte <= DONT ? 'option' : 'data';
        if (byte === IAC) data.push(IAC);
      } else {
        this.#state = 'data';
        // The terminal type is unknown here: only the users have terminals.
        if (this.#verb === DO && byte === TERMINAL_TYPE) reply.push(IAC, WONT, byte);
      }
    }
    return { data: Buffer.from(data), reply: Buffer.from(reply) };
  }
}

export class ConsoleLine {
  readonly console: Console;
  readonly #host: string;
  readonly #port: number;
  #socket: Socket | undefined;

  constructor(name: string, host: string, port: number) {
    this.console = new Console({ name, write: (bytes) => this.#write(bytes) });
    this.#host = host;
    this.#port = port;
  }

  /**
   * Connects it to the router, which was just switched on or runs already.
   * @throws Failure `conflict` (`DynamipsError`) if the console does not answer
   */
  async open(isOver: () => boolean): Promise<void> {
    const deadline = performance.now() + GREETING_MS;
    for (;;) {
      const socket = await this.#connect().catch(() => undefined);
      if (socket) return this.#greet(socket, deadline - performance.now());
      if (isOver() || performance.now() > deadline) throw this.#failure('no program listens there');
      await sleep(POLL_MS);
    }
  }

  close(): void {
    this.#socket?.destroy();
    this.#socket = undefined;
  }

  #connect(): Promise<Socket> {
    const socket = connect(this.#port, this.#host);
    return new Promise((resolve, reject) => {
      socket.once('connect', () => resolve(socket));
      socket.once('error', reject);
    });
  }

  async #greet(socket: Socket, limit: number): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const filter = new TelnetFilter();
    let greeting = '';
    const late = setTimeout(() => reject(this.#failure('no hypervisor answers there')), Math.max(limit, 1));
    socket.removeAllListeners('error');
    socket.on('error', () => {}); // 'close' follows; the router's end is reported elsewhere
    socket.on('close', () => reject(this.#failure('the connection was closed')));
    socket.on('data', (chunk) => {
      const { data, reply } = filter.receive(chunk);
      if (reply.length > 0) socket.write(reply);
      if (data.length > 0) this.console.output(data);
      if (greeting.length > BEFORE_GREETING_CHARACTERS) return;
      greeting += data.toString('latin1');
      if (greeting.includes(GREETING)) resolve();
      else if (greeting.length > BEFORE_GREETING_CHARACTERS) reject(this.#failure('another program has the port'));
    });
    try {
      await promise;
      this.#socket = socket;
    } catch (error) {
      socket.destroy();
      throw error;
    } finally {
      clearTimeout(late);
    }
  }

  #failure(why: string) {
    return refusal(
      `the console of '${this.console.name}' at port ${this.#port} cannot be had: ${why}; start it again.`,
    );
  }

  #write(bytes: Buffer): boolean {
    const socket = this.#socket;
    if (!socket?.writable || socket.writableLength + bytes.length > INPUT_BYTES) return false;
    socket.write(escapeTelnet(bytes));
    return true;
  }
}
