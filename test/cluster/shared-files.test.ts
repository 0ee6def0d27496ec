// Files of labs in an object store of NATS that is full.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { Objm } from '@nats-io/obj';
import { connectMember } from '../../src/cluster/connection.ts';
import { fetchObject, type Objects, objectsOf } from '../../src/cluster/objects.ts';
import { type FileListing, SharedFiles } from '../../src/cluster/shared-files.ts';
import type { NamedHost } from '../../src/start/cluster.ts';
import { noteLeftFiles, requireLeftFiles } from '../../src/start/left-files.ts';
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
  const bucket = await new Objm(jetstream(nats)).create('labwire-labs', { max_bytes: 4 * MIB });
  const objects = await objectsOf(nats);
  const [here, there] = [await scratchDirectory(t), await scratchDirectory(t)];
  const database = await Database.open(join(here, 'labs.db'), MIGRATIONS);
  t.after(() => database.close());
  const listing = new Documents(database);
  const [lab, copies] = [join(here, 'projects/lab'), join(here, 'checkpoints')];
  for (const folder of [lab, copies]) await mkdir(folder, { recursive: true });
  const fetch = (name: string) => fetchObject(nats, name);
  /** Messages that NATS stores: each object has two at least. */
  const messages = async (): Promise<number> =>
    (await (await jetstreamManager(nats)).streams.info('OBJ_labwire-labs')).state.messages;
  const publish = (subject: string, text: string): Promise<unknown> => jetstream(nats).publish(subject, text);
  return { objects, bucket, messages, publish, fetch, listing, here, there, lab, copies };
}

/** The store, in which something happens each time when an object has been stored and is not listed yet. */
function duringPut(objects: Objects, act: () => Promise<unknown>): Objects {
  const put: Objects['put'] = async (name, content) => {
    await objects.put(name, content);
    await act();
  };
  return new Proxy(objects, {
    get: (target, name) => (name === 'put' ? put : Reflect.get(target, name, target).bind(target)),
  });
}

test('a full store keeps what it has, says why it takes no more, and goes on when files are gone', {
  skip: missing('nats-server', 'openssl'),
}, async (t) => {
  const { objects, bucket, fetch, listing, here, there, lab, copies } = await stores(t);
  const shared = [{ path: lab }, { path: copies, last: 'manifest.json' }];
  const kept = new SharedFiles({ state: here, roots: [], directory: here });
  const write = (path: string, mebibytes: number): Promise<void> => writeFile(path, randomBytes(mebibytes * MIB));
  const listed = async (): Promise<string[]> => (await listing.list('files')).map(({ id }) => id).sort();

  await write(join(lab, 'first'), 2);
  await write(join(copies, 'part1'), 1);
  await writeFile(join(copies, 'manifest.json'), 'part1');
  assert.equal((await kept.keep(objects, listing, shared)).length, 0);
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
  assert.equal((await kept.keep(objects, listing, shared)).length, 0);
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
  const named = (await bucket.list()).length;
  await new SharedFiles({ state: there, roots: [], directory: there }).restore(fetch, listing);
  assert.deepEqual(
    [named, existsSync(join(there, 'projects/lab')), existsSync(join(there, 'projects'))],
    [1, false, true],
  );
});

test('a content stays while a file with it is being kept', { skip: missing('nats-server', 'openssl') }, async (t) => {
  const { objects, messages, fetch, listing, here, there, lab, copies } = await stores(t);
  const kept = new SharedFiles({ state: here, roots: [], directory: here });
  await writeFile(join(lab, 'first'), 'a content that two files have in turn');
  await kept.keep(objects, listing, [{ path: lab }]);
  await rm(join(lab, 'first'));
  await writeFile(join(copies, 'part'), 'another content');
  await writeFile(join(copies, 'manifest.json'), 'a content that two files have in turn');
  const meanwhile = duringPut(objects, () => kept.keep(objects, listing, [{ path: lab }]));
  await kept.keep(meanwhile, listing, [{ path: copies, last: 'manifest.json' }]);
  await new SharedFiles({ state: there, roots: [], directory: there }).restore(fetch, listing);
  for (const name of ['part', 'manifest.json'])
    assert.deepEqual(await readFile(join(there, 'checkpoints', name)), await readFile(join(copies, name)));

  // Contents that no file has any more are removed.
  await rm(join(copies, 'manifest.json'));
  await writeFile(join(copies, 'part'), 'a third content');
  await kept.keep(objects, listing, [{ path: copies }]);
  // The description and the content of one; nothing of those that are gone.
  assert.equal(await messages(), 2);
});

