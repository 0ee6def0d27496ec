// Files of labs in an object store of NATS that is full.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { jetstream } from '@nats-io/jetstream';
import { Objm } from '@nats-io/obj';
import { connectMember } from '../../src/cluster/connection.ts';
import { fetchObject } from '../../src/cluster/objects.ts';
import { type FileListing, SharedFiles } from '../../src/cluster/shared-files.ts';
import { Database } from '../../src/store/database.ts';
import { Documents } from '../../src/store/documents.ts';
import { MIGRATIONS } from '../../src/store/migrations.ts';
import { scratchDirectory } from '../store/scratch.ts';
import { missing } from '../system/lab.ts';
import { threeMembers } from './hosts.ts';
import { Nats } from './nats.ts';

const MIB = 2 ** 20;

/** A server with an object store, a database for the list of files, and the state directories of two hosts. */
async function stores(t: TestContext) {
  const { files, members } = await threeMembers(t);
  await new Nats(t, files.path('nats.conf')).start();
  const nats = await connectMember(files, members[0]!);
  t.after(() => nats.close());
  const objects = await new Objm(jetstream(nats)).create('labwire-labs', { max_bytes: 4 * MIB });
  const [here, there] = [await scratchDirectory(t), await scratchDirectory(t)];
  const database = await Database.open(join(here, 'labs.db'), MIGRATIONS);
  t.after(() => database.close());
  const listing = new Documents(database);
  const [lab, copies] = [join(here, 'projects/lab'), join(here, 'checkpoints')];
  for (const folder of [lab, copies]) await mkdir(folder, { recursive: true });
  const fetch = (name: string) => fetchObject(nats, name);
  return { objects, fetch, listing, here, there, lab, copies };
}

test('a full store keeps what it has, says why it takes no more, and goes on when files are gone', {
  skip: missing('nats-server', 'openssl'),
}, async (t) => {
  const { objects, fetch, listing, here, there, lab, copies } = await stores(t);
  const shared = [{ path: lab }, { path: copies, last: 'manifest.json' }];
  const kept = new SharedFiles({ state: here, roots: [], directory: here });
  const write = (path: string, mebibytes: number): Promise<void> => writeFile(path, randomBytes(mebibytes * MIB));
  const listed = async (): Promise<string[]> => (await listing.list('files')).map(({ id }) => id).sort();

  await write(join(lab, 'first'), 2);
  await write(join(copies, 'part1'), 1);
  await writeFile(join(copies, 'manifest.json'), 'part1');
  assert.equal(await kept.keep(objects, listing, shared), 0);
  const all = ['checkpoints/manifest.json', 'checkpoints/part1', 'projects/lab/first'];
  assert.deepEqual(await listed(), all);

  await write(join(lab, 'second'), 2);
  await rm(join(copies, 'part1'));
  await writeFile(join(copies, 'manifest.json'), 'part2, which is not stored yet');
  await assert.rejects(kept.keep(objects, listing, shared), /maximum bytes exceeded/);
  // The manifest of before has all its parts.
  assert.deepEqual(await listed(), all);

  // A file that is gone makes room, in the same round or for the next one.
  await rm(join(lab, 'first'));
  await kept.keep(objects, listing, shared).catch(() => {});
  assert.equal(await kept.keep(objects, listing, shared), 0);
  assert.deepEqual(await listed(), ['checkpoints/manifest.json', 'projects/lab/second']);
  await new SharedFiles({ state: there, roots: [], directory: there }).restore(fetch, listing);
  assert.deepEqual(await readFile(join(there, 'projects/lab/second')), await readFile(join(lab, 'second')));

  // A lab that was deleted: its files are in none of the places.
  await kept.forget(
    async () => objects,
    listing,
    async () => {
      await writeFile(join(here, 'new'), 'a lab that is made meanwhile');
      await kept.keep(objects, listing, [{ path: join(here, 'new') }]);
      return [{ path: copies }];
    },
  );
  assert.deepEqual(await listed(), ['checkpoints/manifest.json', 'new']);
  await kept.forget(
    async () => objects,
    listing,
    async () => [{ path: copies }],
  );
  assert.deepEqual(await listed(), ['checkpoints/manifest.json']);
  const named = (await objects.list()).length;
  await new SharedFiles({ state: there, roots: [], directory: there }).restore(fetch, listing);
  assert.deepEqual(
    [named, existsSync(join(there, 'projects/lab')), existsSync(join(there, 'projects'))],
    [1, false, true],
  );
});

test('a content stays while a file with it is being kept', { skip: missing('nats-server', 'openssl') }, async (t) => {
  const { objects, fetch, listing, here, there, lab, copies } = await stores(t);
  const kept = new SharedFiles({ state: here, roots: [], directory: here });
  await writeFile(join(lab, 'first'), 'a content that two files have in turn');
  await kept.keep(objects, listing, [{ path: lab }]);
  await rm(join(lab, 'first'));
  await writeFile(join(copies, 'part'), 'another content');
  await writeFile(join(copies, 'manifest.json'), 'a content that two files have in turn');
  const meanwhile: FileListing = {
    list: (kind) => listing.list(kind),
    delete: (kind, id) => listing.delete(kind, id),
    put: async (kind, id, body) => {
      if (id === 'checkpoints/part') await kept.keep(objects, listing, [{ path: lab }]);
      await listing.put(kind, id, body);
    },
  };
  await kept.keep(objects, meanwhile, [{ path: copies, last: 'manifest.json' }]);
  await new SharedFiles({ state: there, roots: [], directory: there }).restore(fetch, listing);
  for (const name of ['part', 'manifest.json'])
    assert.deepEqual(await readFile(join(there, 'checkpoints', name)), await readFile(join(copies, name)));

  // Contents that no file has any more are removed.
  await rm(join(copies, 'manifest.json'));
  await writeFile(join(copies, 'part'), 'a third content');
  await kept.keep(objects, listing, [{ path: copies }]);
  assert.equal((await objects.list()).length, 1);
});
