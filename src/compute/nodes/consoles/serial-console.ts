// The first serial port of a machine as a console.
import type { Socket } from 'node:net';
import { Console } from '../../../consoles/console.ts';
import { Failure } from '../../../failures.ts';
import { connectWhenThere } from './unix-sockets.ts';

/** Input that may wait for a guest that does not read. */
const INPUT_BYTES = 256 * 1024;
/** The program of a machine makes the socket when the machine starts. */
const SOCKET_MS = 60_000;

export class SerialConsole {
  readonly console: Console;
  #socket: Socket | undefined;

  /** @param sendBreak holds the line, where the machine's program can do that */
  constructor(name: string, sendBreak?: () => void) {
    this.console = new Console({
      ...{ name, write: (bytes) => this.#write(bytes) },
      ...(sendBreak ? { sendBreak } : {}),
    });
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

/**
 * The console of a machine that is being started, joined with the socket `directory/id` as soon as that is there; `resources` close it.
 * @throws Failure `conflict` (`NodeError`) when it does not come within `limit` milliseconds
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
    throw new Failure('conflict', message, { exception: 'NodeError' });
  }
  const serial = new SerialConsole(name);
  serial.open(socket);
  resources.defer(() => serial.close());
  return { serial, socket };
}
