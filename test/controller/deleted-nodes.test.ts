// Nodes deleted with `keep=yes`: they come back with files and links, and what is over is over.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { KEPT_MS } from '../../src/api/deleted-nodes.ts';
import { DeletedNodes } from '../../src/controller/lab/deleted-nodes.ts';
import type { Node } from '../../src/controller/nodes/node.ts';
import type { Body } from '../body.ts';
import { disk, noQemu, SMALL } from '../compute/qemu-support.ts';
import { scratchDirectory } from '../store/scratch.ts';
import { entriesOf } from './archives-zip.ts';
import { LabServer, until } from './lab-server.ts';

const STARTUP = 'set pcname Kept\nip 10.0.0.1/24\n';

/** A built-in PC with a start-up script, linked to a hub; and where its files are. */
async function linkedPc(t: TestContext) {
  const { server, project, path } = await LabServer.withLab(t, {}, { 'VPCS.engine': 'built-in' });
  const hub = await server.hub(project, 'Hub');
  const body = { name: 'PC', node_type: 'vpcs', compute_id: 'local', x: 40, properties: { startup_script: STARTUP } };
  const pc = await server.expect(201, 'POST', `${path}/nodes`, body);
  const link = await server.link(project, [pc, 0], [hub, 3], { filters: { delay: [20] } });
  const directory = join(project.path, 'project-files/vpcs', pc.node_id);
  const remove = (): Promise<Body> => server.expect(200, 'DELETE', `${path}/nodes/${pc.node_id}?keep=yes`);
  const restored = `${path}/deleted_nodes/${pc.node_id}/restore`;
  return { server, project, path, hub, pc, link, directory, remove, restored };
}

const script = (directory: string): string => readFileSync(join(directory, 'startup.vpc'), 'utf8');

test('a deleted node is restored as it was, with its files and its link, and clients hear of it', async (t) => {
  const { server, path, pc, link, directory, remove, restored } = await linkedPc(t);
  const before = await server.expect(200, 'GET', `${path}/links/${link.link_id}`);
  const { until: end } = await remove();
  assert.ok(Math.abs(Date.parse(end) - Date.now() - KEPT_MS) < 60_000, end);
  assert.equal(existsSync(directory), false);
  assert.deepEqual(await server.expect(200, 'GET', `${path}/links`), []);
  const listed = await server.expect(200, 'GET', `${path}/deleted_nodes`);
  assert.deepEqual(listed, [{ node_id: pc.node_id, name: 'PC', node_type: 'vpcs', until: end }]);

  const heard = await server.record(`${path}/notifications/ws`);
  const back = await server.expect(201, 'POST', restored);
  // What creation texts made are files.
  assert.deepEqual({ ...back, console: 0 }, { ...pc, console: 0, properties: {} });
  assert.match(script(directory), /pcname Kept/);
  assert.deepEqual(await server.expect(200, 'GET', `${path}/links/${link.link_id}`), before);
  const created = () => heard.map(({ action }) => action).filter((action) => /^(node|link)\.created$/.test(action));
  await until(() => created().length >= 2, 'two announcements');
  assert.deepEqual(created(), ['node.created', 'link.created']);
  assert.deepEqual(await server.expect(200, 'GET', `${path}/deleted_nodes`), []);
  assert.equal((await server.call('POST', restored)).status, 404);
});

test('without keep a node is deleted for good', async (t) => {
  const { server, path, pc, project, restored } = await linkedPc(t);
  await server.expect(204, 'DELETE', `${path}/nodes/${pc.node_id}`);
  assert.equal(existsSync(join(project.path, 'project-files/tmp')), false);
  const { status, json } = await server.call('POST', restored);
  assert.equal(status, 404);
  assert.match(json.message, /kept for an hour while their lab is open/);
});

test('a restored node goes without a link whose port is taken, and with another name if its own is', async (t) => {
  const { server, project, path, hub, remove, restored } = await linkedPc(t);
  await remove();
  const other = await server.hub(project, 'PC');
  await server.link(project, [other, 0], [hub, 3]);
  const heard = await server.record(`${path}/notifications/ws`);
  assert.equal((await server.expect(201, 'POST', restored)).name, 'PC1');
  assert.equal((await server.expect(200, 'GET', `${path}/links`)).length, 1);
  const warning = heard.find(({ action }) => action === 'log.warning');
  assert.match(warning?.event.message, /restored without one of its links.*already linked/s);
});

