// Programs that are run for what they print or do, and end by themselves.
import { spawn } from 'node:child_process';
import { messageOf } from '../../failures.ts';
import { childEnvironment } from './child-processes.ts';
import { withRights } from './inherited-rights.ts';

/** Characters of a program's words that are kept of each stream. */
const MOST_KEPT_CHARACTERS = 64 * 1024;

export interface ProgramRun {
  /** Exit code; null if a signal ended it. */
  code: number | null;
  output: string;
  errors: string;
}

export interface RunOptions {
  environment?: Record<string, string>;
  /** Milliseconds after which it is killed; no limit when not given. */
  limit?: number;
  /** Kills it when aborted. */
  signal?: AbortSignal;
  /** It has the capabilities of this process. */
  rights?: boolean;
}

/**
 * Runs a program to its end, without a shell and without input. It has its own process group, so that nothing of it outlives
 * the limit.
 * @throws Error that says in words why there is no result: it cannot be run, it did not answer within the limit, nobody waits for it
 */
export function runProgram(path: string, args: readonly string[], options: RunOptions = {}): Promise<ProgramRun> {
  const { environment = childEnvironment(), limit, signal, rights = false } = options;
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
        // nothing of it is left
      }
    };
    const fail = (reason: string, cause?: unknown): void => {
      end();
      reject(new Error(reason, { cause }));
    };
    const timer =
      limit === undefined ? undefined : setTimeout(() => fail(`did not answer within ${limit / 1000} s`), limit);
    const abort = (): void => fail('was ended, as nobody waits for it any more');
    signal?.addEventListener('abort', abort);
    for (const [name, stream] of [
      ['output', child.stdout],
      ['errors', child.stderr],
    ] as const) {
      stream.setEncoding('latin1').on('data', (text: string) => {
        if (kept[name].length < MOST_KEPT_CHARACTERS) kept[name] += text;
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
