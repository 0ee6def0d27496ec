// What benches measure a daemon by: its CPU time and its memory, as the kernel counts them.
import { readdirSync, readFileSync } from 'node:fs';

export const SHORT = 'LABWIRE_BENCH_SHORT';
/** Whether the bench is only to show that it works. */
export const isShort = Boolean(process.env[SHORT]);

/**
 * CPU time of a process in user and kernel, in milliseconds, all its threads together, to the nanosecond (field 1 of
 * /proc/PID/task/TID/schedstat; /proc/PID/stat counts hundredths of a second only).
 */
export function cpuMilliseconds(pid: number): number {
  const times = readdirSync(`/proc/${pid}/task`).map((thread) =>
    Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'latin1').split(' ')[0]),
  );
  return times.reduce((sum, nanoseconds) => sum + nanoseconds, 0) / 1e6;
}

/** What one of several operations took, in milliseconds: until the answer was there, and of the daemon's CPU. */
export interface Cost {
  clock: number;
  cpu: number;
}

/** Runs `count` operations one after the other; the CPU time is that of these processes together. */
export async function costOf(
  pids: number | readonly number[],
  count: number,
  operation: (index: number) => Promise<unknown>,
): Promise<Cost> {
  const cpuNow = () => [pids].flat().reduce((sum, pid) => sum + cpuMilliseconds(pid), 0);
  const [clock, cpu] = [performance.now(), cpuNow()];
  for (let index = 0; index < count; index++) await operation(index);
  return { clock: (performance.now() - clock) / count, cpu: (cpuNow() - cpu) / count };
}

/** The share of each of `count` things that one operation does. */
export async function shareOf(
  pids: number | readonly number[],
  count: number,
  operation: () => Promise<unknown>,
): Promise<Cost> {
  const { clock, cpu } = await costOf(pids, 1, operation);
  return { clock: clock / count, cpu: cpu / count };
}

/** Anonymous memory of a process, in MiB: what is its own and no file's. */
export function anonymousMegabytes(pid: number): number {
  return Number(/RssAnon:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

/** The value below which `share` of the values are; NaN of none. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** Rows of equal cells as a table that Markdown understands. */
export function table(rows: readonly (readonly string[])[]): string {
  const [head = [], ...body] = rows;
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...body.map(line)].join('\n');
}
