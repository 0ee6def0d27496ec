// Runs qemu-img on the disks of machines: the one next to the emulator.
import { dirname, join } from 'node:path';
import { type Failure, messageOf } from '../../../failures.ts';
import { findProgram } from '../../../host/processes/program-path.ts';
import { type ProgramRun, type RunOptions, runProgram } from '../../../host/processes/run-program.ts';
import { refusal } from './refusal.ts';

/** A piece of a disk as qemu-img shows it. */
export interface Extent {
  start: number;
  length: number;
  /** 0 is the file itself, more one that it is on. */
  depth: number;
  /** Undefined before QEMU 6.1. */
  present?: boolean;
  zero: boolean;
  /** In the file; undefined for zeros. */
  offset?: number;
}

/** Characters of a map: some hundred for each of at most so many extents. */
const MOST_MAP_CHARACTERS = 16 * 1024 * 1024;

export class DiskTool {
  readonly #path: string;

  private constructor(path: string) {
    this.#path = path;
  }

  /** @throws Failure `conflict` (`QemuError`) if it is missing */
  static async beside(emulator: string): Promise<DiskTool> {
    const path = join(dirname(emulator), 'qemu-img');
    if ((await findProgram(path)) !== undefined) return new DiskTool(path);
    throw refusal(`There is no qemu-img beside ${emulator}; install it (Debian: apt install qemu-utils).`);
  }

  /** @throws Failure `conflict` (`QemuError`) if it cannot be run, or ends with a code not in `allowed` */
  async run(
    args: readonly string[],
    allowed: readonly number[] = [0],
    { path = this.#path, ...options }: Pick<RunOptions, 'mostKept' | 'signal'> & { path?: string } = {},
  ): Promise<ProgramRun> {
    const run = await runProgram(path, args, options).catch((thrown: unknown) => {
      throw failure(path, args, messageOf(thrown), thrown);
    });
    if (run.code !== null && allowed.includes(run.code)) return run;
    throw failure(path, args, run.errors.trim() || `it ended with code ${run.code}`);
  }

  /** Which parts of a qcow2 disk are where. */
  async map(path: string, signal: AbortSignal): Promise<Extent[]> {
    const words = ['map', '--output=json', '-f', 'qcow2', path];
    const { output } = await this.run(words, [0], { mostKept: MOST_MAP_CHARACTERS, signal });
    if (output.length >= MOST_MAP_CHARACTERS) throw failure(this.#path, words, `${path} has too many parts`);
    return JSON.parse(output) as Extent[];
  }

  /** Runs commands of qemu-io, which is beside qemu-img, on a qcow2 disk. */
  async write(path: string, commands: readonly string[]): Promise<void> {
    const words = ['-f', 'qcow2', ...commands.flatMap((command) => ['-c', command]), path];
    const { output, errors } = await this.run(words, [0], { path: join(dirname(this.#path), 'qemu-io') });
    // Before QEMU 2.12, and for wrong commands, it ends with 0.
    const said = `${output}${errors}`.trim();
    if (said !== '') throw failure('qemu-io', ['write'], said);
  }

  /** An image's properties: format and saved states. */
  async describe(path: string): Promise<{ format: string; snapshots: string[] }> {
    const { output } = await this.run(['info', '-U', '--output=json', path]);
    const { format, snapshots = [] } = JSON.parse(output) as { format: string; snapshots?: { name: string }[] };
    return { format, snapshots: snapshots.map(({ name }) => name) };
  }
}

function failure(path: string, [verb = '']: readonly string[], why: string, cause?: unknown): Failure {
  return refusal(`${path} ${verb}: ${why}`, cause);
}
