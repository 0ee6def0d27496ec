// Whether the kernel has ended a program because memory ran out (the OOM killer). The kernel sends no notice, but
// counts.
import { readFileSync } from 'node:fs';

const HOST = '/proc/vmstat';
const GROUPS = '/sys/fs/cgroup';

/** The control group of this process (version 2), which also contains its nodes' programs. */
function ownGroup(): string {
  try {
    const path = /^0::(\/.*)$/m.exec(readFileSync('/proc/self/cgroup', 'utf8'))?.[1] ?? '/';
    return `${GROUPS}${path}/memory.events`;
  } catch {
    return GROUPS;
  }
}

/** A counter from a file of lines `name number`; 0 if missing. */
function counterIn(file: string, name: string): number {
  try {
    return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(readFileSync(file, 'latin1'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

export class MemoryKills {
  readonly #host: string;
  readonly #group: string;
  #told: number;
  #limits: number;

  /** Counts from now on. */
  constructor(host = HOST, group = ownGroup()) {
    this.#host = host;
    this.#group = group;
    this.#told = counterIn(host, 'oom_kill');
    this.#limits = counterIn(group, 'oom');
  }

  /** The reason, in words, if a program was just killed because memory ran out. Each kill explains one program. */
  reason(): string | undefined {
    if (counterIn(this.#host, 'oom_kill') <= this.#told) return undefined;
    this.#told += 1;
    const limits = counterIn(this.#group, 'oom');
    const isLimit = limits > this.#limits;
    this.#limits = limits;
    return isLimit
      ? 'the memory limit of the service was reached (MemoryMax= of its unit), and the system ends programs then'
      : 'memory ran out, and the system ends programs then';
  }
}

/** Counts since this program's start. */
export const memoryKills = new MemoryKills();