test('a newer content of a file that was kept while others are being stored stays', {
  skip: missing('nats-server', 'openssl'),
}, async (t) => {
  const { objects, fetch, listing, here, there, lab } = await stores(t);
  const kept = new SharedFiles({ state: here, roots: [], directory: here });
  const accounts = join(here, 'accounts.json');
  await writeFile(accounts, 'valid');
  let isOlder = true;
  const meanwhile = duringPut(objects, async () => {
    if (!isOlder) return;
    isOlder = false;
    await writeFile(accounts, 'revoked');
    await writeFile(join(lab, 'new'), 'a file of a lab');
    await kept.keep(objects, listing, [{ path: accounts }, { path: lab }]);
  });
  await kept.keep(meanwhile, listing, [{ path: accounts }]);
  await new SharedFiles({ state: there, roots: [], directory: there }).restore(fetch, listing);
  assert.equal(await readFile(join(there, 'accounts.json'), 'utf8'), 'revoked');
  // Both are known to be here.
  assert.deepEqual(JSON.parse(await readFile(join(here, 'files.json'), 'utf8')).sort(), [
    'accounts.json',
    'projects/lab/new',
  ]);

  // The call with the newer content may also be the last to end.
  await writeFile(accounts, 'a round has this one');
  const { promise: isRead, resolve: reads } = Promise.withResolvers<void>();
  const slow = duringPut(objects, async () => {
    reads();
    await round;
  });
  let newer: Promise<unknown> | undefined;
  const before = duringPut(objects, async () => {
    await writeFile(accounts, 'the last');
    newer = kept.keep(slow, listing, [{ path: accounts }]);
    await isRead;
  });
  const round = kept.keep(before, listing, [{ path: accounts }]);
  await round;
  await newer;
  await new SharedFiles({ state: there, roots: [], directory: there }).restore(fetch, listing);
  assert.equal(await readFile(join(there, 'accounts.json'), 'utf8'), 'the last');
});

test('what a controller that died has left in the store is removed, and nothing else', {
  skip: missing('nats-server', 'openssl'),
}, async (t) => {
  const { objects, bucket, messages, publish, fetch, listing, here, there, lab, copies } = await stores(t);
  const kept = new SharedFiles({ state: here, roots: [], directory: here });
  await writeFile(join(lab, 'lab.gns3'), 'a lab');
  await kept.keep(objects, listing, [{ path: lab }]);
  await objects.put('database', Buffer.from('a database'));
  const before = await messages();

  // A content that was stored and not listed, the mark of a removed one, and parts of one that was being stored.
  await objects.put('file-unlisted', Buffer.from('unlisted'));
  await bucket.putBlob({ name: 'file-removed' }, Buffer.from('removed'));
  await bucket.delete('file-removed');
  assert.equal(await messages(), before + 3);
  // Not as a host that may be the controller no more.
  await kept.sweep(objects, listing, () => false);
  assert.equal((await bucket.list()).length, 3);
  await publish('$O.labwire-labs.C.unfinished', 'a part');

  const sweep = (): Promise<boolean> => kept.sweep(objects, listing, () => true);
  // Not while a file is being stored, which is listed afterwards.
  const meanwhile: FileListing = {
    list: (kind) => listing.list(kind),
    change: async (changes) => {
      assert.equal(await sweep(), false);
      await listing.change(changes);
    },
  };
  await writeFile(join(copies, 'part'), 'a copy');
  await kept.keep(objects, meanwhile, [{ path: copies }]);
  // Parts that are new may be of an object that is being stored: they go with the next sweep.
  for (const rest of [1, 0]) {
    assert.equal(await sweep(), true);
    assert.equal(await messages(), before + 2 + rest);
  }
  await new SharedFiles({ state: there, roots: [], directory: there }).restore(fetch, listing);
  for (const path of ['projects/lab/lab.gns3', 'checkpoints/part'])
    assert.deepEqual(await readFile(join(there, path)), await readFile(join(here, path)));
  assert.equal(String(await fetch('database')), 'a database');
});

test('the next controller has all files of a new lab, or none', {
  skip: missing('nats-server', 'openssl'),
}, async (t) => {
  const { objects, listing, here, lab } = await stores(t);
  const kept = new SharedFiles({ state: here, roots: [], directory: here });
  for (const name of ['lab.gns3', 'README.txt', 'notes']) await writeFile(join(lab, name), name);
  const changes: string[][] = [];
  const noted: FileListing = {
    list: (kind) => listing.list(kind),
    change: async (changed) => void changes.push(changed.map(({ id }) => basename(id)).sort()),
  };
  await kept.keep(objects, noted, [{ path: lab, last: 'lab.gns3' }]);
  assert.deepEqual(changes, [['README.txt', 'lab.gns3', 'notes']]);
});

test('copies of nodes leave room for labs', { skip: missing('nats-server', 'openssl') }, async (t) => {
  const { objects, listing, here, lab, copies } = await stores(t);
  const kept = new SharedFiles({ state: here, roots: [], directory: here });
  await writeFile(join(copies, 'first'), 'x'.repeat(1_000));
  await writeFile(join(copies, 'second'), 'y'.repeat(1_000));
  const shared = [{ path: copies, most: 1_500 }];
  assert.equal((await kept.keep(objects, listing, shared)).length, 1);
  await writeFile(join(lab, 'lab.gns3'), 'z'.repeat(1_000));
  assert.equal((await kept.keep(objects, listing, [{ path: lab }, ...shared])).length, 1);
  assert.ok((await listing.list('files')).some(({ id }) => id === 'projects/lab/lab.gns3'));
});

