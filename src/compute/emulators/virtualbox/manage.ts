// Runs VBoxManage, the program that drives VirtualBox: one call at a time, in English, with a time limit.
import { basename } from 'node:path';
import { messageOf } from '../../../failures.ts';
import { childEnvironment } from '../../../host/processes/child-processes.ts';
import { findProgram } from '../../../host/processes/program-path.ts';
import { type ProgramRun, runProgram } from '../../../host/processes/run-program.ts';
import { KeyedLock } from '../../../host/values/keyed-lock.ts';
import { refusals } from '../../nodes/exception-name.ts';

const NAMES = ['VBoxManage', 'vboxmanage', 'VBoxManage.exe'];
const FIX = 'install VirtualBox, or set vboxmanage_path in section [VirtualBox] to where its VBoxManage is';
const CALL_MS = 60_000;
/** Oldest version of the API, as `list systemproperties` shows it. */
const OLDEST = [4, 3] as const;

export const EXCEPTION = 'VirtualBoxError';

export const refusal = refusals(EXCEPTION);

/** Parses lines of `name<separator>value`, such as those of `--machinereadable`; removes quotes around values. */
function namedLines(text: string, separator: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const line of text.split(/\r?\n/)) {
    const at = line.indexOf(separator);
    if (at <= 0) continue;
    const [name, value] = [line.slice(0, at), line.slice(at + separator.length)].map((part) => part.trim());
    found.set(name!.replace(/^"(.*)"$/, '$1'), value!.replace(/^"(.*)"$/, '$1'));
  }
  return found;
}

export interface MachineEntry {
  vmname: string;
  /** MiB */
  ram: number;
}

/** Calls run one after the other: VirtualBox locks its machines during each. */
/** Its names on the search path. */
const SEARCHED = ['VBoxManage', 'vboxmanage'];

const turns = new KeyedLock();

async function findOn(names: readonly string[]): Promise<string | undefined> {
  for (const name of names) {
    const path = await findProgram(name);
    if (path !== undefined) return path;
  }
  return undefined;
}

export class VBoxManage {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  /**
   * @param configured value of `vboxmanage_path` in section `[VirtualBox]`; empty for the one on the search path
   * @throws Failure `conflict` (`VirtualBoxError`) if it is missing
   */
  static async find(configured: string): Promise<VBoxManage> {
    if (configured !== '' && !NAMES.includes(basename(configured))) {
      throw refusal(`vboxmanage_path: ${configured} is not called VBoxManage; ${FIX}.`);
    }
    const path = await findOn(configured === '' ? SEARCHED : [configured]);
    if (path !== undefined) return new VBoxManage(path);
    throw refusal(`VirtualBox cannot be used: there is no program ${configured || 'VBoxManage'}; ${FIX}.`);
  }

  /** Whether one is on the search path. */
  static async isInstalled(): Promise<boolean> {
    return (await findOn(SEARCHED)) !== undefined;
  }

  /**
   * Output of `VBoxManage --nologo <words>`.
   * @throws Failure `conflict` (`VirtualBoxError`) with its output if it fails or does not answer
   */
  run(...words: readonly string[]): Promise<string> {
    const environment = childEnvironment({ LANG: 'en' });
    return turns.run('VBoxManage', async () => {
      let run: ProgramRun;
      try {
        run = await runProgram(this.path, ['--nologo', ...words], { environment, limit: CALL_MS });
      } catch (thrown) {
        throw refusal(`VBoxManage ${words[0]} ${messageOf(thrown)}; ${FIX}.`, thrown);
      }
      if (run.code === 0) return run.output;
      throw refusal(
        `VirtualBox refuses ${words.slice(0, 2).join(' ')}: ${run.errors.trim() || `exit code ${run.code}`}`,
      );
    });
  }

  /** VirtualBox's capabilities on this host. @throws Failure `conflict` for a release before 4.3 */
  async systemProperties(): Promise<Map<string, string>> {
    const properties = namedLines(await this.run('list', 'systemproperties'), ':');
    const version = properties.get('API version');
    const [, major, minor] = /^(\d+)_(\d+)/.exec(version ?? '') ?? [];
    if (major === undefined) throw refusal(`VirtualBox did not report its API version; ${FIX}.`);
    if (Number(major) < OLDEST[0] || (Number(major) === OLDEST[0] && Number(minor) < OLDEST[1])) {
      throw refusal(`VirtualBox with API ${version} is too old: install release 4.3 or later.`);
    }
    return properties;
  }

  /** Properties of a machine, by its name or UUID. */
  async info(machine: string): Promise<Map<string, string>> {
    return namedLines(await this.run('showvminfo', '--machinereadable', '--', machine), '=');
  }

  /** Machines created by users: no clones of nodes, no unreadable ones. */
  async machines(): Promise<MachineEntry[]> {
    await this.systemProperties();
    const found: MachineEntry[] = [];
    for (const line of (await this.run('list', 'vms')).split(/\r?\n/)) {
      const [, vmname] = /^"(.*)" \{[^}]*\}$/.exec(line.trim()) ?? [];
      if (vmname === undefined || vmname === '<inaccessible>') continue;
      if ((await this.run('getextradata', vmname, 'GNS3/Clone')).trim() === 'Value: yes') continue;
      found.push({ vmname, ram: Number((await this.info(vmname)).get('memory') ?? 0) });
    }
    return found;
  }
}
