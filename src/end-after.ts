// The end of a process that has failed.
import { Failure, messageOf } from './failures.ts';

/** Says what has failed, and lets the process end by itself; a server goes on until it is asked to end. */
export function endAfter(error: unknown): void {
  process.stderr.write(`labwired: ${error instanceof Failure ? messageOf(error) : (error as Error).stack}\n`);
  process.exitCode ??= 1;
  // Whatever was started before the failure must not keep a daemon alive that does not serve.
  setTimeout(() => process.exit(), 1_000).unref();
}