test('two linked nodes that were deleted together are linked again, in whatever order they are restored', async (t) => {
  const { server, path, hub, pc, link, remove, restored } = await linkedPc(t);
  await server.expect(200, 'DELETE', `${path}/nodes/${hub.node_id}?keep=yes`);
  await remove();
  const other = `${path}/deleted_nodes/${hub.node_id}/restore`;
  for (const order of [
    [restored, other],
    [other, restored],
  ]) {
    for (const one of order) await server.expect(201, 'POST', one);
    const [again] = await server.expect(200, 'GET', `${path}/links`);
    assert.equal(again.link_id, link.link_id);
    assert.ok(again.nodes.some(({ node_id: id }: Body) => id === pc.node_id));
    await Promise.all([pc, hub].map((node) => server.expect(200, 'DELETE', `${path}/nodes/${node.node_id}?keep=yes`)));
  }
});

test('two linked nodes that are restored at the same time are linked again', async (t) => {
  const { server, path, hub, link, remove, restored } = await linkedPc(t);
  // The link is kept with the one that went first, and handed to the other while that one is on its way back.
  await server.expect(200, 'DELETE', `${path}/nodes/${hub.node_id}?keep=yes`);
  await remove();
  const other = `${path}/deleted_nodes/${hub.node_id}/restore`;
  await Promise.all([other, restored].map((one) => server.expect(201, 'POST', one)));
  const links = await server.expect(200, 'GET', `${path}/links`);
  assert.deepEqual(
    links.map(({ link_id: id }: Body) => id),
    [link.link_id],
  );
});

test('a restore that fails loses nothing', async (t) => {
  const { server, directory, remove, restored } = await linkedPc(t);
  await remove();
  mkdirSync(dirname(directory), { recursive: true });
  writeFileSync(directory, 'in the way');
  assert.notEqual((await server.call('POST', restored)).status, 201);
  rmSync(directory);
  await server.expect(201, 'POST', restored);
  assert.match(script(directory), /pcname Kept/);
});

test('kept files are in no archive, and go with the closing of the lab', async (t) => {
  const { server, project, path, remove, restored } = await linkedPc(t);
  await remove();
  const kept = join(project.path, 'project-files/tmp/deleted');
  assert.ok(existsSync(kept));
  const archive = await server.request(`${path}/export`);
  const names = [...(await entriesOf(Buffer.from(await archive.arrayBuffer()))).keys()];
  assert.deepEqual(names, ['project.gns3', 'project-files/vpcs']);
  await server.expect(204, 'POST', `${path}/close`);
  assert.equal(existsSync(kept), false);
  await server.expect(201, 'POST', `${path}/open`);
  assert.equal((await server.call('POST', restored)).status, 404);
});

test('the disk of a QEMU machine is as it was', { skip: noQemu }, async (t) => {
  const images = await scratchDirectory(t);
  const server = await LabServer.start(t, { images_path: images });
  const folder = join(images, 'QEMU');
  mkdirSync(folder);
  await disk(folder, 'empty.qcow2');
  const project = await server.project();
  const path = `/v2/projects/${project.project_id}/nodes`;
  const properties = { ...SMALL, hda_disk_image: 'empty.qcow2' };
  const body = { name: 'M', node_type: 'qemu', compute_id: 'local', console_type: 'none', properties };
  const machine = await server.expect(201, 'POST', path, body);
  for (const action of ['start', 'stop']) await server.expect(200, 'POST', `${path}/${machine.node_id}/${action}`);
  const overlay = join(project.path, 'project-files/qemu', machine.node_id, 'hda_disk.qcow2');
  const qemuIo = (...commands: string[]) =>
    execFileSync('qemu-io', [...commands.flatMap((one) => ['-c', one]), overlay]);
  qemuIo('write -P 0x5a 0 512');
  await server.expect(200, 'DELETE', `${path}/${machine.node_id}?keep=yes`);
  assert.equal(existsSync(overlay), false);
  await server.expect(201, 'POST', `/v2/projects/${project.project_id}/deleted_nodes/${machine.node_id}/restore`);
  assert.doesNotMatch(qemuIo('read -P 0x5a 0 512').toString(), /verification failed/);
  await server.expect(200, 'POST', `${path}/${machine.node_id}/start`);
});

test('after an hour a deleted node is over', (t) => {
  t.mock.timers.enable({ apis: ['Date'] });
  const nodes = new DeletedNodes();
  nodes.add({ id: 'one', record: { name: 'PC', node_type: 'vpcs' } } as Node, []);
  t.mock.timers.tick(KEPT_MS - 1);
  assert.ok(nodes.has('one'));
  t.mock.timers.tick(1);
  assert.deepEqual([nodes.has('one'), nodes.list()], [false, []]);
  assert.throws(() => nodes.get('one'), /is kept/);
});
