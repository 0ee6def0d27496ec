// Disk errors of a running machine. If space runs out QEMU halts the machine, which is resumed when space is free
// again.
import { statfs } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { DRIVES } from '../../../api/kinds/qemu.ts';
import { messageOf } from '../../../failures.ts';
import { log } from '../../../host/log.ts';
import type { MachineOwner } from './qemu-host.ts';
import type { Qmp } from './qmp.ts';

const POLL_MS = 1000;
/** Free space needed to resume a machine. */
const ENOUGH_BYTES = 16 * 1024 * 1024;

export interface DiskErrorsOptions {
  node: MachineOwner;
  qmp: Qmp;
  /** Directories of all files that the machine writes to. */
  directories: readonly string[];
  isOver(): boolean;
  /** If the user has suspended it, it must not be resumed here. */
  isSuspended(): boolean;
}

export class DiskErrors {
  readonly #options: DiskErrorsOptions;
  /** It waits for space, and resumes automatically. */
  isWaiting = false;
  lastError: string | undefined;
  #isReported = false;

  constructor(options: DiskErrorsOptions) {
    this.#options = options;
    options.qmp.on('event', (name, data) => {
      if (name === 'BLOCK_IO_ERROR') this.#hear(data);
    });
  }

  /** The machine is halted without space, perhaps since before the server's restart. */
  waitForSpace(drive = 'a disk'): void {
    if (this.isWaiting) return;
    this.isWaiting = true;
    const { directories } = this.#options;
    this.#tell(
      'log.error',
      `stands still, as there is no space for ${drive} in ${directories.join(' and ')}; make room, and it goes on by itself`,
    );
    void this.#goOn().catch((error: unknown) => {
      log.warn('a machine is not watched any more', { node: this.#options.node.id, reason: messageOf(error) });
    });
  }

  #hear({ device, action, nospace, operation, reason }: Record<string, unknown>): void {
    const number = /^drive([0-3])$/.exec(String(device))?.[1];
    const drive = number === undefined ? 'a disk' : DRIVES[Number(number)]!;
    const words = String(reason ?? 'without a reason').slice(0, 200);
    const error = `an error of ${drive} on this host (${String(operation)}): ${words}`;
    const lacksSpace = nospace === true && action === 'stop';
    this.lastError = lacksSpace ? `no space for ${drive} on this host` : error;
    if (lacksSpace) this.waitForSpace(drive);
    // A failing disk fails repeatedly. A halted machine is reported with this error.
    else if (!this.#isReported && action !== 'stop') {
      this.#isReported = true;
      this.#tell('log.error', `has ${error}`);
    }
  }

  async #goOn(): Promise<void> {
    const { qmp, isOver, isSuspended } = this.#options;
    while (!isOver()) {
      await sleep(POLL_MS);
      if (!(await this.#hasSpace()) || isOver()) continue;
      this.isWaiting = false;
      if (!isSuspended()) await qmp.run('cont');
      return this.#tell('log.info', 'goes on: there is space for its disks again');
    }
  }

  async #hasSpace(): Promise<boolean> {
    const free = await Promise.all(
      this.#options.directories.map(async (path) => {
        const found = await statfs(path).catch(() => undefined);
        return found ? found.bavail * found.bsize : 0;
      }),
    );
    return free.every((bytes) => bytes >= ENOUGH_BYTES);
  }

  #tell(action: 'log.error' | 'log.info', what: string): void {
    const { services, name, project } = this.#options.node;
    services.events.emit(action, { message: `${name} ${what}.` }, project.id);
  }
}
