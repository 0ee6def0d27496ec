// The precision of the kernel's timers for programs: PR_SET_TIMERSLACK of prctl(2), through /proc.

import { writeFileSync } from 'node:fs';

// The file of the main thread; a thread may always write its own (proc(5), timerslack_ns).
const OWN = '/proc/self/timerslack_ns';

function set(nanoseconds: number): boolean {
  try {
    writeFileSync(OWN, String(nanoseconds));
    return true;
  } catch {
    return false; // the kernel does not have the file: programs are only woken more often
  }
}

/**
 * Runs `start` so that the kernel may wake a program started in it, with all its threads, up to `milliseconds` late
 * from sleeps and time-outs. Input still wakes it at once. Main thread only; `start` must be synchronous.
 */
export function withTimerSlack<Result>(milliseconds: number, start: () => Result): Result {
  if (milliseconds === 0 || !set(Math.round(milliseconds * 1e6))) return start();
  try {
    return start();
  } finally {
    set(0); // back to this thread's initial value
  }
}
