// A running machine of another program, such as VirtualBox. Its first serial port is its console, and shows when it has
// ended.
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { conflict, messageOf } from '../../../failures.ts';
import { makePrivateDirectory } from '../../../host/files/directories.ts';
import { log } from '../../../host/log.ts';
import { openSerialConsole, type SerialConsole } from '../consoles/serial-console.ts';
import { EndingRuntime, type ExitInfo, type NodeRuntime } from '../lifecycle/node-runtime.ts';

export interface MachineOwner {
  readonly id: string;
  readonly name: string;
}

export abstract class MachineRuntime extends EndingRuntime implements NodeRuntime {
  readonly commandLine = '';
  isSuspended = false;
  protected readonly node: MachineOwner;
  /** Directory of the sockets of serial ports. */
  readonly #pipes: string;
  #serial: SerialConsole | undefined;
  #isStopping = false;

  /** @param folder for the sockets of serial ports, below the directory for temporary files */
  constructor(node: MachineOwner, folder: string) {
    super();
    this.node = node;
    this.#pipes = join(tmpdir(), folder);
  }

  /** Whether it runs, according to its program, or how it ended. */
  protected abstract look(): Promise<'running' | 'paused' | ExitInfo>;

  abstract suspend(): Promise<void>;
  abstract resume(): Promise<void>;
  /** Like the reset button of a PC. */
  abstract reset(): Promise<void>;

  get console() {
    return this.#serial?.console;
  }

  /** The machine was on when the server ended. Returns how it ended, if it did meanwhile. */
  async reattach(): Promise<ExitInfo | undefined> {
    const state = await this.look();
    if (typeof state === 'object') this.finish(state);
    else if (state === 'paused') this.isSuspended = true;
    return this.ended;
  }

  /**
   * Connects the console to the serial port, once the machine has created its socket.
   * @throws Failure `conflict` (`NodeError`) if the socket does not appear within `limit` milliseconds, or if its folder
   * is another user's
   */
  async connect(resources: AsyncDisposableStack, limit?: number): Promise<void> {
    await this.#makeFolder();
    const { serial, socket } = await openSerialConsole(this.#pipes, this.node, resources, limit);
    socket.once('close', () => void this.#lookWhetherOver());
    resources.defer(() => this.stopLooking());
    this.#serial = serial;
  }

  /** The socket path for the machine's console. */
  protected async makePipe(resources: AsyncDisposableStack): Promise<string> {
    await this.#makeFolder();
    const pipe = join(this.#pipes, this.node.id);
    await rm(pipe, { force: true });
    resources.defer(() => rm(pipe, { force: true }));
    return pipe;
  }

  /** Another user's folder would let that user take the console. */
  async #makeFolder(): Promise<void> {
    if (await makePrivateDirectory(this.#pipes)) return;
    const message = `${this.#pipes} belongs to another user: let root remove it, or set console_type to none.`;
    throw conflict(message, { exception: 'NodeError' });
  }

  /** Its end is intended: stop checking. */
  protected stopLooking(): void {
    this.#isStopping = true;
  }

  /** A machine that closes its serial port was switched off by its guest, or by its user. */
  async #lookWhetherOver(): Promise<void> {
    if (this.#isStopping) return;
    try {
      const state = await this.look();
      if (typeof state === 'string' || this.#isStopping) return;
      this.finish(state);
    } catch (thrown) {
      log.warn('cannot find out whether a machine runs', { node: this.node.id, reason: messageOf(thrown) });
    }
  }
}
