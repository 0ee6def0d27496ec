// A damaged database: what can be read of it is taken over, what was damaged is kept, and a sound or a later one is left alone.
import assert from 'node:assert/strict';
import { open, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { connect, Database, settle } from '../../src/store/database.ts';
import { MIGRATIONS } from '../../src/store/migrations.ts';
import { RemoteObjects } from '../../src/store/remote-objects.ts';
import { salvageDatabase } from '../../src/store/salvage.ts';
import { Store } from '../../src/store/store.ts';
import { scratchDirectory } from './scratch.ts';

const DOCUMENTS = 2_000;

/** A state directory with many templates; gives its database's path. */
async function filled(directory: string): Promise<string> {
  const store = await Store.open({ stateDirectory: directory });
  for (let index = 0; index < DOCUMENTS; index++) {
    await store.documents.put('templates', `t${index}`, { name: `Template ${index}`, note: 'x'.repeat(200) });
  }
  await store.close();
  return join(directory, 'labwire.db');
}

async function documents(directory: string): Promise<number> {
  await using store = await Store.open({ stateDirectory: directory });
  return (await store.documents.list('templates')).length;
}

test('pages that were written over cost their own rows and no others; the damaged file is kept', async (t) => {
  const directory = await scratchDirectory(t);
  const path = await filled(directory);
  const file = await open(path, 'r+');
  const { size } = await file.stat();
  // In the middle, where the templates are.
  await file.write(Buffer.alloc(8_192, 0xa5), 0, 8_192, Math.floor(size / 2 / 4_096) * 4_096);
  await file.close();
  const before = await readFile(path);
  await assert.rejects(Store.open({ stateDirectory: directory }), /is damaged .*labwired recover/s);
  const salvage = await salvageDatabase(directory);
  assert.ok(salvage);
  assert.deepEqual(await readFile(salvage.keptAs), before);
  const left = await documents(directory);
  assert.ok(left > DOCUMENTS * 0.5 && left < DOCUMENTS, `${left} templates`);
  assert.equal(left + salvage.lost.length, DOCUMENTS, 'each one that is lost is named');
  assert.equal(await salvageDatabase(directory), undefined, 'a second time there is nothing to do');
});

test('what other hosts are still to delete is known afterwards, also from a database of an earlier release', async (t) => {
  const object = { compute_id: 'c', project_id: 'p', path: '/projects/p' };
  for (const release of [MIGRATIONS.length, 4]) {
    const directory = await scratchDirectory(t);
    const path = join(directory, 'labwire.db');
    {
      await using database = await Database.open(path, MIGRATIONS.slice(0, release));
      const objects = new RemoteObjects(database);
      if (release === 4)
        await database.run(
          'INSERT INTO remote_object (compute_id, project_id, path) VALUES (?, ?, ?)',
          'c',
          'p',
          object.path,
        );
      else await objects.note({ ...object, deleted: true });
      await database.run("INSERT INTO document (kind, id, body) VALUES ('templates', 't', ?)", 'x'.repeat(40_000));
    }
    const file = await open(path, 'r+');
    const { size } = await file.stat();
    await file.write(Buffer.alloc(4_096, 0xa5), 0, 4_096, size - 4_096);
    await file.close();
    assert.ok(await salvageDatabase(directory));
    await using store = await Store.open({ stateDirectory: directory });
    assert.deepEqual(await store.remoteObjects.list(), [{ ...object, deleted: release !== 4 }]);
  }
});

test('a file that is no database at all is put aside, and the server starts', async (t) => {
  const directory = await scratchDirectory(t);
  const path = join(directory, 'labwire.db');
  await filled(directory);
  await writeFile(path, Buffer.alloc(100_000, 'not a database '));
  await salvageDatabase(directory);
  assert.equal(await documents(directory), 0);
  assert.ok((await readdir(directory)).some((name) => name.startsWith('labwire.db.damaged-')));
});

test('a sound database, one of a later release, and one that a server has are left alone', async (t) => {
  const directory = await scratchDirectory(t);
  const path = await filled(directory);
  const before = await stat(path);
  assert.equal(await salvageDatabase(directory), undefined);
  assert.equal((await stat(path)).ino, before.ino);
  {
    await using _running = await Store.open({ stateDirectory: directory });
    await assert.rejects(salvageDatabase(directory), { code: 'conflict', message: /pid/ });
  }
  const connection = await connect(path);
  await settle((done) => connection.exec('PRAGMA user_version = 999', done));
  await settle((done) => connection.close(done));
  await assert.rejects(salvageDatabase(directory), { code: 'conflict', message: /later release/ });
  assert.equal(await salvageDatabase(await scratchDirectory(t)), undefined, 'nothing there, nothing made');
});
