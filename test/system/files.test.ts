// Files that appear, change and go in a project's directory, whoever writes them: its listeners hear of it.
import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { startDaemon } from './daemon.ts';
import { Lab } from './lab.ts';
import { Listener } from './notifications.ts';

test('a file that any program writes into a project directory is seen at the streams of compute and controller, without a flood', async (t) => {
  const daemon = await startDaemon(t);
  const lab = await Lab.create(daemon);
  await lab.hub('Hub1');
  const { project_id, path } = lab.project;
  const listeners = [
    await Listener.at(t, daemon, `/v2/compute/projects/${project_id}/notifications`),
    await Listener.at(t, daemon, `${lab.path}/notifications`),
  ];
  const sees = async (action: string, file: string): Promise<void> => {
    for (const listener of listeners) {
      const event = await listener.sees(action, (candidate) => candidate.path === file);
      const stat = statSync(join(path, file), { throwIfNoEntry: false });
      const mtime = stat === undefined ? null : stat.mtimeMs / 1000;
      assert.deepEqual(event, { project_id, path: file, size: stat?.size ?? null, mtime });
    }
  };
  // Appears whole: an event of an empty file would not fit what is there.
  writeFileSync(join(daemon.directory, 'notes.txt'), 'one');
  renameSync(join(daemon.directory, 'notes.txt'), join(path, 'notes.txt'));
  await sees('file.created', 'notes.txt');
  appendFileSync(join(path, 'notes.txt'), 'two');
  await sees('file.updated', 'notes.txt');
  mkdirSync(join(path, 'folder/deep'), { recursive: true });
  writeFileSync(join(path, 'folder/deep/Käse (1).txt'), '');
  await sees('file.created', 'folder/deep/Käse (1).txt');
  renameSync(join(path, 'notes.txt'), join(path, 'kept.txt'));
  await sees('file.deleted', 'notes.txt');
  await sees('file.created', 'kept.txt');
  await daemon.ask('POST', `${lab.path}/files/uploaded.txt`, { body: 'by the API' });
  await sees('file.created', 'uploaded.txt');

  // The topology, which every change writes, is no news.
  const pc = await lab.pc('PC1');
  await daemon.put(`${lab.path}/nodes/${pc.node_id}`, { x: 1 });
  await daemon.get(`${lab.path}/files/Lab.gns3`);
  rmSync(join(path, 'kept.txt'));
  await sees('file.deleted', 'kept.txt');
  for (const { messages } of listeners) {
    const files = messages.filter(({ action }) => action.startsWith('file.')).map(({ event }) => event.path);
    assert.deepEqual(
      files.filter((file) => /gns3|tmp/.test(file)),
      [],
    );
  }
});
