// The first serial port of a machine as a console.
import type { Socket } from 'node:net';
import { Console } from '../../../consoles/console.ts';
import { conflict } from '../../../failures.ts';
import { connectWhenThere } from './unix-sockets.ts';

/** Limit of input that waits for a guest that does not read. */
const INPUT_BYTES = 256 * 1024;
/** Time limit (ms) for the machine's program to create the socket when the machine starts. */
const SOCKET_MS = 60_000;

export class SerialConsole {
  readonly console: Console;
  #socket: Socket | undefined;

  /** @param sendBreak sends a serial Break, if the machine's program can */
  constructor(name: string, sendBreak?: () => void) {
    this.console = new Console({
      name,
      write: (bytes) => this.#write(bytes),
      ...(sendBreak ? { sendBreak } : {}),
    });
  }

  /** Connects it to the machine's socket. */
  open(socket: Socket): void {
    this.#socket = socket;
    socket.on('data', (bytes) => this.console.output(bytes));
    socket.on('error', () => {}); // the machine has ended; its process reports that
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

/**
 * Opens the console of a starting machine, and connects it to the socket `directory/id` as soon as that exists;
 * `resources` close it.
 * @throws Failure `conflict` (`NodeError`) if the socket does not appear within `limit` milliseconds
 */
export async function openSerialConsole(
  directory: string,
  { id, name }: { id: string; name: string },
  resources: AsyncDisposableStack,
  limit = SOCKET_MS,
): Promise<{ serial: SerialConsole; socket: Socket }> {
  const deadline = performance.now() + limit;
  const socket = await connectWhenThere(directory, id, () => performance.now() > deadline);
  if (!socket) {
    const message = `The serial port of ${name} does not come within ${limit / 1000} s; set console_type to none.`;
    throw conflict(message, { exception: 'NodeError' });
  }
  const serial = new SerialConsole(name);
  serial.open(socket);
  resources.defer(() => serial.close());
  return { serial, socket };
}
