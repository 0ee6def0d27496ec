// Archives that share the disk's blocks with the files in them: zip files like all others, which take no space where that can be.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { truncateSync } from 'node:fs';
import {
  appendFile,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  rm,
  stat,
  statfs,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { createAtomicFile } from '../../src/host/files/atomic-file.ts';
import { writeBlockArchive } from '../../src/store/archive/block-archive.ts';
import { ArchiveReader } from '../../src/store/archive/reader.ts';
import type { ArchiveSink } from '../../src/store/archive/writer.ts';
import { testedByUnzip, unzipped } from '../controller/archives-zip.ts';
import { LabServer } from '../controller/lab-server.ts';
import { scratchDirectory } from './scratch.ts';

async function archived(path: string, fill: (archive: ArchiveSink) => Promise<void>): Promise<void> {
  await using file = await createAtomicFile(path);
  await writeBlockArchive(file, fill);
}

async function addPath(archive: ArchiveSink, name: string, path: string): Promise<void> {
  const handle = await open(path);
  await archive.addOpenFile(name, { handle, stat: await handle.stat() });
}

test('an archive on disk is read by every program, and large files begin at blocks', async (t) => {
  const directory = await scratchDirectory(t);
  const sizes = [0, 1, 4095, 65_535, 65_536, 65_537, 1_000_000];
  const contents = sizes.map((size) => randomBytes(size));
  for (const [index, content] of contents.entries())
    await writeFile(join(directory, `${index}`), content, { mode: 0o755 });
  const path = join(directory, 'archive');
  await archived(path, async (archive) => {
    await archive.addText('project.gns3', '{"ü":1}');
    for (const index of sizes.keys()) await addPath(archive, `dir/${index} ü`, join(directory, `${index}`));
    await archive.addFile('stream', Readable.from([Buffer.from('of '), Buffer.from('unknown size')]), {
      modified: new Date(0),
    });
    await archive.addFile('nothing', Readable.from([]));
    await archive.addLink('link', 'dir/1');
    await archive.addFolder('empty');
  });
  const tested = testedByUnzip(await readFile(path));
  if (tested !== undefined) assert.match(tested, /Done testing/);
  const found = await unzipped(path);
  assert.deepEqual([found['project.gns3'], found['stream'], found['nothing']], ['{"ü":1}', 'of unknown size', '']);
  assert.deepEqual([found['link'], found['empty']], ['-> dir/1', null]);
  await using handle = await open(path);
  const reader = await ArchiveReader.open(handle);
  for (const [index, content] of contents.entries()) {
    const entry = reader.entries.get(`dir/${index} ü`);
    assert.ok(entry);
    assert.ok((await reader.bytes(entry)).equals(content));
    assert.equal(entry.mode.toString(8), '755');
    assert.ok(Math.abs(entry.modified.getTime() - Date.now()) < 60_000);
    if (content.length < 65_536) continue;
    assert.equal((await readFile(path)).indexOf(content.subarray(0, 100)) % 4096, 0);
  }
});

test('a file that grows or shrinks while it is archived is in it as far as it was there', async (t) => {
  const directory = await scratchDirectory(t);
  const grown = join(directory, 'grown');
  const shrunk = join(directory, 'shrunk');
  await writeFile(grown, 'x'.repeat(100_000));
  await writeFile(shrunk, 'x'.repeat(100_000));
  const path = join(directory, 'archive');
  await archived(path, async (archive) => {
    for (const name of [grown, shrunk]) {
      const handle = await open(name);
      const status = await handle.stat();
      if (name === grown) await appendFile(name, 'y');
      else await truncate(name, 10);
      await archive.addOpenFile(name === grown ? 'grown' : 'shrunk', { handle, stat: status });
    }
    await archive.addText('after', 'after');
  });
  const found = await unzipped(path);
  assert.deepEqual([found['grown'], found['shrunk'], found['after']], ['x'.repeat(100_000), 'x'.repeat(10), 'after']);
});

test('an archive is readable if its last file shrinks after its blocks were shared', async (t) => {
  const disk = await sharingFileSystem(t);
  if (disk === undefined) return;
  const [shrunk, path] = [join(disk, 'shrunk'), join(disk, 'archive')];
  await writeFile(shrunk, 'x'.repeat(2_000_000));
  const handle = await open(shrunk);
  const status = await handle.stat();
  await archived(path, (archive) =>
    archive.addOpenFile('shrunk', { handle, stat: status }, () => truncateSync(shrunk, 10)),
  );
  assert.deepEqual(await unzipped(path), { shrunk: 'x'.repeat(10) });
});

test('an archive of more entries than 16 bits can count is complete', async (t) => {
  const directory = await scratchDirectory(t);
  const path = join(directory, 'archive');
  await archived(path, async (archive) => {
    for (let index = 0; index < 66_000; index += 1) await archive.addFolder(`${index}`);
  });
  const found = Object.keys(await unzipped(path));
  assert.deepEqual([found.length, found.at(-1)], [66_000, '65999']);
});

test('an archive that cannot be completed leaves nothing', async (t) => {
  const directory = await scratchDirectory(t);
  const path = join(directory, 'archive');
  await assert.rejects(
    archived(path, async (archive) => {
      await archive.addText('a', 'a');
      await archive.addFile('b', Readable.from(failing()));
    }),
    /broken/,
  );
  await assert.rejects(stat(path));
});

// biome-ignore lint/correctness/useYield: fails before it has anything to give
async function* failing(): AsyncGenerator<Buffer> {
  throw new Error('broken');
}

/** A file system that can share blocks, or undefined after the test was skipped because there can be none here. */
async function sharingFileSystem(t: TestContext): Promise<string | undefined> {
  const directory = await mkdtemp(join(tmpdir(), 'labwire-test-'));
  const image = join(directory, 'image');
  const place = join(directory, 'mounted');
  try {
    await mkdir(place);
    await writeFile(image, '');
    await truncate(image, 700 * 1024 * 1024);
    execFileSync('mkfs.xfs', ['-q', image], { stdio: 'pipe' });
    execFileSync('mount', ['-o', 'loop', image, place], { stdio: 'pipe' });
  } catch (error) {
    await rm(directory, { recursive: true });
    t.skip(`XFS cannot be made and mounted here (${error instanceof Error ? error.message.split('\n')[0] : error})`);
    return undefined;
  }
  t.after(async () => {
    execFileSync('umount', ['--lazy', place]);
    await rm(directory, { recursive: true });
  });
  return place;
}

test('snapshots of a large disk, its restoration and copies of the lab take no space where blocks can be shared', async (t) => {
  const disk = await sharingFileSystem(t);
  if (disk === undefined) return;
  const { server, project, path } = await LabServer.withLab(t, {}, { projects_path: join(disk, 'projects') });
  await mkdir(join(project.path, 'project-files/qemu'), { recursive: true });
  const content = randomBytes(100_000_001);
  await writeFile(join(project.path, 'project-files/qemu/disk'), content);
  const used = async (): Promise<number> => {
    execFileSync('sync', ['--file-system', disk]);
    const { blocks, bfree, bsize } = await statfs(disk);
    return (blocks - bfree) * bsize;
  };
  const before = await used();
  for (const name of ['one', 'two', 'three']) await server.expect(201, 'POST', `${path}/snapshots`, { name });
  const [snapshot] = await server.expect(200, 'GET', `${path}/snapshots`);
  await server.expect(201, 'POST', `${path}/snapshots/${snapshot.snapshot_id}/restore`);
  await server.expect(201, 'POST', `${path}/duplicate`, { name: 'copy' });
  const more = (await used()) - before;
  assert.ok(more < 5_000_000, `${more} bytes more`);
  assert.ok((await readFile(join(project.path, 'project-files/qemu/disk'))).equals(content));
  const [file] = await readdir(join(project.path, 'snapshots'));
  const archive = await readFile(join(project.path, 'snapshots', String(file)));
  const tested = testedByUnzip(archive);
  if (tested !== undefined) assert.match(tested, /Done testing/);
});
