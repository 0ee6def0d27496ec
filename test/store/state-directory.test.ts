// A state directory in which something else is where the server's own files should be: said in one sentence, never waited for.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { cp, mkdir, rename, stat, truncate, writeFile } from 'node:fs/promises';

import { join } from 'node:path';
import { test } from 'node:test';
import { CustomFolder } from '../../src/controller/symbols/custom-folder.ts';
import { App } from '../../src/http/app/app.ts';
import { HttpServer } from '../../src/http/app/server.ts';
import { Database } from '../../src/store/database.ts';
import { MIGRATIONS } from '../../src/store/migrations.ts';
import { salvageDatabase } from '../../src/store/salvage.ts';
import { Store } from '../../src/store/store.ts';
import { failure, fill, scratchDirectory } from './scratch.ts';

test('a database that is a pipe or a directory is reported at once, at the start and to recover', async (t) => {
  for (const make of [
    (path: string) => Promise.resolve(execFileSync('mkfifo', [path])),
    (path: string) => mkdir(path),
  ]) {
    const stateDirectory = await scratchDirectory(t);
    await make(join(stateDirectory, 'labwire.db'));
    await assert.rejects(
      Store.open({ stateDirectory }),
      failure('conflict', /labwire\.db is not a regular file: move/),
    );
    await assert.rejects(salvageDatabase(stateDirectory), failure('conflict', /labwire\.db is not a regular file/));
  }
});

test('pipes and directories in the place of other files of the database and the lock are reported at once', async (t) => {
  for (const name of ['labwire.db-journal', 'labwire.db-wal', 'labwire.db-shm', 'labwired.lock', 'labwired.pid']) {
    for (const make of [(path: string) => void execFileSync('mkfifo', [path]), (path: string) => mkdir(path)]) {
      const stateDirectory = await scratchDirectory(t);
      await make(join(stateDirectory, name));
      const reason = new RegExp(`/${name} is not a regular file: move it away$`);
      await assert.rejects(Store.open({ stateDirectory }), failure('conflict', reason), name);
    }
  }
});

test('a lock file that is no lock is reported with the fix', async (t) => {
  const stateDirectory = await scratchDirectory(t);
  await writeFile(join(stateDirectory, 'labwired.lock'), Buffer.alloc(5_000, 200));
  await assert.rejects(Store.open({ stateDirectory }), failure('conflict', /labwired\.lock is damaged: delete it/));
});

test('an emptied database is damaged, not new, and its log is kept for recover', async (t) => {
  for (const size of [0, 1, 511]) {
    const stateDirectory = await scratchDirectory(t);
    const [database, aside] = [join(stateDirectory, 'labwire.db'), await scratchDirectory(t)];
    {
      await using store = await Store.open({ stateDirectory });
      await store.documents.put('templates', 'x', { x: 1 });
      for (const suffix of ['', '-wal']) await cp(database + suffix, join(aside, `labwire.db${suffix}`));
    }
    // As after a kill, when the log has all that there is.
    for (const suffix of ['', '-wal']) await cp(join(aside, `labwire.db${suffix}`), database + suffix);
    await truncate(database, size);
    await assert.rejects(
      Store.open({ stateDirectory }),
      failure('conflict', /is damaged \(it has no tables\)/),
      `${size}`,
    );
    assert.ok((await stat(`${database}-wal`)).size > 0);
    assert.ok(await salvageDatabase(stateDirectory));
    await using store = await Store.open({ stateDirectory });
    assert.deepEqual(await store.documents.list('templates'), [{ id: 'x', body: { x: 1 } }]);
  }
  // A first start that was killed leaves an empty one.
  const stateDirectory = await scratchDirectory(t);
  await writeFile(join(stateDirectory, 'labwire.db'), '');
  await openedAndClosed(stateDirectory);
});

test('of two directories with one identity in use at once, the later one is a copy, whatever their places and inodes are', async (t) => {
  const [stateDirectory, aside] = [join(await scratchDirectory(t), 'state'), join(await scratchDirectory(t), 'aside')];
  const { instance } = await openedAndClosed(stateDirectory);
  await rename(stateDirectory, aside);
  await cp(aside, stateDirectory, { recursive: true });
  const original = await Store.open({ stateDirectory: aside });
  assert.equal(original.instance, instance);
  await using copy = await Store.open({ stateDirectory });
  assert.notEqual(copy.instance, instance);
  await original.close();
  assert.equal((await openedAndClosed(aside)).instance, instance);
});

/** A store that was open for a moment. */
async function openedAndClosed(stateDirectory: string): Promise<Store> {
  const store = await Store.open({ stateDirectory });
  await store.close();
  return store;
}

test('a pipe in the place of the reserved space blocks no start', async (t) => {
  const stateDirectory = await scratchDirectory(t);
  execFileSync('mkfifo', [join(stateDirectory, 'reserve')]);
  await using store = await Store.open({ stateDirectory });
  store.reserveSpace();
  await store.documents.put('settings', 'a', { a: 1 });
  await store.documents.delete('settings', 'a');
});

