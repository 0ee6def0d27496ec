// What is still possible on a disk without a free page.
import assert from 'node:assert/strict';
import { statSync, writeFileSync } from 'node:fs';
import { rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { Reserve } from '../../src/store/reserve.ts';
import { Store } from '../../src/store/store.ts';
import { failure, scratchDirectory, scratchFileSystem } from './scratch.ts';

function fill(path: string): void {
  try {
    for (;;) writeFileSync(path, Buffer.alloc(4096), { flag: 'a' });
  } catch (error) {
    assert.equal((error as NodeJS.ErrnoException).code, 'ENOSPC');
  }
}

test('a full disk takes no more, but gives up what is deleted, however often it fills up again', async (t) => {
  const disk = await scratchFileSystem(t, '8m');
  if (disk === undefined) return;
  const stateDirectory = join(disk, 'state');
  const ballast = join(disk, 'ballast');
  const settings = { name: 'computes' as const, body: { text: 'x'.repeat(3000) } };
  await using store = await Store.open({ stateDirectory });
  store.reserveSpace();
  const ids = Array.from({ length: 100 }, (_, index) => String(index));
  for (const id of ids) await store.documents.put(settings.name, id, settings.body);
  fill(ballast);
  await assert.rejects(
    async () => {
      for (;;) await store.documents.put(settings.name, 'another', settings.body);
    },
    failure('out-of-space', /no space is left.*free some/),
  );
  for (const id of ids) {
    await store.documents.delete(settings.name, id);
    fill(ballast);
  }
  assert.deepEqual(
    (await store.documents.list(settings.name)).filter(({ id }) => id !== 'another'),
    [],
  );
  // The next life of the server finds no space either.
  await store.close();
  fill(ballast);
  await using again = await Store.open({ stateDirectory });
  again.reserveSpace();
  await again.documents.delete(settings.name, 'another');
  await rm(ballast);
  await again.documents.put(settings.name, 'later', settings.body);
});

test('the space that is kept is taken at once where there is some, and no more than a part of a small disk', async (t) => {
  const directory = await scratchDirectory(t);
  const reserve = new Reserve(directory);
  reserve.start();
  await reserve.stop();
  const { size } = statSync(join(directory, 'reserve'));
  const { blocks, bsize } = await statfs(directory);
  assert.equal(size, Math.min(4 * 2 ** 20, Math.floor((blocks * bsize) / 16)));
});
