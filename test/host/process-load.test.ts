// What processes take of the host: our own as the kernel tells it, and control groups as version 2 writes them.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { loadOf, loadOfGroup } from '../../src/host/processes/process-load.ts';

test('a process has the processor time and the memory that it has itself; one that is gone has neither', () => {
  const { user, system } = process.cpuUsage();
  const { cpuSeconds, memoryBytes } = loadOf(process.pid)!;
  assert.ok(cpuSeconds >= (user + system) / 1e6 - 0.1, `${cpuSeconds} s`);
  assert.ok(memoryBytes > 10_000_000, `${memoryBytes} bytes`);
  assert.equal(loadOf(2 ** 22), undefined);
});

/** A directory in which process 7 is in this control group. */
function groups(t: TestContext, line: string, files: Record<string, string>): { proc: string; groups: string } {
  const directory = mkdtempSync(join(tmpdir(), 'labwire-groups-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const places = { proc: join(directory, 'proc'), groups: join(directory, 'groups') };
  mkdirSync(join(places.proc, '7'), { recursive: true });
  writeFileSync(join(places.proc, '7/cgroup'), line);
  mkdirSync(join(places.groups, 'docker/c1'), { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(places.groups, 'docker/c1', name), text);
  return places;
}

test('a container has what its control group has, less what can be given up at once', (t) => {
  const files = {
    'cpu.stat': 'usage_usec 2500000\nuser_usec 2000000\n',
    'memory.current': '5000000\n',
    'memory.stat': 'anon 1\ninactive_file 1000000\n',
  };
  assert.deepEqual(loadOfGroup(7, groups(t, '0::/docker/c1\n', files)), { cpuSeconds: 2.5, memoryBytes: 4_000_000 });
  assert.equal(loadOfGroup(7, groups(t, '0::/\n', files)), undefined, 'everybody is in that one');
  assert.equal(loadOfGroup(7, groups(t, '0::/../c1\n', files)), undefined, 'it cannot be seen from here');
  assert.equal(loadOfGroup(7, groups(t, '4:memory:/docker/c1\n', files)), undefined, 'version 1');
  assert.equal(loadOfGroup(7, groups(t, '0::/docker/c1\n', {})), undefined);
});
