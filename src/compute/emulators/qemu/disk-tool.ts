// Runs qemu-img on the disks of machines: the one next to the emulator.
import { dirname, join } from 'node:path';
import { Failure, messageOf } from '../../../failures.ts';
import { findProgram } from '../../../host/processes/program-path.ts';
import { type ProgramRun, runProgram } from '../../../host/processes/run-program.ts';

export class DiskTool {
  readonly #path: string;

  private constructor(path: string) {
    this.#path = path;
  }

  /** @throws Failure `conflict` (`QemuError`) if it is missing */
  static async beside(emulator: string): Promise<DiskTool> {
    const path = join(dirname(emulator), 'qemu-img');
    if ((await findProgram(path)) !== undefined) return new DiskTool(path);
    const message = `There is no qemu-img beside ${emulator}; install it (Debian: apt install qemu-utils).`;
    throw new Failure('conflict', message, { exception: 'QemuError' });
  }

  /** @throws Failure `conflict` (`QemuError`) if it cannot be run, or ends with a code not in `allowed` */
  async run(args: readonly string[], allowed: readonly number[] = [0]): Promise<ProgramRun> {
    const run = await runProgram(this.#path, args).catch((thrown: unknown) => {
      throw this.#failure(args, messageOf(thrown), thrown);
    });
    if (run.code !== null && allowed.includes(run.code)) return run;
    throw this.#failure(args, run.errors.trim() || `it ended with code ${run.code}`);
  }

  /** An image's properties: format and saved states. */
  async describe(path: string): Promise<{ format: string; snapshots: string[] }> {
    const { output } = await this.run(['info', '-U', '--output=json', path]);
    const { format, snapshots = [] } = JSON.parse(output) as { format: string; snapshots?: { name: string }[] };
    return { format, snapshots: snapshots.map(({ name }) => name) };
  }

  #failure([verb = '']: readonly string[], why: string, cause?: unknown): Failure {
    return new Failure('conflict', `${this.#path} ${verb}: ${why}`, { exception: 'QemuError', cause });
  }
}
