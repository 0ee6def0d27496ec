// Finds the vpcs program on this host, and its version.

import { stat } from 'node:fs/promises';
import { conflict, type Failure, messageOf } from '../../../failures.ts';
import { childEnvironment } from '../../../host/processes/child-processes.ts';
import { findProgram } from '../../../host/processes/program-path.ts';
import { runProgram } from '../../../host/processes/run-program.ts';

const PROBE_MS = 5000;

export interface VpcsProgram {
  /** Absolute path, or the configured value if it contains a `/`. */
  path: string;
  /** As the program prints it, such as `0.5b2` or `0.8.3`. */
  version: string;
}

function failure(message: string, cause?: unknown): Failure {
  return conflict(`VPCS cannot be used: ${message}`, { exception: 'VPCSError', cause });
}

/** Standard output of `path -v`. */
async function versionText(path: string, environment: Record<string, string>, limit: number): Promise<string> {
  try {
    return (await runProgram(path, ['-v'], { environment, limit })).output;
  } catch (error) {
    const reason = `'${path} -v' ${messageOf(error)}`;
    throw failure(`${reason}; set vpcs_path in section [VPCS] to a working vpcs program`, error);
  }
}

/** The version in the program's output, undefined if this is not VPCS. */
export function parseVersion(text: string): string | undefined {
  return /Virtual PC Simulator, version ([0-9][\w.]*)/.exec(text)?.[1];
}

interface Known {
  /** Identity of the checked file: modification time and size. */
  stamp: string;
  program: Promise<VpcsProgram>;
}

/** Finds vpcs and reads its version, once per file. A changed file is checked again; failures are not cached. */
export class VpcsPrograms {
  readonly #known = new Map<string, Known>();
  readonly #environment: Record<string, string>;
  readonly #probeMilliseconds: number;

  /** `environment` is the program's own; a name without `/` is looked up on its PATH. */
  constructor(environment = childEnvironment(), probeMilliseconds = PROBE_MS) {
    this.#environment = environment;
    this.#probeMilliseconds = probeMilliseconds;
  }

  /** Whether the program exists. */
  async isInstalled(configured: string): Promise<boolean> {
    return (await findProgram(configured, this.#environment['PATH'])) !== undefined;
  }

  /**
   * @param configured value of `vpcs_path` in section `[VPCS]`
   * @throws Failure `conflict` (`VPCSError`) if it is missing, hangs or is another program
   */
  async find(configured: string): Promise<VpcsProgram> {
    const path = await findProgram(configured, this.#environment['PATH']);
    if (path === undefined) {
      throw failure(
        `no program '${configured}' found; install it (Debian: apt install vpcs) or set vpcs_path in section [VPCS] to where it is`,
      );
    }
    const { mtimeMs, size } = await stat(path);
    const stamp = `${mtimeMs} ${size}`;
    const known = this.#known.get(path);
    if (known?.stamp === stamp) return known.program;
    const program = this.#probe(path);
    this.#known.set(path, { stamp, program });
    program.catch(() => {
      if (this.#known.get(path)?.program === program) this.#known.delete(path);
    });
    return program;
  }

  async #probe(path: string): Promise<VpcsProgram> {
    const version = parseVersion(await versionText(path, this.#environment, this.#probeMilliseconds));
    if (version === undefined) {
      throw failure(`'${path} -v' does not answer as VPCS does; set vpcs_path in section [VPCS] to the vpcs program`);
    }
    return { path, version };
  }
}
