// Folders in which projects are put together, after the server that made them was killed.
import assert from 'node:assert/strict';
import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { endStagings, makeStaging } from '../../src/controller/staging.ts';
import { holdDirectory } from '../../src/host/files/directory-lock.ts';
import { makeDeepFolder, scratchDirectory } from '../store/scratch.ts';

test('the folder of a killed server goes, also where that server has not yet given its lock back; that of a live one stays', async (t) => {
  const directory = await scratchDirectory(t);
  await using held = new AsyncDisposableStack();
  const live = await makeStaging(directory, held);
  const killed = join(directory, '.labwire-staging-killed');
  await mkdir(killed);
  await writeFile(join(killed, 'half'), '');
  const dying = await holdDirectory(killed);
  const ended = endStagings(directory);
  // It has found the lock taken, and looks again.
  setTimeout(() => dying?.[Symbol.asyncDispose](), 100);
  await ended;
  assert.deepEqual(await readdir(directory), [live.slice(directory.length + 1)]);
});

test('a folder with paths that are longer than a system call takes is removed, now and after a kill', async (t) => {
  const directory = await scratchDirectory(t);
  const outside = join(directory, 'outside');
  await mkdir(outside);
  await writeFile(join(outside, 'kept'), '');
  const killed = join(directory, '.labwire-staging-killed');
  await mkdir(killed);
  {
    await using held = new AsyncDisposableStack();
    for (const staging of [killed, await makeStaging(directory, held)]) {
      await makeDeepFolder(join(staging, 'deleted'));
      await makeDeepFolder(join(staging, 'deleted', 'd'.repeat(250), 'second'));
      await symlink(outside, join(staging, 'deleted', 'link'));
    }
  }
  await endStagings(directory);
  assert.deepEqual(await readdir(directory, { recursive: true }), ['outside', 'outside/kept']);
});
