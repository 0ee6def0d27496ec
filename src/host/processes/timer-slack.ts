// How precisely the kernel wakes sleepers: PR_SET_TIMERSLACK of prctl(2), through /proc.

import { writeFileSync } from 'node:fs';

// The file of the main thread; a thread may always write its own (proc(5), timerslack_ns).
const OWN = '/proc/self/timerslack_ns';

function set(nanoseconds: number): boolean {
  try {
    writeFileSync(OWN, String(nanoseconds));
    return true;
  } catch {
    return false; // a kernel without the file: programs are merely woken more often
  }
}

/**
 * Runs `start` so that a program started within it, with all its threads, may be woken up to `milliseconds` late from
 * sleeps and time-outs. Input wakes it at once all the same. Main thread only; `start` must be synchronous.
 */
export function withTimerSlack<Result>(milliseconds: number, start: () => Result): Result {
  if (milliseconds === 0 || !set(Math.round(milliseconds * 1e6))) return start();
  try {
    return start();
  } finally {
    set(0); // back to what this thread was born with
  }
}
