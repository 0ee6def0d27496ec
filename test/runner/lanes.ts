// Which test files there are, and in which lane and run each belongs.
import { globSync } from 'node:fs';
import { matchesGlob } from 'node:path';

/** Suites of test files by name, as `npm run` has them. */
export const SUITES = {
  units: ['test/*.test.ts', 'test/!(system|web|faults|conformance|bench)/**/*.test.ts'],
  system: ['test/system/**/*.test.ts'],
  web: ['test/web/*.test.ts'],
  faults: ['test/faults/*.test.ts'],
  // Run once more in Firefox, with LABWIRE_BROWSER=firefox.
  firefox: ['test/web/@(first-visit|page|topology|consoles|guides|hands|impairments|labels|menus).test.ts'],
} as const;

export type SuiteName = keyof typeof SUITES;

/** Judge times, such as the few seconds in which a server must end, or flood the machine: one at a time, when nothing else runs. */
const TIMED = [
  'test/cluster/whole-hosts.test.ts',
  'test/fabric/recovery.test.ts',
  'test/faults/@(abuse|consoles|crowd|listeners|survival).test.ts',
  'test/system/@(bfd|cluster-any-host|joint-survival|kill|pulled-cable|signals|stop|vpcs-program).test.ts',
  'test/web/capture-flood.test.ts',
];

/** Take about a minute or more: they begin in the first half, so that none is left over when all others have ended. */
const MINUTES = [
  'test/cluster/@(existing|replaced).test.ts',
  'test/compute/qemu-disk-checkpoint.test.ts',
  'test/controller/archives.test.ts',
  'test/@(compute|controller)/failing-awaits.test.ts',
  'test/fabric/kernel-faults.test.ts',
  'test/system/@(accounts|command-line|command-settings|examples|lab|lab-checks|labs-as-text|labs-as-text-*|lost-hosts).test.ts',
  'test/system/@(cluster-loss|kernel-links|vxlan-links).test.ts',
  'test/system/@(package|reproducible|systemd-boot|two-daemons).test.ts',
  'test/web/people.test.ts',
  'test/faults/@(durability|interrupted|leaks).test.ts',
];

/** Run by `bin/test --all` alone: each takes minutes, or guards what few changes touch. */
const LONG = [
  // debootstrap, a booted systemd, lintian
  'test/system/@(package|systemd-boot).test.ts',
  // builds the executable twice more
  'test/system/reproducible.test.ts',
  // compiles the frame loop with sanitizers and fuzzes it
  'test/fabric/frame-loop-memory.test.ts',
  // the attacks, but for the walk through all routes
  'test/faults/!(accounts-walk).test.ts',
  'test/system/@(bfd|inodes|joint-survival|large-import|survival).test.ts',
  'test/@(compute|controller)/failing-awaits.test.ts',
  // a Docker Engine for each file; docker-containers.test.ts has what every change might break
  'test/compute/docker-!(containers|tar-entries).test.ts',
  // a browser takes both processors: six files are left, for each way to use the page
  'test/web/!(captures|capture-flood|first-visit|page|quick-hands|topology).test.ts',
  // all that a command or a lab's file can say, one program after the other
  'test/system/@(command-line|command-settings|examples|lab-checks|labs-as-text|labs-as-text-*).test.ts',
  // several hosts, and minutes until one counts as lost; cluster.test.ts and cluster-loss.test.ts are left for every change
  'test/system/@(left-on-computes|lost-hosts|pulled-cable|two-daemons).test.ts',
  'test/system/cluster-@(any-host|clocks|disks|fencing|flap|hand-over|images|routing|takeover).test.ts',
  'test/cluster/whole-hosts.test.ts',
  // kills the server at each step of a switch-over; test/@(fabric|system)/kernel-links.test.ts are left
  'test/fabric/kernel-faults.test.ts',
  // each takes a processor for a quarter of a minute, and guards what few changes touch
  'test/controller/archives-methods.test.ts',
  'test/compute/@(qemu-firmware|routers-idle).test.ts',
  'test/fabric/without-frame-loop.test.ts',
  'test/system/@(conformance-v3|exec-guest|guests|routers).test.ts',
  // waits for wrong passwords to be forgiven, for large files, for rates of a minute
  'test/system/@(accounts|local-socket|top|transfers).test.ts',
];

/** Files by what they do: some take a processor each, some wait for programs. They are mixed, so that neither all work nor all wait. */
const GROUPS = [
  ['test/web/*.test.ts', 'test/faults/*.test.ts', 'test/compute/docker-*.test.ts'],
  ['test/system/**/*.test.ts'],
  ['test/**/*.test.ts'],
];

/** `bin/test --quick`: what needs no emulator, and one lab. */
const QUICK = [
  'test/@(client|config|consoles|demo|events|help|http|pc|store|supervisor|web-units)/**/*.test.ts',
  'test/controller/nodes-and-links.test.ts',
  'test/system/lab.test.ts',
];

/** Those of them that take a processor for many seconds: they begin first, so that none is left over when all others have ended. */
const QUICK_FIRST = [
  'test/http/@(authentication|openapi).test.ts',
  'test/@(help|store)/@(block-archive|help|store).test.ts',
  'test/system/lab.test.ts',
  'test/web-units/@(events|names|streams|undo).test.ts',
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

/** The files of all groups, each spread evenly over the whole. */
function mixed(files: readonly string[]): string[] {
  const groups = GROUPS.map((): string[] => []);
  for (const file of files) groups[GROUPS.findIndex((patterns) => isIn(file, patterns))]!.push(file);
  return groups
    .flatMap((group) => group.map((file, index) => ({ file, place: (index + 0.5) / group.length })))
    .map(({ file, place }) => ({ file, place: isIn(file, MINUTES) ? place / 2 : place }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ file }) => file);
}

/** @param suites undefined for all of them, within the extent; of named ones every file */
export function lanesOf(root: string, extent: Extent, suites?: readonly SuiteName[]): Lanes {
  const patterns = (suites ?? (Object.keys(SUITES) as SuiteName[])).flatMap((name) => [...SUITES[name]]);
  const files = [...new Set(globSync(patterns, { cwd: root }))]
    .filter((file) => {
      if (suites !== undefined || extent === 'all') return true;
      return extent === 'quick' ? isIn(file, QUICK) : !isIn(file, LONG);
    })
    .toSorted();
  const together = mixed(files.filter((file) => !isIn(file, TIMED)));
  const isFirst = (file: string): boolean => extent === 'quick' && isIn(file, QUICK_FIRST);
  return {
    together: [...together.filter(isFirst), ...together.filter((file) => !isFirst(file))],
    alone: files.filter((file) => isIn(file, TIMED)),
  };
}
