// The files of open labs, on a real store.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { LabWriter } from '../../src/controller/lab/lab-writer.ts';
import { newSettings } from '../../src/controller/lab/settings.ts';
import { Store } from '../../src/store/store.ts';
import { scratchDirectory } from '../store/scratch.ts';

test('a stop waits for the write of a file that has begun', async (t) => {
  const directory = await scratchDirectory(t);
  await using store = await Store.open({ stateDirectory: join(directory, 'state') });
  const id = '11111111-2222-4333-8444-555555555555';
  const record = { ...newSettings('lab', {}), project_id: id, path: join(directory, 'lab'), filename: 'lab.gns3' };
  const contents = { nodes: [], links: [], drawings: [], computes: [] };
  await store.labs.begin(id, contents, { project: record });
  const writer = new LabWriter({ store, version: '1', warn: () => {} });
  const writing = writer.flush(id);
  await writer.stop();
  assert.equal((await store.labs.state(id))?.dirty, false);
  await writing;
});
