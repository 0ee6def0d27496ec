// Load of this host: processors, memory, swap, disk, in the members and units of the API's statistics.
import { readFileSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { cpus, loadavg } from 'node:os';
import { conflict } from '../../failures.ts';

/** Sent with every ping of a notification stream. */
export interface Usage {
  cpu_usage_percent: number;
  memory_usage_percent: number;
}

/** The answer of `GET /v2/compute/statistics`: memory and swap in bytes, everything else in whole percent. */
export interface ServerStatistics extends Usage {
  memory_total: number;
  /** Memory that programs could get without swapping. */
  memory_free: number;
  memory_used: number;
  swap_total: number;
  swap_free: number;
  swap_used: number;
  swap_usage_percent: number;
  /** For the file system of the given directory. */
  disk_usage_percent: number;
  /** Over the last 1, 5 and 15 minutes; 100 is as many runnable threads as processors. */
  load_average_percent: number[];
}

/**
 * Processor figures are measured at most this often (ms), so that many clients do not shorten each other's intervals.
 */
const REFRESH_MS = 1900;

/** Measures the processors between two calls. The first call gives the average since the host's start. */
export class LoadMeter {
  #busy = 0;
  #total = 0;
  #cpu = 0;
  #takenAt = Number.NEGATIVE_INFINITY;

  /** Percent with one decimal. */
  usage(): Usage {
    const memory = memoryOfHost();
    return {
      cpu_usage_percent: this.#cpuPercent(),
      memory_usage_percent: Math.round(percent(memory.total - memory.free, memory.total) * 10) / 10,
    };
  }

  /** @param directory whose file system's usage is reported */
  async statistics(directory: string): Promise<ServerStatistics> {
    const memory = memoryOfHost();
    const processors = Math.max(cpus().length, 1);
    return {
      memory_total: memory.total,
      memory_free: memory.free,
      memory_used: memory.total - memory.free,
      memory_usage_percent: Math.trunc(percent(memory.total - memory.free, memory.total)),
      swap_total: memory.swapTotal,
      swap_free: memory.swapFree,
      swap_used: memory.swapTotal - memory.swapFree,
      swap_usage_percent: Math.trunc(percent(memory.swapTotal - memory.swapFree, memory.swapTotal)),
      cpu_usage_percent: Math.trunc(this.#cpuPercent()),
      disk_usage_percent: Math.trunc(await diskUsage(directory)),
      load_average_percent: loadavg().map((load) => Math.trunc((load / processors) * 100)),
    };
  }

  #cpuPercent(): number {
    const now = performance.now();
    if (now - this.#takenAt < REFRESH_MS) return this.#cpu;
    this.#takenAt = now;
    let busy = 0;
    let total = 0;
    for (const { times } of cpus()) {
      busy += times.user + times.nice + times.sys + times.irq;
      total += times.user + times.nice + times.sys + times.irq + times.idle;
    }
    this.#cpu = Math.round(percent(busy - this.#busy, total - this.#total) * 10) / 10;
    this.#busy = busy;
    this.#total = total;
    return this.#cpu;
  }
}

/** Usage of the directory's file system for users other than root, in percent (as df(1) shows it). */
export async function diskUsage(directory: string): Promise<number> {
  const { blocks, bfree, bavail } = await statfs(directory);
  return percent(blocks - bfree, blocks - bfree + bavail);
}

function percent(part: number, whole: number): number {
  return whole <= 0 ? 0 : Math.min(Math.max((part / whole) * 100, 0), 100);
}

function memoryOfHost(): { total: number; free: number; swapTotal: number; swapFree: number } {
  let text: string;
  try {
    text = readFileSync('/proc/meminfo', 'utf8');
  } catch (thrown) {
    throw conflict('The figures of this host cannot be read: /proc is not mounted.', { cause: thrown });
  }
  const bytes = (name: string): number =>
    1024 * Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(text)?.[1] ?? 0);
  return {
    total: bytes('MemTotal'),
    free: bytes('MemAvailable'),
    swapTotal: bytes('SwapTotal'),
    swapFree: bytes('SwapFree'),
  };
}
