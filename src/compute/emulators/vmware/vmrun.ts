// Runs vmrun, the program that drives VMware, and finds its product.
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../../failures.ts';
import { childEnvironment } from '../../../host/processes/child-processes.ts';
import { findProgram } from '../../../host/processes/program-path.ts';
import { runProgram } from '../../../host/processes/run-program.ts';
import { KeyedLock } from '../../../host/values/keyed-lock.ts';
import { refusals } from '../../nodes/exception-name.ts';

const FIX = 'install VMware Workstation or Player, or set vmrun_path in section [VMware] to where its vmrun is';
const CALL_MS = 120_000;
const VERSION_MS = 10_000;
/** Number of retries of a failed call. */
const REPEATS = 2;
const PAUSE_MS = 500;

export const EXCEPTION = 'VMwareError';

export const refusal = refusals(EXCEPTION);

/** The product that vmrun drives: Workstation or Player. */
export type HostType = 'ws' | 'player';

/** The oldest vmrun for a product of this release. */
function neededVmrun(type: HostType, release: number): string {
  if (release < (type === 'ws' ? 11 : 7)) return '1.13.0';
  return release < 12 ? '1.14.0' : '1.15.0';
}

function isOlder(version: string, needed: string): boolean {
  const [one, other] = [version, needed].map((text) => text.split('.').map(Number));
  for (const [index, part] of other!.entries()) {
    const difference = (one![index] ?? 0) - part;
    if (difference !== 0) return difference < 0;
  }
  return false;
}

const turns = new KeyedLock();

export class Vmrun {
  readonly path: string;
  /** The product's own program. */
  readonly product: string;
  #hostType: HostType;

  private constructor(path: string, product: string, hostType: HostType) {
    this.path = path;
    this.product = product;
    this.#hostType = hostType;
  }

  get hostType(): HostType {
    return this.#hostType;
  }

  /**
   * @param configured value of `vmrun_path` in section `[VMware]`; empty for the one on the search path
   * @throws Failure `conflict` (`VMwareError`) if it is missing or too old
   */
  static async find(configured: string): Promise<Vmrun> {
    if (configured !== '' && !['vmrun', 'vmrun.exe'].includes(basename(configured)))
      throw refusal(`vmrun_path: ${configured} is not called vmrun; ${FIX}.`);
    const path = await findProgram(configured || 'vmrun');
    if (path === undefined)
      throw refusal(`VMware cannot be used: there is no program ${configured || 'vmrun'}; ${FIX}.`);
    const { product, type, release } = await findProduct(dirname(path));
    const needed = neededVmrun(type, release);
    const version = /vmrun version ([\d.]+)/.exec(await words(path))?.[1];
    if (version === undefined) throw refusal(`${path} does not answer as vmrun does; ${FIX}.`);
    if (isOlder(version, needed)) throw refusal(`vmrun ${version} is too old: install VMware VIX ${needed} or later.`);
    return new Vmrun(path, product, type);
  }

  /**
   * Output of `vmrun -T <host type> <words>`; failing calls are tried three times.
   * @throws Failure `conflict` (`VMwareError`)
   */
  run(...command: readonly string[]): Promise<string> {
    return turns.run('vmrun', async () => {
      for (let left = REPEATS; ; left -= 1) {
        const { failure, output } = await this.#once(command);
        if (failure === undefined) return output;
        if (this.#hostType === 'ws' && failure.includes('VIX_SERVICEPROVIDER_VMWARE_WORKSTATION'))
          this.#hostType = 'player';
        if (left === 0) throw refusal(`VMware refuses ${command[0]}: ${failure}`);
        await sleep(PAUSE_MS);
      }
    });
  }

  async #once(command: readonly string[]): Promise<{ failure?: string; output: string }> {
    const all = ['-T', this.#hostType, ...command];
    try {
      const { code, output, errors } = await runProgram(this.path, all, { limit: CALL_MS });
      // It prints errors on both streams.
      return code === 0 ? { output } : { failure: `${output} ${errors}`.trim() || `exit code ${code}`, output };
    } catch (thrown) {
      return { failure: `it ${messageOf(thrown)}`, output: '' };
    }
  }
}

/** Next to vmrun, or on the search path. */
async function findProduct(directory: string): Promise<{ product: string; type: HostType; release: number }> {
  for (const [name, type, pattern, oldest] of [
    ['vmware', 'ws', /VMware Workstation (\d+)\./, 10],
    ['vmplayer', 'player', /VMware Player (\d+)\./, 6],
  ] as const) {
    const product = (await findProgram(join(directory, name))) ?? (await findProgram(name));
    if (product === undefined) continue;
    const release = Number(pattern.exec(await words(product, '-v'))?.[1] ?? 0);
    if (release >= oldest) return { product, type, release };
    throw refusal(`${product} is too old: install VMware Workstation 10 or Player 6, or later.`);
  }
  throw refusal(`VMware cannot be used: neither vmware nor vmplayer is beside vmrun or on the search path; ${FIX}.`);
}

/** A program's whole output, whatever its exit code; empty if it cannot be run. */
async function words(path: string, ...args: readonly string[]): Promise<string> {
  const options = { environment: childEnvironment(), limit: VERSION_MS };
  const { output, errors } = await runProgram(path, args, options).catch(() => ({ output: '', errors: '' }));
  return `${output}${errors}`;
}
