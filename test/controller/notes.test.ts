// The notes of a lab, which lie where the release's clients have them.
import assert from 'node:assert/strict';
import { readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { LabServer, until } from './lab-server.ts';

test('notes are the README.txt of a lab, open or closed; a copy has them, too', async (t) => {
  const server = await LabServer.start(t);
  const { project_id: id, path } = await server.project('Lab', { auto_close: false });
  const notes = `/v2/projects/${id}/notes`;
  const file = join(path, 'README.txt');
  assert.deepEqual(await server.expect(200, 'GET', notes), { text: '' });
  await server.expect(204, 'PUT', notes, { text: '# Task\n\nPing 10.0.0.2 – “now”.' });
  assert.equal(await readFile(file, 'utf8'), '# Task\n\nPing 10.0.0.2 – “now”.');
  // No compute watches the directory of a lab without nodes.
  const told = await server.record(`/v2/projects/${id}/notifications/ws`);
  await server.expect(204, 'PUT', notes, { text: 'ä' });
  await until(() => told.length > 0, 'the event');
  const { action, event } = told[0]!;
  const { mtime, ...rest } = event;
  assert.deepEqual([action, rest], ['file.updated', { project_id: id, path: 'README.txt', size: 2 }]);
  assert.ok(Math.abs(mtime - Date.now() / 1000) < 60, String(mtime));
  // As clients of the release write them.
  const upload = (name: string) =>
    server.request(`/v2/projects/${id}/files/${name}`, { method: 'POST', body: 'Task 2' });
  for (const name of ['other.txt', 'README.txt']) assert.equal((await upload(name)).status, 201);
  await until(() => told.length > 1, 'the event of the upload');
  assert.deepEqual(
    [told.length, told[1]?.action, told[1]?.event.path, told[1]?.event.size],
    [2, 'file.updated', 'README.txt', 6],
  );
  await server.expect(204, 'POST', `/v2/projects/${id}/close`);
  await writeFile(file, 'Written by a client of the release');
  assert.deepEqual(await server.expect(200, 'GET', notes), { text: 'Written by a client of the release' });
  const copy = await server.expect(201, 'POST', `/v2/projects/${id}/duplicate`, { name: 'Copy' });
  assert.deepEqual(await server.expect(200, 'GET', `/v2/projects/${copy.project_id}/notes`), {
    text: 'Written by a client of the release',
  });
  // Written on an old Windows.
  await writeFile(file, Buffer.from('f\xfcr alle', 'latin1'));
  assert.deepEqual(await server.expect(200, 'GET', notes), { text: 'für alle' });
});

test('notes of the wrong type or length are rejected with the member, and a link out of the lab is refused', async (t) => {
  const server = await LabServer.start(t);
  const { project_id: id, path } = await server.project('Lab');
  const notes = `/v2/projects/${id}/notes`;
  const rejected = async (status: number, body: unknown): Promise<string> =>
    (await server.expect(status, 'PUT', notes, body)).message;
  assert.match(await rejected(400, { text: 7 }), /text: /);
  assert.match(await rejected(400, {}), /text/);
  assert.match(
    await rejected(413, { text: 'ä'.repeat(150_000) }),
    /text: the notes have 300000 bytes; shorten them to 262144/,
  );
  await symlink('/etc/passwd', join(path, 'README.txt'));
  await server.expect(403, 'GET', notes);
  await server.expect(403, 'PUT', notes, { text: 'mine' });
  await rm(join(path, 'README.txt'));
  await server.expect(204, 'PUT', notes, { text: 'mine' });
});
