// The CPU limit of a machine: an additional cpulimit process, as in release 2.2.57. It needs no rights, and keeps
// running while the server is down.
import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { findProgram } from '../../../host/processes/program-path.ts';
import { type Companion, reattachCompanion, startCompanion } from '../../nodes/lifecycle/node-program.ts';
import { KEPT } from './kept.ts';
import type { MachineOwner } from './qemu-host.ts';
import { refusal } from './refusal.ts';

const PROGRAM = 'cpulimit';
/** Time (ms) within which the end of an ended machine is known. */
const END_MS = 1000;

/**
 * The program that limits a machine; undefined without a limit.
 * @param percent of one core; 0 for no limit
 * @throws Failure `conflict` (`QemuError`) if it is not installed
 */
export async function throttleProgram(percent: number): Promise<string | undefined> {
  if (percent === 0 || percent >= availableParallelism() * 100) return undefined;
  const path = await findProgram(PROGRAM);
  if (path !== undefined) return path;
  const message = `cpu_throttling: there is no ${PROGRAM} on this host (Debian: apt install ${PROGRAM}); install it, or set 0.`;
  throw refusal(message);
}

export interface ThrottleOptions {
  node: MachineOwner;
  /** The machine's process, while it runs. */
  pid(): number | undefined;
}

export class Throttle implements AsyncDisposable {
  readonly #options: ThrottleOptions;
  #running: AsyncDisposableStack | undefined;

  constructor(options: ThrottleOptions) {
    this.#options = options;
  }

  /** @throws Failure `conflict` (`QemuError`); the limit is unchanged then */
  async set(percent: number): Promise<void> {
    const program = await throttleProgram(percent);
    await this[Symbol.asyncDispose]();
    const pid = this.#options.pid();
    if (program === undefined || pid === undefined) return;
    await using resources = new AsyncDisposableStack();
    const command = [program, '--lazy', `--pid=${pid}`, `--limit=${percent}`];
    const terminal = await startCompanion(this.#companion, command, resources);
    this.#watch(terminal);
    this.#running = resources.move();
  }

  /** Reattaches cpulimit of the server's previous run, or starts it again if it has ended. */
  async reattach(percent: number): Promise<void> {
    await using resources = new AsyncDisposableStack();
    const terminal = reattachCompanion(this.#companion, resources);
    if (!terminal) {
      this.#wake();
      return this.set(percent);
    }
    this.#watch(terminal);
    this.#running = resources.move();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    await running?.disposeAsync();
    if (running) this.#wake();
  }

  get #companion(): Companion {
    const { node } = this.#options;
    return { kind: 'qemu', version: KEPT.version, role: 'throttle', node, log: 'cpulimit.log' };
  }

  #watch(terminal: Awaited<ReturnType<typeof startCompanion>>): void {
    terminal.once('exit', ({ expected }) => {
      if (!expected) void this.#missed();
    });
  }

  /** It ended unexpectedly: the machine must not stay stopped. */
  async #missed(): Promise<void> {
    this.#wake();
    await sleep(END_MS);
    const { node, pid } = this.#options;
    if (pid() === undefined) return;
    const message = `${node.name} is not throttled any more: ${PROGRAM} has ended; set cpu_throttling again.`;
    node.services.events.emit('log.warning', { message }, node.project.id);
  }

  /** cpulimit stops and continues the machine in turn, and may have left it stopped. */
  #wake(): void {
    const pid = this.#options.pid();
    try {
      if (pid !== undefined) process.kill(pid, 'SIGCONT');
    } catch {
      // it has ended
    }
  }
}
