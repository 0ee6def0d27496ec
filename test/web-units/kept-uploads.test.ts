// What the page keeps of uploads, and how it knows a file again.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sampleOf } from '../../src/web/model/transfer/file-sample.ts';
import { isSameFile, KeptUploads } from '../../src/web/model/transfer/kept-uploads.ts';

const upload = { computeId: 'local', emulator: 'qemu', filename: 'a.img', filesize: 3, modified: 5, sample: 'x' };

test('uploads are left when their page is, or says nothing any more', () => {
  const values = new Map<string, string>();
  const store = {
    getItem: (key: string) => values.get(key) ?? null,
    setItem: (key: string, value: string) => void values.set(key, value),
  };
  let now = 1_000_000;
  const kept = new KeptUploads(store, () => now);
  kept.keep({ id: 'one', ...upload });
  kept.keep({ id: 'two', ...upload });
  assert.deepEqual(kept.left(), []);
  // Timers of hidden pages run once a minute.
  now += 60_000;
  assert.deepEqual(kept.left(), []);
  now += 40_000;
  kept.say(new Set(['two']));
  now += 60_000;
  const ids = (list: readonly { id: string }[]) => list.map(({ id }) => id);
  assert.deepEqual(ids(kept.left()), ['one']);
  kept.say(new Set(['two']), true);
  assert.deepEqual(ids(kept.left()), ['one', 'two']);
  kept.forget('one');
  assert.deepEqual(ids(kept.all()), ['two']);
  assert.deepEqual([kept.has('one'), kept.has('two')], [false, true]);
  // What others have written there is no list.
  values.set('uploads', '{"a": 1');
  assert.deepEqual(kept.all(), []);
  values.set('uploads', '{}');
  assert.deepEqual(kept.all(), []);
  const full = new KeptUploads({ ...store, setItem: () => assert.fail('no room') });
  full.keep({ id: 'three', ...upload });
  assert.deepEqual(new KeptUploads(undefined).all(), []);
});

test('a file is known by name, size, time and what is in it, wherever it differs in a looked-at part', async () => {
  const bytes = new Uint8Array(3 << 20).map((_, index) => index % 251);
  const file = new File([bytes], 'a.img', { lastModified: 5 });
  const kept = { ...upload, id: 'one', alive: 0, filesize: file.size, sample: await sampleOf(file) };
  assert.equal(await isSameFile(kept, file), 'same');
  assert.equal(await isSameFile(kept, new File([bytes], 'a.img', { lastModified: 6 })), 'changed');
  assert.equal(await isSameFile(kept, new File([bytes], 'b.img', { lastModified: 5 })), 'other');
  assert.equal(await isSameFile(kept, new File([bytes.subarray(1)], 'a.img', { lastModified: 5 })), 'other');
  for (const at of [0, 1000, bytes.length - 1]) {
    const changed = bytes.slice();
    changed[at] = changed[at]! ^ 1;
    assert.equal(await isSameFile(kept, new File([changed], 'a.img', { lastModified: 5 })), 'other', `byte ${at}`);
  }
  for (const size of [1, 100, 4096, 4097, 10_000]) {
    const small = new Uint8Array(size);
    const other = small.slice();
    other[size - 1] = 1;
    assert.notEqual(await sampleOf(new Blob([small])), await sampleOf(new Blob([other])));
  }
});
