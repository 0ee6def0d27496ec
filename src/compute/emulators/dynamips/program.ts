// The dynamips program on this host: where it is and which version.
import { stat } from 'node:fs/promises';
import { messageOf } from '../../../failures.ts';
import { childEnvironment } from '../../../host/processes/child-processes.ts';
import { findProgram } from '../../../host/processes/program-path.ts';
import { runProgram } from '../../../host/processes/run-program.ts';
import { refusal } from './platforms.ts';

const PROBE_MS = 5000;
const OLDEST = [0, 2, 11] as const;
/** From here on its consoles need not listen where its control port does. */
const BINDS_CONSOLES = [0, 2, 23] as const;

export interface DynamipsProgram {
  /** Absolute path, or what the configuration gives if it has a `/`. */
  path: string;
  /** Such as `0.2.14`. */
  version: string;
  /** Knows `--console-binding-addr`. */
  bindsConsoles: boolean;
}

interface Known {
  /** Identity of the file that was asked: modification time and size. */
  stamp: string;
  program: Promise<DynamipsProgram>;
}

/** By path; a changed file is asked again, a failure is not remembered. */
const known = new Map<string, Known>();

/**
 * @param configured value of `dynamips_path` in section `[Dynamips]`
 * @throws Failure `conflict` (`DynamipsError`) when it is missing, hangs, is something else or too old
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

/** The version in the program's own words, undefined if this is not Dynamips. */
export function parseVersion(text: string): string | undefined {
  return /Cisco Router Simulation Platform \(version ([0-9][\w.]*)/.exec(text)?.[1];
}

/** Whether a version, such as `0.2.23-amd64`, is this one or a later one. */
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
  if (!isAtLeast(version, OLDEST)) {
    throw failure(`${path} is version ${version}; install ${OLDEST.join('.')} or newer`);
  }
  return { path, version, bindsConsoles: isAtLeast(version, BINDS_CONSOLES) };
}

function failure(message: string, cause?: unknown) {
  return refusal(`Dynamips cannot be used: ${message}`, cause);
}
