// What benches measure a daemon by: its CPU time and its memory, as the kernel counts them.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const TICK = 1000 / Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

/** CPU time of a process in user and kernel, in milliseconds, all its threads together. */
export function cpuMilliseconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK;
}

/** Anonymous memory of a process, in MiB: what is its own and no file's. */
export function anonymousMegabytes(pid: number): number {
  return Number(/RssAnon:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] as number;
}

/** Rows of equal cells as a table that Markdown understands. */
export function table(rows: readonly (readonly string[])[]): string {
  const [head = [], ...body] = rows;
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...body.map(line)].join('\n');
}
