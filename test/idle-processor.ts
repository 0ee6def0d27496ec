// Loaded before each file of tests: the file begins when a processor has time for it. Files that only wait run side by side; those that
// calculate would make each other so slow that their times run out.
import { cpus } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { isMainThread } from 'node:worker_threads';

const SAMPLE_MS = 250;
/** The share of all processors' time in a sample that must have been idle. */
const LEAST_IDLE = 0.08;
/** Then it begins whatever the others do. */
const LONGEST_WAIT_MS = 60_000;

/** Milliseconds since the start of the machine, of all processors together. */
function spent(): { idle: number; all: number } {
  const times = cpus().map((processor) => processor.times);
  const all = times.flatMap(({ user, nice, sys, idle, irq }) => [user, nice, sys, idle, irq]);
  return { idle: times.reduce((sum, { idle }) => sum + idle, 0), all: all.reduce((sum, one) => sum + one, 0) };
}

async function idleShare(): Promise<number> {
  const before = spent();
  await sleep(SAMPLE_MS);
  const after = spent();
  return (after.idle - before.idle) / (after.all - before.all);
}

if (isMainThread && process.env['NODE_TEST_CONTEXT'] !== undefined) {
  const deadline = performance.now() + LONGEST_WAIT_MS;
  while ((await idleShare()) < LEAST_IDLE && performance.now() < deadline);
}
