// Ends a process after a failure.
import { Failure, messageOf } from '../failures.ts';
import { harmlessLines } from '../host/terminal/terminal-text.ts';

/** Reports the failure and lets the process end; a running server continues until it is stopped. */
export function endAfter(thrown: unknown): void {
  let error = thrown;
  // The cleanup has failed, too; the first failure is the reason.
  while (error instanceof SuppressedError) error = error.suppressed;
  // By name too: scripts of their own (src/cluster) have another class of that name.
  const isExpected = error instanceof Failure || (error as Error).name === 'Failure';
  const said = isExpected ? messageOf(error) : String((error as Error).stack);
  process.stderr.write(`labwired: ${harmlessLines(said)}\n`);
  process.exitCode ??= 1;
  // Things already started must not keep a useless daemon alive.
  setTimeout(() => process.exit(), 1_000).unref();
}
