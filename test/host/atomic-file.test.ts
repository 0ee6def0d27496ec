import assert from 'node:assert/strict';
import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { createAtomicFile, writeFileAtomically } from '../../src/host/files/atomic-file.ts';
import { removeLeftovers } from '../../src/host/files/leftovers.ts';
import { failure, remountReadOnly, scratchDirectory, scratchFileSystem } from '../store/scratch.ts';

test('a file is replaced as a whole, with the permissions asked for, and nothing else is left in the folder', async (t) => {
  const directory = await scratchDirectory(t);
  const path = join(directory, 'lab.gns3');
  await writeFileAtomically(path, 'old');
  const status = await writeFileAtomically(path, Buffer.from('new'), { mode: 0o666 });
  assert.equal(await readFile(path, 'utf8'), 'new');
  const found = await stat(path, { bigint: true });
  assert.equal(found.mode & 0o777n, 0o666n);
  assert.deepEqual([status.ino, status.size, status.mtimeNs], [found.ino, found.size, found.mtimeNs]);
  assert.deepEqual(await readdir(directory), ['lab.gns3']);
});

test('until it is committed a new file is not to be seen, and the old one is whole', async (t) => {
  const directory = await scratchDirectory(t);
  const path = join(directory, 'image.bin');
  await writeFile(path, 'old');
  const file = await createAtomicFile(path);
  await file.write('one ');
  await file.write(new Uint8Array([0x74, 0x77, 0x6f]));
  assert.equal(await readFile(path, 'utf8'), 'old');
  await file.commit();
  await file.abort();
  assert.equal(await readFile(path, 'utf8'), 'one two');
});

test('an upload that breaks off leaves the old content and no temporary file', async (t) => {
  const directory = await scratchDirectory(t);
  const path = join(directory, 'image.bin');
  await writeFile(path, 'old');
  const broken = async function* () {
    yield Buffer.alloc(100_000);
    throw new Error('the client went away');
  };
  await assert.rejects(writeFileAtomically(path, broken()), /the client went away/);
  {
    await using file = await createAtomicFile(path);
    await file.write('never committed');
  }
  assert.equal(await readFile(path, 'utf8'), 'old');
  assert.deepEqual(await readdir(directory), ['image.bin']);
});

test('the first error of a file is the one that every later call reports', async (t) => {
  const directory = await scratchDirectory(t);
  const file = await createAtomicFile(join(directory, 'x'));
  const broken = async function* () {
    yield 'a';
    throw new Error('first');
  };
  await assert.rejects(file.write(broken()), /first/);
  await assert.rejects(file.write('more'), /first/);
  await assert.rejects(file.commit(), /first/);
  assert.deepEqual(await readdir(directory), []);
});

test('on a full disk the old content stays intact and the error says that space is missing', async (t) => {
  const directory = await scratchFileSystem(t, '256k');
  if (directory === undefined) return;
  const path = join(directory, 'lab.gns3');
  await writeFileAtomically(path, 'old');
  await assert.rejects(
    writeFileAtomically(path, Buffer.alloc(1_000_000)),
    failure('out-of-space', /lab\.gns3: no space is left/),
  );
  assert.equal(await readFile(path, 'utf8'), 'old');
  assert.deepEqual(await readdir(directory), ['lab.gns3']);
});

test('on a read-only file system the error names the file', async (t) => {
  const directory = await scratchFileSystem(t, '256k');
  if (directory === undefined) return;
  const path = join(directory, 'lab.gns3');
  await writeFileAtomically(path, 'old');
  remountReadOnly(directory);
  await assert.rejects(
    writeFileAtomically(path, 'new'),
    failure('conflict', /lab\.gns3: the file system is read-only/),
  );
  assert.equal(await readFile(path, 'utf8'), 'old');
});

test('what stands in the way is named: a directory, a missing folder, a name that is too long', async (t) => {
  const directory = await scratchDirectory(t);
  await mkdir(join(directory, 'folder'));
  await assert.rejects(
    writeFileAtomically(join(directory, 'folder'), 'x'),
    failure('conflict', /folder: it is a directory/),
  );
  await assert.rejects(writeFileAtomically(join(directory, 'no/such'), 'x'), failure('not-found', /no\/such/));
  await assert.rejects(writeFileAtomically(join(directory, 'x'.repeat(256)), 'x'), failure('forbidden', /too long/));
  assert.deepEqual(await readdir(directory), ['folder']);
});

test('a name as long as the file system allows can be written', async (t) => {
  const directory = await scratchDirectory(t);
  for (const name of ['x'.repeat(255), '\u{1f5a7}'.repeat(63)]) {
    await writeFileAtomically(join(directory, name), 'x');
    assert.equal(await readFile(join(directory, name), 'utf8'), 'x');
  }
});

test('what a killed daemon left behind goes away, uploads under way and everything else stay', async (t) => {
  const directory = await scratchDirectory(t);
  await writeFile(join(directory, '.lab.gns3.0123456789ab.labwire-tmp'), 'half');
  await writeFile(join(directory, '.lab.labwire-tmp'), 'a name that somebody chose');
  const file = await createAtomicFile(join(directory, 'lab.gns3'));
  assert.equal(await removeLeftovers(directory), 1);
  await file.write('whole');
  await file.commit();
  assert.deepEqual((await readdir(directory)).sort(), ['.lab.labwire-tmp', 'lab.gns3']);
});

test('a folder that may not be written in is reported as forbidden', {
  skip: process.getuid!() === 0 && 'root may write everywhere',
}, async (t) => {
  const directory = await scratchDirectory(t);
  await chmod(directory, 0o500);
  await assert.rejects(writeFileAtomically(join(directory, 'x'), 'x'), failure('forbidden', /permission denied/));
});