test('a copy that has grown too large leaves the copy before it whole', {
  skip: missing('nats-server', 'openssl'),
}, async (t) => {
  const { objects, listing, here, lab, copies } = await stores(t);
  const kept = new SharedFiles({ state: here, roots: [], directory: here });
  const shared = [{ path: lab }, { path: copies, last: 'manifest.json', most: 300 }];
  const listed = async (): Promise<string[]> => (await listing.list('files')).map(({ id }) => id).sort();
  await writeFile(join(copies, 'part1'), randomBytes(200));
  await writeFile(join(copies, 'manifest.json'), 'part1');
  await kept.keep(objects, listing, shared);
  const before = await listed();
  const { body } = (await listing.list('files')).find(({ id }) => id.endsWith('manifest.json'))!;
  await rm(join(copies, 'part1'));
  await writeFile(join(copies, 'part2'), randomBytes(290));
  await writeFile(join(copies, 'manifest.json'), 'part2, of another length');
  assert.equal((await kept.keep(objects, listing, shared)).length, 1);
  assert.deepEqual(await listed(), before);
  assert.deepEqual((await listing.list('files')).find(({ id }) => id.endsWith('manifest.json'))!.body, body);
  // With room it is kept.
  await writeFile(join(copies, 'part2'), randomBytes(20));
  assert.equal((await kept.keep(objects, listing, shared)).length, 0);
  assert.deepEqual(await listed(), ['checkpoints/manifest.json', 'checkpoints/part2']);
});

test('files that a host is to leave stay there as they are, until it need not leave them', {
  skip: missing('nats-server', 'openssl'),
}, async (t) => {
  const { objects, fetch, listing, here, there, lab } = await stores(t);
  const kept = new SharedFiles({ state: here, roots: [], directory: here });
  const restored = new SharedFiles({ state: there, roots: [], directory: there });
  const [disk, config] = ['disk', 'config'].map((name) => join(there, 'projects/lab/project-files', name));
  const leaves = async (path: string): Promise<boolean> => path === disk || path === config;
  await mkdir(join(lab, 'project-files'));
  for (const name of ['disk', 'config', 'notes']) await writeFile(join(lab, 'project-files', name), 'of the closing');
  await kept.keep(objects, listing, [{ path: lab }]);
  await restored.restore(fetch, listing);
  await writeFile(disk!, 'of a node that runs here now');
  for (const name of ['config', 'notes']) await rm(join(lab, 'project-files', name));
  await kept.keep(objects, listing, [{ path: lab }]);
  for (let look = 0; look < 2; look += 1) await restored.restore(fetch, listing, { leaves });
  const texts = async (): Promise<(string | undefined)[]> =>
    Promise.all(
      [disk!, config!, join(there, 'projects/lab/project-files/notes')].map((path) =>
        readFile(path, 'utf8').catch(() => undefined),
      ),
    );
  assert.deepEqual(await texts(), ['of a node that runs here now', 'of the closing', undefined]);
  await restored.restore(fetch, listing);
  assert.deepEqual(await texts(), ['of the closing', undefined, undefined]);
});

test('a closed lab with a large file of a node opens on its host alone, until that is forgotten', {
  skip: missing('nats-server', 'openssl'),
}, async (t) => {
  const { objects, listing, here, lab } = await stores(t);
  const kept = new SharedFiles({ state: here, roots: [], directory: here });
  const [a, b] = ['a', 'b'].map((id) => ({ id, name: id })) as [NamedHost, NamedHost];
  for (const { id, name } of [a, b]) await listing.put('cluster-hosts', id, { name });
  const round = async (host: NamedHost, closedLab: string | undefined): Promise<void> => {
    const shared = [{ path: lab, ...(closedLab !== undefined && { closedLab }) }];
    const left = await kept.keep(objects, listing, shared);
    await noteLeftFiles(listing, host, { shared, left, isAll: true });
  };
  const large = async (folder: string): Promise<void> => {
    await mkdir(join(lab, folder), { recursive: true });
    await writeFile(join(lab, folder, 'large'), new Uint8Array(17 * MIB));
  };
  await large('snapshots');
  await large('project-files/captures');
  await round(a, 'L');
  await requireLeftFiles(listing, b, 'L');
  await large('project-files/qemu/n');
  await round(a, 'L');
  await assert.rejects(requireLeftFiles(listing, b, 'L'), /only on a,.*hand-over a.*forget a/);
  // The next controller has no such file, and does not forget it.
  await rm(join(lab, 'project-files'), { recursive: true });
  await round(b, 'L');
  await assert.rejects(requireLeftFiles(listing, b, 'L'), { code: 'conflict' });
  await listing.delete('cluster-hosts', 'a');
  await requireLeftFiles(listing, b, 'L');
  assert.deepEqual(await listing.list('left-files'), []);

  // What was noted of a lab that is open or deleted counts no more.
  await large('project-files/qemu/n');
  await round(b, 'L');
  assert.equal((await listing.list('left-files')).length, 1);
  await round(b, undefined);
  await requireLeftFiles(listing, a, 'L');
});
