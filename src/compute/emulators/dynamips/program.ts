// Finds the dynamips program on this host, and its version.
import { stat } from 'node:fs/promises';
import { messageOf } from '../../../failures.ts';
import { childEnvironment } from '../../../host/processes/child-processes.ts';
import { findProgram } from '../../../host/processes/program-path.ts';
import { runProgram } from '../../../host/processes/run-program.ts';
import { refusal } from './platforms.ts';

const PROBE_MS = 5000;
const OLDEST = [0, 2, 11] as const;
/** From this version on its consoles may listen elsewhere than its control port. */
const BINDS_CONSOLES = [0, 2, 23] as const;

export interface DynamipsProgram {
  /** Absolute path, or the configured value if it contains a `/`. */
  path: string;
  /** Such as `0.2.14`. */
  version: string;
  /** Supports `--console-binding-addr`. */
  bindsConsoles: boolean;
}

interface Known {
  /** Identity of the checked file: modification time and size. */
  stamp: string;
  program: Promise<DynamipsProgram>;
}

/** By path. A changed file is checked again; failures are not cached. */
const known = new Map<string, Known>();

/**
 * @param configured value of `dynamips_path` in section `[Dynamips]`
 * @throws Failure `conflict` (`DynamipsError`) if it is missing, hangs, is another program or too old
 */
export async function findDynamips(configured: string, limit = PROBE_MS): Promise<DynamipsProgram> {
  const path = await findProgram(configured, childEnvironment()['PATH']);
  if (path === undefined) {
    throw failure(
      `no program '${configured}' found; install it (Debian: apt install dynamips, of the component non-free) or set dynamips_path in section [Dynamips] to where it is`,
    );
  }
  const { mtimeMs, size } = await stat(path);
  const stamp = `${mtimeMs} ${size}`;
  const former = known.get(path);
  if (former?.stamp === stamp) return former.program;
  const program = probe(path, limit);
  known.set(path, { stamp, program });
  program.catch(() => {
    if (known.get(path)?.program === program) known.delete(path);
  });
  return program;
}

/** The version in the program's output, undefined if this is not Dynamips. */
export function parseVersion(text: string): string | undefined {
  return /Cisco Router Simulation Platform \(version ([0-9][\w.]*)/.exec(text)?.[1];
}

/** Whether a version, such as `0.2.23-amd64`, is at least this one. */
export function isAtLeast(version: string, least: readonly number[]): boolean {
  const parts = version.split(/[.-]/).map((part) => Number.parseInt(part, 10) || 0);
  for (const [index, wanted] of least.entries()) {
    const part = parts[index] ?? 0;
    if (part !== wanted) return part > wanted;
  }
  return true;
}

async function probe(path: string, limit: number): Promise<DynamipsProgram> {
  const fix = 'set dynamips_path in section [Dynamips] to the dynamips program';
  let output: string;
  try {
    const run = await runProgram(path, ['-P', 'none'], { limit });
    output = run.output + run.errors;
  } catch (error) {
    throw failure(`'${path} -P none' ${messageOf(error)}; ${fix}`, error);
  }
  const version = parseVersion(output);
  if (version === undefined) throw failure(`'${path} -P none' does not answer as Dynamips does; ${fix}`);
  if (!isAtLeast(version, OLDEST)) throw failure(`${path} is version ${version}; install ${OLDEST.join('.')} or newer`);
  return { path, version, bindsConsoles: isAtLeast(version, BINDS_CONSOLES) };
}

function failure(message: string, cause?: unknown) {
  return refusal(`Dynamips cannot be used: ${message}`, cause);
}
