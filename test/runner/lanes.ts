// Which test files there are, and in which lane and run each belongs.
import { globSync } from 'node:fs';
import { matchesGlob } from 'node:path';

/** Suites of test files by name, as `npm run` has them. */
export const SUITES = {
  units: ['test/*.test.ts', 'test/!(system|web|faults|conformance|bench)/**/*.test.ts'],
  system: ['test/system/**/*.test.ts'],
  web: ['test/web/*.test.ts'],
  faults: ['test/faults/*.test.ts'],
} as const;

export type SuiteName = keyof typeof SUITES;

/** Judge times, flood the machine, or take all of it for minutes: one at a time, when nothing else runs. */
const TIMED = [
  'test/fabric/recovery.test.ts',
  'test/faults/@(abuse|consoles|crowd|listeners|survival).test.ts',
  'test/system/@(joint-survival|kill|stop|two-daemons|vpcs-program).test.ts',
  'test/web/captures.test.ts',
  'test/system/package.test.ts',
];

/** Run by `bin/test --all` alone: each is long, and guards what few changes touch. */
const LONG = [
  // debootstrap, a booted systemd, lintian
  'test/system/@(package|systemd-boot).test.ts',
  // builds the executable twice more
  'test/system/reproducible.test.ts',
  // compiles the frame loop with sanitizers and fuzzes it
  'test/fabric/frame-loop-memory.test.ts',
];

/** Take longest: started first, so that the run does not end with one of them alone. */
const FIRST = ['test/web/*.test.ts', 'test/faults/*.test.ts', 'test/compute/docker-*.test.ts'];

/** `bin/test --quick`: what needs no emulator, and one lab. */
const QUICK = [
  'test/@(client|config|consoles|demo|events|help|http|pc|store|supervisor|web-units)/**/*.test.ts',
  'test/controller/nodes-and-links.test.ts',
  'test/system/lab.test.ts',
];

/** Download packages, so that they need the network of the host (see own-network.ts). */
export const HOST_NETWORK = ['test/system/@(package|systemd-boot).test.ts'];

export const isIn = (file: string, patterns: readonly string[]): boolean =>
  patterns.some((pattern) => matchesGlob(file, pattern));

export interface Lanes {
  /** Side by side. */
  together: string[];
  /** One at a time, afterwards. */
  alone: string[];
}

export type Extent = 'quick' | 'usual' | 'all';

/** @param suites undefined for all of them, within the extent; of named ones every file */
export function lanesOf(root: string, extent: Extent, suites?: readonly SuiteName[]): Lanes {
  const patterns = (suites ?? (Object.keys(SUITES) as SuiteName[])).flatMap((name) => [...SUITES[name]]);
  const files = globSync(patterns, { cwd: root })
    .filter((file) => {
      if (suites !== undefined || extent === 'all') return true;
      return extent === 'quick' ? isIn(file, QUICK) : !isIn(file, LONG);
    })
    .toSorted((a, b) => Number(isIn(b, FIRST)) - Number(isIn(a, FIRST)) || a.localeCompare(b));
  return {
    together: files.filter((file) => !isIn(file, TIMED)),
    alone: files.filter((file) => isIn(file, TIMED)),
  };
}
