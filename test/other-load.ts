// How much of the machine other programs took while something was measured: a time that was taken beside them says little.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import type { TestContext } from 'node:test';

/** Of a core, on average: with more of it used by others, a time is not judged. */
export const QUIET_CORES = 0.3;

/** Hundredths of a second (USER_HZ) as seconds. */
const TICK_SECONDS = 0.01;

/** Seconds of processor time that all programs have used, and that the host of a virtual machine has taken (proc_stat(5)). */
function secondsOfAll(): number {
  const [user, nice, system, , , interrupts, softInterrupts, stolen] = readFileSync('/proc/stat', 'latin1')
    .slice('cpu'.length, 200)
    .trim()
    .split(/\s+/)
    .map(Number);
  return (user! + nice! + system! + interrupts! + softInterrupts! + stolen!) * TICK_SECONDS;
}

interface ProcessTimes {
  parent: number;
  /** Of itself, and of its children that have ended and were waited for. */
  seconds: number;
  home: string | undefined;
}

function timesOf(pid: number, homes: readonly string[]): ProcessTimes | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const ticks = [11, 12, 13, 14].reduce((sum, index) => sum + Number(fields[index]), 0);
    const environment = homes.length === 0 ? [] : readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
    const home = homes.find((directory) => environment.includes(`HOME=${directory}`));
    return { parent: Number(fields[1]), seconds: ticks * TICK_SECONDS, home };
  } catch {
    return undefined; // ended meanwhile, or another user's
  }
}

/** Seconds of this process, its descendants, and of all whose home directory is one of these (a daemon under test and what it starts). */
function secondsOfOwn(homes: readonly string[]): number {
  const all = new Map<number, ProcessTimes>();
  for (const pid of readdirSync('/proc').map(Number)) {
    const times = pid > 0 ? timesOf(pid, homes) : undefined;
    if (times) all.set(pid, times);
  }
  const isOwn = (pid: number): boolean => {
    for (let at = pid; ; ) {
      if (at === process.pid) return true;
      const times = all.get(at);
      if (times === undefined) return false;
      if (times.home !== undefined) return true;
      at = times.parent;
    }
  };
  return [...all].reduce((sum, [pid, { seconds }]) => sum + (isOwn(pid) ? seconds : 0), 0);
}

export class OtherLoad {
  readonly #homes: readonly string[];
  readonly #since = performance.now();
  readonly #before: number;

  /** Looks from now on. @param homes home directories of daemons whose processes are not "others" */
  constructor(homes: readonly string[] = []) {
    this.#homes = homes;
    this.#before = this.#othersNow();
  }

  #othersNow(): number {
    return secondsOfAll() - secondsOfOwn(this.#homes);
  }

  /** Cores that other programs have used since, on average. */
  get cores(): number {
    const seconds = Math.max(0.001, (performance.now() - this.#since) / 1000);
    return Math.max(0, (this.#othersNow() - this.#before) / seconds);
  }

  /** Why a time that was taken meanwhile is not judged; false when the machine was quiet. */
  get busy(): string | false {
    const { cores } = this;
    return cores > QUIET_CORES ? `other programs used ${cores.toFixed(1)} cores meanwhile` : false;
  }
}

/** A promise with a number in it, and what was measured. */
export interface Bound {
  /** `50 PCs are taken back`. */
  what: string;
  value: number;
  /** The most that is allowed, in the same unit. */
  limit: number;
  unit: string;
  /** Looks at the machine since the measurement began. */
  load: OtherLoad;
}

/**
 * Judges a bound, as a test of its own within the test: it is skipped, with what others took of the machine, where they took much
 * while the value was measured. Answers that reason, or false.
 */
export async function judge(t: TestContext, { what, value, limit, unit, load }: Bound): Promise<string | false> {
  const { busy } = load;
  await t.test(`${what} within ${limit} ${unit}`, { skip: busy }, () => {
    assert.ok(value <= limit, `${what}: ${value.toFixed(1)} ${unit}`);
  });
  return busy;
}

/** The machine, for the head of figures. */
export function machine(load: OtherLoad): string {
  const model = cpus()[0]?.model ?? 'unknown processor';
  return `${model}, ${cpus().length} cores, Node ${process.version}; other programs used ${load.cores.toFixed(1)} cores meanwhile, load ${loadavg()[0]!.toFixed(1)} at the end`;
}
