// Runs programs to their end for their output or effect.
import { spawn } from 'node:child_process';
import { messageOf } from '../../failures.ts';
import { childEnvironment } from './child-processes.ts';
import { withRights } from './inherited-rights.ts';

/** Characters of output that are kept of each stream. */
const MOST_KEPT_CHARACTERS = 64 * 1024;

export interface ProgramRun {
  /** Exit code; null if it was ended by a signal. */
  code: number | null;
  output: string;
  errors: string;
}

export interface RunOptions {
  environment?: Record<string, string>;
  /** Milliseconds after which it is killed. Default: no limit. */
  limit?: number;
  /** Kills it when aborted. */
  signal?: AbortSignal;
  /** Characters of output that are kept of each stream; 65,536 unless given. */
  mostKept?: number;
  /** Gives it the capabilities of this process. */
  rights?: boolean;
}

/**
 * Runs a program to its end, without a shell and without input. It has its own process group, so nothing of it outlives
 * the limit.
 * @throws Error that explains why there is no result: the program cannot be run, exceeded the limit, or was aborted
 */
export function runProgram(path: string, args: readonly string[], options: RunOptions = {}): Promise<ProgramRun> {
  const { environment = childEnvironment(), limit, signal, rights = false, mostKept = MOST_KEPT_CHARACTERS } = options;
  return new Promise((resolve, reject) => {
    const run = () => spawn(path, args, { env: environment, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    const child = rights ? withRights(run) : run();
    const kept = { output: '', errors: '' };
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
      child.stdout.destroy();
      child.stderr.destroy();
      try {
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      } catch {
        // no process of it is left
      }
    };
    const fail = (reason: string, cause?: unknown): void => {
      end();
      reject(new Error(reason, { cause }));
    };
    const timer =
      limit === undefined ? undefined : setTimeout(() => fail(`did not answer within ${limit / 1000} s`), limit);
    const abort = (): void => fail('was ended because no request waits for it any more');
    signal?.addEventListener('abort', abort);
    for (const [name, stream] of [
      ['output', child.stdout],
      ['errors', child.stderr],
    ] as const) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        if (kept[name].length < mostKept) kept[name] += text;
      });
    }
    child.once('error', (error) => fail(`cannot be run (${messageOf(error)})`, error));
    child.once('close', (code) => {
      end();
      resolve({ code, ...kept });
    });
    if (signal?.aborted) abort();
  });
}