test('a file in the place of the symbols is reported with the key that names another', async (t) => {
  const path = join(await scratchDirectory(t), 'symbols');
  await writeFile(path, '');
  await assert.rejects(
    new CustomFolder(path).start(),
    failure('conflict', /^symbols_path .*something else is in the place/),
  );
});

test('what is no certificate or key is reported, whatever it is', async (t) => {
  const directory = await scratchDirectory(t);
  const certificate = join(directory, 'certificate.pem');
  await writeFile(certificate, 'no certificate');
  const keys: [string, (path: string) => unknown, RegExp][] = [
    ['directory', (path) => mkdir(path), /^certkey .* cannot be read: it is not a regular file/],
    ['pipe', (path) => execFileSync('mkfifo', [path]), /^certkey .* cannot be read: it is not a regular file/],
    ['missing', () => {}, /^certkey .* cannot be read: ENOENT/],
    ['text', (path) => writeFile(path, 'no key'), /are no certificate and its key \(.*\): name PEM files/],
  ];
  for (const [name, make, message] of keys) {
    const key = join(directory, name);
    await make(key);
    const start = async () =>
      new HttpServer(new App([]), { host: '127.0.0.1', port: 0, tls: { certificate, key } }).start();
    await assert.rejects(start(), failure('invalid', message), name);
  }
});

test('records that are no JSON are left out, one by one, and what the file of a lab has is not lost', async (t) => {
  const stateDirectory = await scratchDirectory(t);
  const id = '12345678-1234-4234-8234-123456789abc';
  const project = { project_id: id, name: 'lab', path: '/nowhere', filename: 'lab.gns3' } as never;
  {
    await using store = await Store.open({ stateDirectory });
    const contents = { nodes: [{ node_id: 'a' }, { node_id: 'b' }], links: [], drawings: [], computes: [] };
    await store.labs.begin(id, contents, { project });
    await store.projects.put({ ...(project as object), project_id: 'whole' } as never);
    await store.documents.put('templates', 'x', { x: 1 });
    await store.documents.put('templates', 'y', { y: 1 });
  }
  for (const damage of ['{"half": ', '', '[]', '"text"', 'null', '{"project_id": 7}']) {
    {
      await using database = await Database.open(join(stateDirectory, 'labwire.db'), MIGRATIONS);
      await database.run("UPDATE lab_record SET body = ? WHERE id = 'a'", damage);
      await database.run('UPDATE project SET body = ? WHERE project_id = ?', damage, id);
      await database.run("UPDATE document SET body = ? WHERE id = 'x'", damage);
    }
    await using store = await Store.open({ stateDirectory });
    assert.deepEqual(
      (await store.projects.list()).map((record) => record.project_id),
      ['whole'],
      damage,
    );
    assert.equal(await store.projects.get(id), undefined);
    const isObject = damage.startsWith('{"project_id');
    assert.deepEqual(
      (await store.documents.list('templates')).map((document) => document.id),
      isObject ? ['x', 'y'] : ['y'],
    );
    const lab = (await store.labs.load(id))!;
    assert.deepEqual(lab.nodes.length, isObject ? 2 : 1);
    assert.deepEqual(lab.damaged, isObject ? [] : [{ kind: 'node', id: 'a' }]);
  }
  assert.equal(await salvageDatabase(stateDirectory), undefined);
});

test('a killed server starts on a full disk whose blocks are smaller than pages of the database', async (t) => {
  const [image, disk] = [join(await scratchDirectory(t), 'image'), await scratchDirectory(t)];
  try {
    execFileSync('truncate', ['--size=5M', image]);
    execFileSync('mkfs.ext4', ['-q', '-b', '1024', image], { stdio: 'pipe' });
    execFileSync('mount', ['-o', 'loop', image, disk], { stdio: 'pipe' });
  } catch (error) {
    return t.skip(`no small ext4 can be mounted here (${String(error)})`);
  }
  // Before the directory is removed.
  using mounted = new DisposableStack();
  mounted.defer(() => execFileSync('umount', ['--lazy', disk]));
  const stateDirectory = join(disk, 'state');
  const store = new URL('../../src/store/store.ts', import.meta.url).href;
  const run = (then: string) =>
    spawnSync(process.execPath, [
      '--input-type=module',
      '--eval',
      `const { Store } = await import('${store}');
       const store = await Store.open({ stateDirectory: '${stateDirectory}' });
       ${then}; process.kill(process.pid, 'SIGKILL')`,
    ]);
  assert.equal(run('store.reserveSpace(); await store[Symbol.asyncDispose]()').signal, 'SIGKILL');
  const put = `for (let n = 0; n < 50; n++) await store.documents.put('templates', String(n), { text: 'x'.repeat(3000) })`;
  assert.equal(run(put).signal, 'SIGKILL');
  fill(join(disk, 'ballast'));
  const { signal, stderr } = run('');
  // Without room it was SIGBUS.
  assert.equal(signal, 'SIGKILL', String(stderr));
});
