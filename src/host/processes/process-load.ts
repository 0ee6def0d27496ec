// CPU time and memory that a process uses.
import { readFileSync } from 'node:fs';
import { memoryOf } from './child-processes.ts';

/** Linux reports times in hundredths of a second, whatever its clock frequency is. */
const TICKS_A_SECOND = 100;
/** Field indexes in /proc/PID/stat after the name: user and system time, and those of children that have ended. */
const TIMES = [11, 12, 13, 14];
const GROUPS = '/sys/fs/cgroup';

export interface ProcessLoad {
  /** Of all its threads, and of children that it has waited for. */
  cpuSeconds: number;
  /** Bytes of the host's memory and of its swap space. */
  memoryBytes: number;
}

/** Undefined if the process is gone. */
export function loadOf(pid: number): ProcessLoad | undefined {
  const stat = read(`/proc/${pid}/stat`);
  const memoryBytes = memoryOf(pid);
  if (stat === undefined || memoryBytes === undefined) return undefined;
  // The name, in parentheses, may contain blanks and parentheses.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { cpuSeconds: TIMES.reduce((sum, place) => sum + Number(fields[place]), 0) / TICKS_A_SECOND, memoryBytes };
}

/**
 * The load of all processes in the process's control group (version 2), such as a container's; undefined if it has no
 * group of its own.
 * @param groups where control groups are mounted
 */
export function loadOfGroup(pid: number, { proc = '/proc', groups = GROUPS } = {}): ProcessLoad | undefined {
  const path = /^0::(\/.+)$/m.exec(read(`${proc}/${pid}/cgroup`) ?? '')?.[1];
  if (path === undefined || path.startsWith('/..')) return undefined;
  const [cpu, memory, parts] = ['cpu.stat', 'memory.current', 'memory.stat'].map((name) =>
    read(`${groups}${path}/${name}`),
  );
  const microseconds = /^usage_usec (\d+)$/m.exec(cpu ?? '')?.[1];
  if (microseconds === undefined || memory === undefined) return undefined;
  // Reclaimable file cache is not counted, as in docker stats.
  const spare = Number(/^inactive_file (\d+)$/m.exec(parts ?? '')?.[1] ?? 0);
  return { cpuSeconds: Number(microseconds) / 1e6, memoryBytes: Math.max(0, Number(memory) - spare) };
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return undefined;
  }
}
