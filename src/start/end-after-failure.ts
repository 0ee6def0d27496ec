// The end of a process that has failed.
import { Failure, messageOf } from '../failures.ts';
import { harmlessLines } from '../host/terminal/terminal-text.ts';

/** Says what has failed, and lets the process end by itself; a server goes on until it is asked to end. */
export function endAfter(error: unknown): void {
  const said = error instanceof Failure ? messageOf(error) : String((error as Error).stack);
  process.stderr.write(`labwired: ${harmlessLines(said)}\n`);
  process.exitCode ??= 1;
  // Whatever was started before the failure must not keep a daemon alive that does not serve.
  setTimeout(() => process.exit(), 1_000).unref();
}
