// Pipes and endless files where the server looks for files of others: nothing waits for them, and nothing is read without a bound.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { exists } from '../../src/host/files/exists.ts';
import { makeDeepFolder } from '../store/scratch.ts';
import { LabServer } from './lab-server.ts';

const PLACES = ['appliances/x.gns3a', 'symbols/x.svg', 'images/QEMU/x.img', 'images/QEMU/y.img.md5sum'];
const DRAWING = { x: 0, y: 0, svg: `<svg width="1" height="1"><!--${'x'.repeat(1_100)}--></svg>` };

const PC = { node_type: 'vpcs' };

/** Everything that looks into these files, several times at once: more often than Node has threads for files. */
async function lookAtAll(server: LabServer, project: string): Promise<void> {
  const paths = ['/v2/appliances', '/v2/symbols', '/v2/compute/qemu/images'];
  const own = ['drawings', 'nodes', 'files'].map((what) => `/v2/projects/${project}/${what}`);
  for (const path of [...paths, ...own]) {
    const answers = await Promise.all(Array.from({ length: 6 }, () => server.call('GET', path)));
    for (const { status } of answers) assert.ok(status < 500, `${path}: ${status}`);
  }
}

test('pipes and sparse files of a terabyte in the folders of symbols, appliances, images and pictures hold nothing up', async (t) => {
  const server = await LabServer.start(t);
  const { project_id: id, path } = await server.project();
  const drawing = await server.expect(201, 'POST', `/v2/projects/${id}/drawings`, DRAWING);
  const pictures = join(path, 'project-files/images');
  const [picture = ''] = await readdir(pictures);
  for (const place of PLACES) await mkdir(join(server.state, place, '..'), { recursive: true });
  await writeFile(join(server.state, 'images/QEMU/y.img'), 'an image');
  const places = [...PLACES.map((place) => join(server.state, place)), join(pictures, picture)];
  for (const make of [
    async (place: string) => void execFileSync('mkfifo', [place]),
    async (place: string) => {
      await writeFile(place, '');
      // The checksum of an image is made of all of it.
      await truncate(place, place.endsWith('x.img') ? 1024 : 2 ** 40);
    },
  ]) {
    for (const place of places) {
      await rm(place, { force: true });
      await make(place);
    }
    await lookAtAll(server, id);
    const [shown] = await server.expect(200, 'GET', `/v2/projects/${id}/drawings`);
    assert.deepEqual([shown.drawing_id, shown.svg], [drawing.drawing_id, '<svg></svg>']);
  }
});

test('a lab whose many drawings name a large picture opens, and its list has some of them', async (t) => {
  const server = await LabServer.start(t);
  const { project_id: id, path } = await server.project();
  const lab = `/v2/projects/${id}`;
  await server.expect(201, 'POST', `${lab}/drawings`, { x: 0, y: 0, svg: '<svg></svg>' });
  await server.expect(204, 'POST', `${lab}/close`);
  await mkdir(join(path, 'project-files/images'), { recursive: true });
  for (const [name, size] of [
    ['a.svg', 20],
    ['b.svg', 40],
  ] as const)
    await writeFile(join(path, 'project-files/images', name), `<svg>${'a'.repeat(size * 1024 * 1024)}</svg>`);
  const topology = join(path, 'lab.gns3');
  const document = JSON.parse(await readFile(topology, 'utf8'));
  const { drawings } = document.topology;
  const [one] = drawings.splice(0);
  for (const svg of ['b.svg', ...Array(60).fill('a.svg')]) drawings.push({ ...one, svg, drawing_id: randomUUID() });
  await writeFile(topology, JSON.stringify(document));
  await server.expect(201, 'POST', `${lab}/open`);
  const list = await server.expect(200, 'GET', `${lab}/drawings`);
  assert.equal(list.length, 61);
  assert.deepEqual(
    list.flatMap(({ svg }: { svg: string }, at: number) => (svg === '<svg></svg>' ? [] : [at])),
    [1, 2, 3],
  );
  const last = await server.expect(200, 'GET', `${lab}/drawings/${list[60].drawing_id}`);
  assert.ok(last.svg.length > 20_000_000);
});

test('nodes and labs with paths that are longer than a system call takes are deleted with all their files', async (t) => {
  const server = await LabServer.start(t);
  const project = await server.project('lab', { auto_close: false });
  const { project_id: id, path } = project;
  const folder = join(path, 'project-files/vpcs');
  const [first, second] = [await server.hub(project, 'PC1', PC), await server.hub(project, 'PC2', PC)];
  for (const { node_id: node } of [first, second]) {
    await mkdir(join(folder, node), { recursive: true });
    await makeDeepFolder(join(folder, node, 'deep'));
  }
  await server.expect(204, 'DELETE', `/v2/projects/${id}/nodes/${first.node_id}`);
  await server.expect(204, 'POST', `/v2/projects/${id}/close`);
  assert.deepEqual(await readdir(folder), [second.node_id]);
  assert.equal(await exists(join(path, 'project-files/tmp/deleted')), false);
  await server.expect(204, 'DELETE', `/v2/projects/${id}`);
  assert.deepEqual(await readdir(join(server.state, 'projects')), []);
});

test('a closed lab whose file has become a pipe answers, and says why it does not open', async (t) => {
  const server = await LabServer.start(t);
  const { project_id: id, path, filename } = await server.project();
  await server.expect(204, 'POST', `/v2/projects/${id}/close`);
  await rm(join(path, filename));
  execFileSync('mkfifo', [join(path, filename)]);
  const nodes = await Promise.all(Array.from({ length: 6 }, () => server.call('GET', `/v2/projects/${id}/nodes`)));
  for (const { status, json } of nodes) assert.deepEqual([status, /regular file/.test(json.message)], [409, true]);
  assert.match((await server.expect(409, 'POST', `/v2/projects/${id}/open`)).message, /regular file/);
  await server.project('another');
});
