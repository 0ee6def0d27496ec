// The parts of copies of disks and layers on their host.
import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { LayerManifest, MOST_CHUNKS } from '../../src/api/disk-checkpoint.ts';
import { CheckpointParts, TooMuch } from '../../src/compute/nodes/checkpoint-parts.ts';
import { scratchDirectory } from '../store/scratch.ts';

class Parts extends CheckpointParts<LayerManifest> {
  async add(contents: readonly string[]): Promise<void> {
    await this.begin();
    const parts: string[] = [];
    for (const content of contents) parts.push(await this.keep(Buffer.from(content)));
    await this.finish({ container: 'c', image: 'i', state: '', deleted: [], parts }, 'it has');
  }
}

test('of a copy that is too large nothing stays, and of one that fails the former one alone', async (t) => {
  const parts = new Parts(join(await scratchDirectory(t), 'parts'), LayerManifest);
  const names = (): Promise<string[]> => readdir(parts.directory).then((found) => found.sort());
  await parts.add(['one', 'two']);
  const [manifest, before] = [await parts.manifest(), await names()];
  assert.equal(before.length, 3);
  await assert.rejects(parts.add(['one', ...Array.from({ length: MOST_CHUNKS }, (_, index) => `${index}`)]), TooMuch);
  assert.equal(await parts.manifest(), undefined);
  await parts.unchanged(manifest as LayerManifest);
  assert.deepEqual([await parts.manifest(), await names()], [manifest, before]);
  await parts.begin();
  await parts.noteTooMuch(5);
  assert.deepEqual(await names(), ['unfinished']);
  assert.equal(await parts.tooMuch(), 5);
});
