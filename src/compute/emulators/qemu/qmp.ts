// Client of a running machine's QMP, QEMU's machine protocol: JSON lines over a Unix socket.
// https://www.qemu.org/docs/master/interop/qmp-spec.html
import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { type Failure, messageOf } from '../../../failures.ts';
import { refusal } from './refusal.ts';

/** A busy machine or host may be slow to answer. */
const ANSWER_MS = 30_000;
/** The longest valid answer. A longer one means that another program is at the socket. */
const MOST_CHARACTERS = 4 * 1024 * 1024;

interface Waiting {
  resolve(value: unknown): void;
  reject(reason: Error): void;
}

interface Message {
  QMP?: object;
  return?: unknown;
  error?: { class: string; desc: string };
  event?: string;
  data?: Record<string, unknown>;
  id?: number;
}

interface QmpEvents {
  /** An event of the machine: `STOP`, `RESUME`, `SHUTDOWN`, `RESET` ... */
  event: [name: string, data: Record<string, unknown>];
  close: [];
}

export class Qmp extends EventEmitter<QmpEvents> {
  readonly #socket: Socket;
  readonly #waiting = new Map<number, Waiting>();
  readonly #greeting = Promise.withResolvers<void>();
  #rest = '';
  #next = 1;

  private constructor(socket: Socket) {
    super();
    this.#socket = socket;
    this.#greeting.promise.catch(() => {});
    socket.setEncoding('utf8');
    socket.on('data', (text: string) => this.#read(text));
    socket.on('error', () => {}); // 'close' follows
    socket.on('close', () => this.#over('its control connection was closed'));
  }

  /** Takes over a connection; resolves when the machine accepts commands, in so many milliseconds. */
  static async open(socket: Socket, milliseconds = ANSWER_MS): Promise<Qmp> {
    const qmp = new Qmp(socket);
    const late = setTimeout(() => socket.destroy(), milliseconds);
    try {
      await qmp.#greeting.promise;
      await qmp.run('qmp_capabilities', {}, milliseconds);
      return qmp;
    } catch (error) {
      socket.destroy();
      throw error;
    } finally {
      clearTimeout(late);
    }
  }

  /** @throws Failure `conflict` (`QemuError`) with the machine's message if the command fails or is not answered */
  async run(command: string, given: object = {}, milliseconds = ANSWER_MS): Promise<unknown> {
    const id = this.#next++;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    if (this.#socket.destroyed) throw failure(command, 'its control connection was closed');
    this.#waiting.set(id, { resolve, reject });
    this.#socket.write(`${JSON.stringify({ execute: command, arguments: given, id })}\n`);
    const late = setTimeout(() => reject(new Error('it does not answer')), milliseconds);
    try {
      return await promise;
    } catch (error) {
      throw failure(command, messageOf(error), error);
    } finally {
      clearTimeout(late);
      this.#waiting.delete(id);
    }
  }

  /** Runs a command of the human monitor, for functions without a QMP command. Returns its output. */
  async monitor(line: string, milliseconds?: number): Promise<string> {
    return String(await this.run('human-monitor-command', { 'command-line': line }, milliseconds));
  }

  /** Waits for this event, or the end of the connection. Call this before causing it. */
  next(wanted: string): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        this.off('event', hear).off('close', done);
        resolve();
      };
      const hear = (name: string): void => {
        if (name === wanted) done();
      };
      this.on('event', hear).on('close', done);
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  #read(text: string): void {
    this.#rest += text;
    if (this.#rest.length > MOST_CHARACTERS) return void this.#socket.destroy();
    const lines = this.#rest.split('\n');
    this.#rest = lines.pop()!;
    for (const line of lines) {
      if (line.trim() === '') continue;
      let message: Message;
      try {
        message = JSON.parse(line) as Message;
      } catch {
        return void this.#socket.destroy();
      }
      this.#take(message);
    }
  }

  #take(message: Message): void {
    if (message.QMP) this.#greeting.resolve();
    else if (message.event !== undefined) this.emit('event', message.event, message.data ?? {});
    else if (message.id !== undefined) {
      const waiting = this.#waiting.get(message.id);
      if (message.error) waiting?.reject(new Error(message.error.desc));
      else waiting?.resolve(message.return);
    }
  }

  #over(reason: string): void {
    this.#greeting.reject(new Error(reason));
    for (const { reject } of this.#waiting.values()) reject(new Error(reason));
    this.emit('close');
  }
}

function failure(command: string, why: string, cause?: unknown): Failure {
  return refusal(`The machine did not do '${command}': ${why}.`, cause);
}
