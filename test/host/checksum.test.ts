import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { hash, randomBytes } from 'node:crypto';
import { open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { md5Of, RunningChecksum } from '../../src/host/files/checksum.ts';
import { scratchDirectory } from '../store/scratch.ts';

test('files of all sizes are summed up at the same time, wherever they have been read to', async (t) => {
  const directory = await scratchDirectory(t);
  const sizes = [0, 1, 64, 262_143, 262_144, 262_145, 3_000_000];
  await Promise.all(
    sizes.map(async (size) => {
      const content = randomBytes(size);
      const path = join(directory, String(size));
      await writeFile(path, content);
      await using handle = await open(path);
      await handle.read(Buffer.alloc(10), 0, 10);
      assert.equal(await md5Of(handle.fd), hash('md5', content), `${size} bytes`);
    }),
  );
});

test('a file is summed up while it grows, and one that is given up holds nothing up', async (t) => {
  const directory = await scratchDirectory(t);
  const pieces = Array.from({ length: 20 }, () => randomBytes(100_000));
  await using handle = await open(join(directory, 'file'), 'w+');
  {
    using abandoned = new RunningChecksum(handle.fd);
    abandoned.advance(1_000_000_000);
  }
  using checksum = new RunningChecksum(handle.fd);
  let written = 0;
  for (const piece of pieces) {
    await handle.writeFile(piece);
    written += piece.length;
    checksum.advance(written);
  }
  assert.equal(await checksum.finish(), hash('md5', Buffer.concat(pieces)));
});

test('what cannot be read has no checksum, and the next file has one', async (t) => {
  const directory = await scratchDirectory(t);
  await using folder = await open(directory);
  await assert.rejects(md5Of(folder.fd), /No checksum could be made: EISDIR/);
  await writeFile(join(directory, 'file'), 'x');
  await using handle = await open(join(directory, 'file'));
  assert.equal(await md5Of(handle.fd), hash('md5', Buffer.from('x')));
});

test('a process ends that has made checksums', () => {
  const script = `
    import { openSync } from 'node:fs';
    import { md5Of } from ${JSON.stringify(new URL('../../src/host/files/checksum.ts', import.meta.url).href)};
    process.stdout.write(await md5Of(openSync('/dev/null')));`;
  const options = { encoding: 'utf8', timeout: 30_000 } as const;
  assert.equal(
    execFileSync(process.execPath, ['--input-type=module', '--eval', script], options),
    'd41d8cd98f00b204e9800998ecf8427e',
  );
});

test('a file that comes in byte by byte is summed up, however slow the thread is', async (t) => {
  const directory = await scratchDirectory(t);
  const content = randomBytes(2_000_000);
  await using handle = await open(join(directory, 'file'), 'w+');
  await handle.writeFile(content);
  using checksum = new RunningChecksum(handle.fd);
  // As fast as a client's bytes can come at most: the thread is told of them only as it can follow.
  for (let length = 1; length <= content.length; length++) checksum.advance(length);
  assert.equal(await checksum.finish(), hash('md5', content));
});
