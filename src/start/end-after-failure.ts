// Ends a process after a failure.
import { Failure, messageOf } from '../failures.ts';
import { harmlessLines } from '../host/terminal/terminal-text.ts';

/** Reports the failure and lets the process end; a running server continues until it is stopped. */
export function endAfter(error: unknown): void {
  const said = error instanceof Failure ? messageOf(error) : String((error as Error).stack);
  process.stderr.write(`labwired: ${harmlessLines(said)}\n`);
  process.exitCode ??= 1;
  // Things already started must not keep a useless daemon alive.
  setTimeout(() => process.exit(), 1_000).unref();
}
