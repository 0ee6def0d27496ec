// The lock of a directory: one holder at a time, named to the others; a kill gives it free.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { directoryHolder, holdDirectory } from '../../src/host/files/directory-lock.ts';
import { scratchDirectory } from '../store/scratch.ts';

test('a directory has one holder at a time, whom others see; kill -9 releases it', async (t) => {
  const directory = await scratchDirectory(t);
  const module = new URL('../../src/host/files/directory-lock.ts', import.meta.url);
  const script = `import { holdDirectory } from '${module}'; await holdDirectory(process.argv[1]); console.log('held'); setInterval(() => {}, 1e6);`;
  const holder = spawn(process.execPath, ['--input-type=module', '-e', script, directory]);
  t.after(() => holder.kill('SIGKILL'));
  await once(holder.stdout, 'data');
  assert.equal(await holdDirectory(directory), undefined);
  assert.equal(await directoryHolder(directory), `another server (pid ${holder.pid})`);
  holder.kill('SIGKILL');
  await once(holder, 'exit');
  {
    await using lock = await holdDirectory(directory);
    assert.ok(lock?.isHeld);
    assert.equal(await holdDirectory(directory), undefined);
  }
  await using again = await holdDirectory(directory);
  assert.ok(again?.isHeld);
});

test('there is nothing to hold of a missing directory', async (t) => {
  await using lock = await holdDirectory(`${await scratchDirectory(t)}/missing`);
  assert.equal(lock?.isHeld, false);
});
