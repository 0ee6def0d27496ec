// What a lab has that its text cannot have is said, and not damaged.
import assert from 'node:assert/strict';
import { lstatSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { exportText } from '../../../src/client/labfile/export.ts';
import { readLabState } from '../../../src/client/labfile/state.ts';
import { Api } from '../../../src/client/server/api.ts';
import { LabServer } from '../../controller/lab-server.ts';

test('notes, files that are no text, and names that mean something else are named', async (t) => {
  const { server, project, path } = await LabServer.withLab(t, {}, { 'VPCS.engine': 'built-in' });
  const api = new Api({ url: `http://127.0.0.1:${server.port}` });
  const exported = async () => exportText(api, await readLabState(api, { project_id: project.project_id as string }));
  const add = async (name: string): Promise<string> => {
    const body = { name, node_type: 'vpcs', compute_id: 'local' };
    return `${path}/nodes/${(await server.expect(201, 'POST', `${path}/nodes`, body)).node_id}/files/startup.vpc`;
  };
  const file = await add('PC1');
  assert.deepEqual((await exported()).leftOut, []);
  await server.request(file, { method: 'POST', body: Buffer.from('\uFEFFset pcname Büro\n') });
  assert.match((await exported()).text, /\uFEFFset pcname Büro|\\uFEFFset pcname Büro/i);

  await server.request(file, { method: 'POST', body: Buffer.from('set pcname B\xfcro\n', 'latin1') });
  for (const name of ['R{1..3}', 'constructor', 'PC 2']) await add(name);
  await server.call('PUT', `${path}/notes`, { text: '# Tasks' });
  const { text, leftOut } = await exported();
  assert.deepEqual(leftOut, [
    'The notes (README.txt) are not in it: an archive has them, labwired export LAB.',
    'Files that are not UTF-8 text are not in it (PC1: startup.vpc): an archive has them, labwired export LAB.',
    'A lab file cannot have the names of some nodes (R{1..3}, constructor): rename these nodes.',
  ]);
  assert.doesNotMatch(text, /pcname B/);

  const notes = join(project.path as string, 'README.txt');
  for (const make of [() => mkdirSync(notes), () => symlinkSync(server.state, notes), () => writeFileSync(notes, '')]) {
    rmSync(notes, { recursive: true });
    make();
    const isNamed = (await exported()).leftOut.some((sentence) => sentence.startsWith('The notes'));
    assert.equal(isNamed, !lstatSync(notes).isFile(), String(make));
  }
});
