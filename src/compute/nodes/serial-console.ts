// The first serial port of a machine as a console.
import type { Socket } from 'node:net';
import { Console } from '../../consoles/console.ts';

/** Input that may wait for a guest that does not read. */
const INPUT_BYTES = 256 * 1024;

export class SerialConsole {
  readonly console: Console;
  #socket: Socket | undefined;

  constructor(name: string) {
    this.console = new Console({ name, write: (bytes) => this.#write(bytes) });
  }

  /** Joins it with the machine's socket. */
  open(socket: Socket): void {
    this.#socket = socket;
    socket.on('data', (bytes) => this.console.output(bytes));
    socket.on('error', () => {}); // the machine has ended; its process tells
  }

  close(): void {
    this.#socket?.destroy();
    this.#socket = undefined;
  }

  #write(bytes: Buffer): boolean {
    const socket = this.#socket;
    if (!socket?.writable || socket.writableLength + bytes.length > INPUT_BYTES) return false;
    socket.write(bytes);
    return true;
  }
}
