// Processor time of each test file with all that it starts: a control group for each (cgroups(7), version 2), where this user may make one.
import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Names the directory with the groups of a run to the processes of its files. */
const GROUPS = 'LABWIRE_TEST_GROUPS';

const groupOf = (groups: string, file: string): string => join(groups, file.replaceAll('/', '%'));

/** The group of this process. @throws where version 2 is not mounted */
function ownGroup(): string {
  const mounted = /^\S+ \S+ \S+ \S+ (\S+) .* - cgroup2 /m.exec(readFileSync('/proc/self/mountinfo', 'utf8'))?.[1];
  const path = /^0::(\/.*)$/m.exec(readFileSync('/proc/self/cgroup', 'utf8'))?.[1];
  if (mounted === undefined || path === undefined) throw new Error('no control groups of version 2');
  return join(mounted, path);
}

/** Makes the directory for the groups of the files that this process starts from now on, if that can be. */
export function measureFiles(): void {
  try {
    const groups = join(ownGroup(), `labwire-test-${process.pid}`);
    mkdirSync(groups);
    process.env[GROUPS] = groups;
    process.on('exit', () => {
      // Also those of files whose last processes ended after them.
      for (const entry of readdirSync(groups, { withFileTypes: true }))
        if (entry.isDirectory()) remove(join(groups, entry.name));
      remove(groups);
    });
  } catch {
    delete process.env[GROUPS];
  }
}

/** Puts this process, which runs a file of tests, into the file's group. */
export function joinGroupOf(file: string): void {
  const groups = process.env[GROUPS];
  if (groups === undefined) return;
  // Runs that this process starts itself are not part of the run.
  delete process.env[GROUPS];
  try {
    mkdirSync(groupOf(groups, file), { recursive: true });
    writeFileSync(join(groupOf(groups, file), 'cgroup.procs'), `${process.pid}`);
  } catch {
    // Then its time is not known, which is no reason to fail.
  }
}

function remove(group: string): void {
  try {
    rmdirSync(group);
  } catch {
    // Processes are left in it.
  }
}

/** Milliseconds of processor time that a file has used that has ended; undefined if that is not known. */
export function processorTimeOf(file: string): number | undefined {
  const groups = process.env[GROUPS];
  if (groups === undefined) return undefined;
  const group = groupOf(groups, file);
  try {
    const [, microseconds] = /^usage_usec (\d+)$/m.exec(readFileSync(join(group, 'cpu.stat'), 'utf8')) ?? [];
    return Number(microseconds) / 1000;
  } catch {
    return undefined;
  } finally {
    remove(group);
  }
}
