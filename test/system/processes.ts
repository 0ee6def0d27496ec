// What runs on this host, as far as a test may know and end it.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { isBelow } from '../../src/host/files/relative-path.ts';

function readOf<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** Processes (no zombies) whose working directory is this one or below it, removed or not. */
export function processesIn(directory: string): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => {
      const cwd = pid > 0 ? readOf(() => readlinkSync(`/proc/${pid}/cwd`)) : undefined;
      const place = cwd?.replace(/ \(deleted\)$/, '');
      return place !== undefined && (place === directory || isBelow(directory, place));
    });
}

/** Processes whose home directory this is, as that of a daemon under test and of all that it starts: also in a mount namespace. */
function processesAtHome(directory: string): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && pid !== process.pid)
    .filter((pid) =>
      readOf(() => readFileSync(`/proc/${pid}/environ`, 'utf8'))
        ?.split('\0')
        .includes(`HOME=${directory}`),
    );
}

/** Kills them all, and those that they start meanwhile. */
export function killAllIn(directory: string): void {
  for (let round = 0; round < 10; round++) {
    const left = [...processesIn(directory), ...processesAtHome(directory)];
    if (left.length === 0) return;
    for (const pid of left) readOf(() => process.kill(pid, 'SIGKILL'));
  }
}

/** Seconds of processor time that a process has used, all its threads together (fields 14 and 15 of proc_pid_stat(5)). */
export function cpuSeconds(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  // The kernel tells it in hundredths (USER_HZ).
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** MiB of anonymous memory of a process (proc_pid_status(5)). */
export function anonymousMebibytes(pid: number): number {
  return Number(/^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]) / 1024;
}
