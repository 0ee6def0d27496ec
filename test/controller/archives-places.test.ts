// What imports put beside what others have, and take away again when they fail.
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { placeImages } from '../../src/controller/archives/images.ts';
import { putInPlace } from '../../src/controller/archives/importing.ts';
import { scratchDirectory } from '../store/scratch.ts';

/** A folder of an archive with one image. */
async function imageIn(directory: string, content: Buffer | string): Promise<string> {
  await mkdir(join(directory, 'QEMU'), { recursive: true });
  await writeFile(join(directory, 'QEMU/x.qcow2'), content);
  return directory;
}

test('two imports at once from another file system place two images of one name, each whole', async (t) => {
  const images = await scratchDirectory(t);
  const shared = await mkdtemp('/dev/shm/labwire-images-').catch(() => undefined);
  if (shared === undefined) return t.skip('there is no /dev/shm');
  t.after(() => rm(shared, { recursive: true }));
  if ((await stat(shared)).dev === (await stat(images)).dev) return t.skip('/dev/shm is on the same file system');
  const contents = ['A', 'B'].map((letter) => Buffer.alloc(64 * 1024 * 1024, letter));
  await using undo = new AsyncDisposableStack();
  await Promise.all(
    contents.map(async (content, index) => placeImages(await imageIn(join(shared, `${index}`), content), images, undo)),
  );
  undo.move();
  const names = (await readdir(join(images, 'QEMU'))).sort();
  assert.deepEqual(names, ['x-1.qcow2', 'x.qcow2']);
  const placed = await Promise.all(names.map((name) => readFile(join(images, 'QEMU', name))));
  for (const content of contents) assert.ok(placed.some((one) => one.equals(content)));
});

test('an import that fails leaves an image that another import has taken over', async (t) => {
  const directory = await scratchDirectory(t);
  const images = join(directory, 'images');
  const [first, second] = [new AsyncDisposableStack(), new AsyncDisposableStack()];
  await placeImages(await imageIn(join(directory, 'first'), 'the same'), images, first);
  await placeImages(await imageIn(join(directory, 'second'), 'the same'), images, second);
  second.move();
  await first.disposeAsync();
  assert.deepEqual(await readdir(join(images, 'QEMU')), ['x.qcow2']);
  // Its own it takes away.
  const third = new AsyncDisposableStack();
  await placeImages(await imageIn(join(directory, 'third'), 'another'), images, third);
  await third.disposeAsync();
  assert.deepEqual(await readdir(join(images, 'QEMU')), ['x.qcow2']);
});

test('an import that fails leaves what was put beside its place meanwhile', async (t) => {
  const directory = await scratchDirectory(t);
  const unpacked = join(directory, 'unpacked');
  const place = join(directory, 'new/class/one');
  await mkdir(unpacked);
  const undo = new AsyncDisposableStack();
  await putInPlace(unpacked, place, undo);
  await mkdir(join(directory, 'new/class/two'));
  await undo.disposeAsync();
  assert.deepEqual(await readdir(join(directory, 'new/class')), ['two']);
  // Folders of its own go.
  await mkdir(unpacked);
  const alone = new AsyncDisposableStack();
  await putInPlace(unpacked, join(directory, 'other/one'), alone);
  await alone.disposeAsync();
  assert.deepEqual((await readdir(directory)).sort(), ['new']);
});
