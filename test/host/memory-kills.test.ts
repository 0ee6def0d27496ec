// Programs that the kernel ends for want of memory, by its counters: files of the same form, as no test may let a host run out of memory.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { MemoryKills } from '../../src/host/processes/memory-kills.ts';
import { scratchDirectory } from '../store/scratch.ts';

test('each kill for want of memory explains one program, and a limit is named as such', async (t) => {
  const directory = await scratchDirectory(t);
  const [host, group] = [join(directory, 'vmstat'), join(directory, 'memory.events')];
  const write = (kills: number, limits: number): void => {
    writeFileSync(host, `nr_free_pages 12\noom_kill ${kills}\noom_kill_other 9\n`);
    writeFileSync(group, `low 0\nhigh 0\nmax 3\noom ${limits}\noom_kill ${limits}\n`);
  };
  write(4, 1);
  const kills = new MemoryKills(host, group);
  assert.equal(kills.reason(), undefined, 'what was before counts for nothing');
  write(6, 1);
  assert.match(kills.reason() ?? '', /^memory ran out/);
  assert.match(kills.reason() ?? '', /^memory ran out/);
  assert.equal(kills.reason(), undefined);
  write(7, 2);
  assert.match(kills.reason() ?? '', /limit of the service.*MemoryMax=/);
  assert.equal(new MemoryKills(join(directory, 'none'), join(directory, 'none')).reason(), undefined);
});

test('the kernel of this host counts them', { skip: process.platform !== 'linux' }, () => {
  assert.match(readFileSync('/proc/vmstat', 'latin1'), /^oom_kill \d+$/m);
});
