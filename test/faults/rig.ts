// What the rigs of this folder share. A rig is a test that attacks one promise of the server and measures how it held. Each runs in two
// sizes: the quick one with every run of the tests, the full one with `bin/test --faults`, whose figures docs/trust.md is made of.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type Bound, judge, machine, OtherLoad } from '../other-load.ts';
import { DAEMON_HOMES } from '../system/daemon.ts';

/** Whether rigs run in full: LABWIRE_FAULTS=full. */
export const FULL = process.env['LABWIRE_FAULTS'] === 'full';

const project = join(import.meta.dirname, '../..');

/** Where the figures of the last run are, a file a rig. */
export const FIGURES = join(project, 'dist/faults');

export interface Figure {
  /** What was counted or measured: `spellings of a path`. */
  what: string;
  /** With its unit: `12 ms`. */
  value: string | number;
}

export interface RigReport {
  /** Name of the rig's file. */
  rig: string;
  /** What the server's user is promised, one sentence. */
  promise: string;
  figures: Figure[];
  full: boolean;
  /** The machine, and what other programs took of it meanwhile. */
  machine: string;
}

export interface RigOptions {
  /** `paths` of paths.test.ts. */
  name: string;
  promise: string;
  skip?: string | false;
}

/** Defines a rig: a test that fails when the promise breaks, and otherwise answers what it has measured; nothing when it was skipped. */
export function rig(
  { name, promise, skip = false }: RigOptions,
  attack: (t: TestContext) => Promise<Figure[] | undefined>,
): void {
  // In full a rig takes as long as it takes.
  test(promise, { skip, ...(FULL && { timeout: Infinity }) }, async (t) => {
    const load = othersBeside();
    const figures = await attack(t);
    if (figures === undefined) return;
    for (const { what, value } of figures) t.diagnostic(`${name}: ${what}: ${value}`);
    const report: RigReport = { rig: name, promise, figures, full: FULL, machine: machine(load) };
    mkdirSync(FIGURES, { recursive: true });
    writeFileSync(join(FIGURES, `${name}.json`), `${JSON.stringify(report, undefined, 2)}\n`);
  });
}

/** Measures what other programs take of the machine, those of the daemons under test not counted. */
export function othersBeside(): OtherLoad {
  return new OtherLoad(DAEMON_HOMES);
}

/** Judges a promise with a number in it where the machine allows; answers the figure. */
export async function bound(t: TestContext, promised: Bound): Promise<Figure> {
  const { what, value, limit, unit } = promised;
  const busy = await judge(t, promised);
  const judged = busy ? `not judged, as ${busy}` : 'kept';
  return { what, value: `${Number(value.toFixed(1))} ${unit} (at most ${limit} ${unit}: ${judged})` };
}

/** The seed of this run: LABWIRE_SEED, or a new one. Print it, so that a failure can be repeated. */
export function seedOfRun(): number {
  const given = process.env['LABWIRE_SEED'];
  return given === undefined ? Math.floor(Math.random() * 2 ** 32) : Number(given);
}

/** The value below which `share` (0 to 1) of the numbers lie. */
export function percentile(numbers: readonly number[], share: number): number {
  const sorted = [...numbers].sort((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
