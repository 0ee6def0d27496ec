// The QEMU guest agent in a machine: its file systems are frozen for the moment in which a copy of the disks begins.
// https://www.qemu.org/docs/master/interop/qemu-ga-ref.html
import type { Socket } from 'node:net';
import { ignore, messageOf } from '../../../failures.ts';
import { connectWhenThere } from '../../nodes/consoles/unix-sockets.ts';
import { AGENT_SOCKET } from './sockets.ts';

/** How long (ms) an agent may take to answer at all. */
const PRESENT_MS = 1_000;
/** Guests write what they have in memory before they freeze. */
const FREEZE_MS = 10_000;
const THAW_MS = 10_000;
/** Longest answer; another program than an agent may be in the guest. */
const MOST_CHARACTERS = 65_536;
const MOST_OF_REASON = 200;
/** The agent puts it before its answer to a synchronization: all earlier output is of former connections. */
const DELIMITER = '\xff';

export class GuestAgent implements Disposable {
  readonly #socket: Socket;
  #heard = '';
  #next: (() => void) | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => {
      this.#heard = (this.#heard + text).slice(-MOST_CHARACTERS);
      this.#next?.();
    });
    socket.on('error', () => {}); // 'close' follows
    socket.on('close', () => this.#next?.());
  }

  /** Undefined if no agent answers in the machine with this directory. */
  static async reach(directory: string): Promise<GuestAgent | undefined> {
    const socket = await connectWhenThere(directory, AGENT_SOCKET, () => true);
    if (!socket) return undefined;
    const agent = new GuestAgent(socket);
    const id = Math.floor(Math.random() * 2 ** 31);
    agent.#send('guest-sync-delimited', { id });
    const answered = await agent.#answer(PRESENT_MS, (text) => {
      const at = text.lastIndexOf(DELIMITER);
      return at < 0 ? undefined : lineOf(text.slice(at + 1));
    });
    if ((answered as { return?: unknown } | undefined)?.return === id) return agent;
    agent[Symbol.dispose]();
    return undefined;
  }

  /** @throws Error with the agent's reason, or that it does not answer */
  async run(command: string, milliseconds: number): Promise<unknown> {
    this.#heard = '';
    this.#send(command);
    const answer = await this.#answer(milliseconds, lineOf);
    if (answer === undefined) throw new Error(`${command}: the agent does not answer`);
    const { error, return: result } = answer as { error?: { desc?: string }; return?: unknown };
    if (error) throw new Error(`${command}: ${String(error.desc).slice(0, MOST_OF_REASON)}`);
    return result;
  }

  #send(command: string, given?: object): void {
    const text = JSON.stringify({ execute: command, ...(given && { arguments: given }) });
    // This byte resets the agent's parser.
    this.#socket.write(Buffer.from(`${given ? DELIMITER : ''}${text}\n`, 'latin1'));
  }

  async #answer(milliseconds: number, find: (text: string) => unknown): Promise<unknown> {
    const deadline = performance.now() + milliseconds;
    for (;;) {
      const found = find(this.#heard);
      const left = deadline - performance.now();
      if (found !== undefined || left <= 0 || this.#socket.destroyed) return found;
      const { promise, resolve } = Promise.withResolvers<void>();
      const late = setTimeout(resolve, left);
      this.#next = resolve;
      await promise;
      clearTimeout(late);
    }
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
  }
}

/** Its first whole line with an object of JSON; undefined as long as there is none. */
function lineOf(text: string): unknown {
  for (const line of text.split('\n').slice(0, -1)) {
    try {
      const found: unknown = JSON.parse(line);
      if (typeof found === 'object' && found !== null) return found;
    } catch {
      // Of another program, or cut off.
    }
  }
  return undefined;
}

async function thawFrozen(agent: GuestAgent): Promise<void> {
  if ((await agent.run('guest-fsfreeze-status', PRESENT_MS)) === 'frozen')
    await agent.run('guest-fsfreeze-thaw', THAW_MS);
}

/** Thaws what a killed server, or a failed thaw, has left frozen. Returns false if no agent answers. */
export async function thawLeft(directory: string): Promise<boolean> {
  using agent = await GuestAgent.reach(directory);
  if (agent) await thawFrozen(agent);
  return agent !== undefined;
}

/**
 * Freezes the file systems of a machine while something short is done, if an agent answers there.
 * @param warn called if they could not be frozen, or thawed
 */
export async function whileFrozen<T>(
  directory: string,
  act: () => Promise<T>,
  warn: (message: string) => void,
): Promise<T> {
  using agent = await GuestAgent.reach(directory);
  if (!agent) return await act();
  await thawFrozen(agent).catch(ignore);
  const isFrozen = await agent.run('guest-fsfreeze-freeze', FREEZE_MS).then(
    () => true,
    (error: unknown) => {
      warn(`its file systems are not frozen for a copy of its disks: ${messageOf(error)}`);
      return false;
    },
  );
  try {
    return await act();
  } finally {
    // Also after a failed freeze: the agent may have frozen some of them, or still be about to. Its answer may be the one to the freeze then.
    const isThawed = await agent.run('guest-fsfreeze-thaw', THAW_MS).then(
      () => isFrozen,
      () => false,
    );
    agent[Symbol.dispose]();
    if (!isThawed && !(await thawLeft(directory).catch(() => false)))
      warn(
        'its file systems may be frozen: the guest agent does not answer. Thaw them in the guest (fsfreeze --unfreeze), or restart it.',
      );
  }
}
