// Entries that are picked from archives made by tar, and put back by it.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import { tarEntries } from '../../src/compute/emulators/docker/tar-entries.ts';
import { scratchDirectory } from '../store/scratch.ts';

/** Pieces that end anywhere. */
function* pieces(content: Buffer): Generator<Buffer> {
  for (let at = 0, size = 1; at < content.length; at += size, size = (size * 7) % 1_999)
    yield content.subarray(at, at + size);
}

for (const format of ['pax', 'gnu', 'ustar']) {
  test(`wanted entries alone come through, whatever their paths and sizes: ${format}`, async (t) => {
    const directory = await scratchDirectory(t);
    const from = join(directory, 'from');
    const deep = format === 'ustar' ? `${'d'.repeat(90)}/${'e'.repeat(90)}` : `${'d'.repeat(200)}/ü b`;
    await mkdir(join(from, deep), { recursive: true });
    const kept = ['small', 'empty', `${deep}/file`];
    for (const name of [...kept, 'left', `${deep}/left`])
      await writeFile(join(from, name), name === 'empty' ? '' : name.repeat(700));
    const all = execFileSync('tar', ['-c', `--format=${format}`, '-C', from, '.'], { maxBuffer: 2 ** 24 });
    const wanted = new Set(kept.map((name) => `/${name}`));
    const picked = await buffer(Readable.from(tarEntries(Readable.from(pieces(all)), (path) => wanted.has(path))));
    const listed = execFileSync('tar', ['-t', '--quoting-style=literal'], { input: picked })
      .toString()
      .trim()
      .split('\n');
    assert.deepEqual(listed.sort(), kept.map((name) => `./${name}`).sort());
    const to = join(directory, 'to');
    await mkdir(to);
    execFileSync('tar', ['-x', '-C', to], { input: picked });
    for (const name of kept) assert.deepEqual(await readFile(join(to, name)), await readFile(join(from, name)), name);

    const cut = Readable.from([all.subarray(0, all.indexOf(Buffer.from('smallsmall')) + 100)]);
    await assert.rejects(buffer(Readable.from(tarEntries(cut, () => true))), /archive of the container is damaged/);

    const ended = Readable.from(pieces(all));
    for await (const entry of tarEntries(ended, () => true)) if (entry.length > 0) break;
    assert.ok(ended.destroyed, 'the Engine would go on sending');
  });
}
