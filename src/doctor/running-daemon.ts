// Finds the daemon that uses the state directory, without touching its lock (see src/store/lock.ts).
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCode } from '../failures.ts';
import { numberIn, textOf } from './kernel-files.ts';

function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    // Another user's process is one, too.
    return systemCode(thrown) === 'EPERM';
  }
}

/**
 * Process id of the daemon that uses the state directory. A killed daemon leaves its pid file, and another program may have the number by
 * now; the kernel's list of locks decides if it is available.
 */
export async function runningDaemon(state: string): Promise<number | undefined> {
  const pid = numberIn(join(state, 'labwired.pid'));
  if (!pid || !lives(pid)) return undefined;
  const lock = await stat(join(state, 'labwired.lock')).catch(() => undefined);
  const locks = textOf('/proc/locks');
  if (lock === undefined || locks === undefined) return pid;
  return new RegExp(`:${lock.ino}\\s`).test(locks) ? pid : undefined;
}
