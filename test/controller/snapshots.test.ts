// Snapshots: a lab as it was, brought back; and a lab that stays as it is when that fails.
import assert from 'node:assert/strict';
import { cp, mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Body } from '../body.ts';
import { noVpcs } from '../compute/support.ts';
import { LINK, tree, unzipped, zip } from './archives-zip.ts';
import { LabServer, type ServedLab, until } from './lab-server.ts';

async function taken({ server, path }: ServedLab, name: string): Promise<Body> {
  return server.expect(201, 'POST', `${path}/snapshots`, { name });
}

async function restored({ server, path }: ServedLab, { snapshot_id: id }: Body, status = 201): Promise<Body> {
  return server.expect(status, 'POST', `${path}/snapshots/${id}/restore`);
}

/** All that clients see of a lab. */
async function contents({ server, path }: ServedLab): Promise<Body> {
  const kinds = ['nodes', 'links', 'drawings'];
  const lists = await Promise.all(kinds.map((kind) => server.expect(200, 'GET', `${path}/${kind}`)));
  return Object.fromEntries(kinds.map((kind, index) => [kind, lists[index]]));
}

/** Puts a snapshot that was made elsewhere into the project. */
async function planted({ server, project, path }: ServedLab, archive: Buffer): Promise<Body> {
  await mkdir(join(project.path, 'snapshots'), { recursive: true });
  await writeFile(join(project.path, 'snapshots/planted_020304_050607.gns3project'), archive);
  const list = await server.expect(200, 'GET', `${path}/snapshots`);
  return list.find(({ name }: Body) => name === 'planted');
}

test('a restored lab has its nodes, links, drawings and files of then, under new ids', async (t) => {
  const lab = await LabServer.withLab(t, { auto_close: false, variables: [{ name: 'A', value: '1' }] });
  const { server, project, path } = lab;
  const one = await server.hub(project, 'H1', { x: 7 });
  const two = await server.hub(project, 'H2');
  const link = await server.link(project, [one, 0], [two, 3], { link_style: { width: 2 }, suspend: true });
  const drawing = await server.expect(201, 'POST', `${path}/drawings`, { svg: '<svg></svg>', x: 5 });
  await mkdir(join(project.path, `project-files/ethernet_hub/${one.node_id}`), { recursive: true });
  await writeFile(join(project.path, `project-files/ethernet_hub/${one.node_id}/config`), 'then');
  await mkdir(join(project.path, 'docs'));
  await writeFile(join(project.path, 'docs/both'), 'then');
  await writeFile(join(project.path, 'README.txt'), 'then');
  const snapshot = await taken(lab, 'then');

  await server.expect(204, 'DELETE', `${path}/links/${link.link_id}`);
  await server.expect(204, 'DELETE', `${path}/nodes/${two.node_id}`);
  await server.expect(204, 'DELETE', `${path}/drawings/${drawing.drawing_id}`);
  await server.hub(project, 'H3');
  await server.expect(200, 'PUT', path, { zoom: 50, variables: [{ name: 'A', value: '2' }], auto_start: true });
  await writeFile(join(project.path, `project-files/ethernet_hub/${one.node_id}/config`), 'now');
  await writeFile(join(project.path, 'project-files/late'), 'now');
  await mkdir(join(project.path, 'project-files/captures'));
  await writeFile(join(project.path, 'project-files/captures/late.pcap'), 'now');
  await writeFile(join(project.path, 'docs/both'), 'now');
  await writeFile(join(project.path, 'docs/late'), 'now');
  await writeFile(join(project.path, 'README.txt'), 'now');

  const answer = await restored(lab, snapshot);
  // What the topology holds is of then; what belongs to the project itself is of now.
  assert.deepEqual(
    [answer.status, answer.zoom, answer.auto_start, answer.auto_close, answer.variables[0].value],
    ['opened', 100, true, false, '2'],
  );
  const found = await contents(lab);
  assert.deepEqual(
    found.nodes.map(({ name, x }: Body) => [name, x]),
    [
      ['H1', 7],
      ['H2', 0],
    ],
  );
  assert.equal(
    found.nodes.some(({ node_id: id }: Body) => id === one.node_id || id === two.node_id),
    false,
  );
  assert.deepEqual([found.links[0].link_style, found.links[0].suspend], [{ width: 2 }, true]);
  assert.notEqual(found.links[0].link_id, link.link_id);
  assert.deepEqual(
    found.drawings.map(({ x }: Body) => x),
    [5],
  );
  const files = await tree(project.path);
  const id = found.nodes[0].node_id;
  assert.equal(await readFile(join(project.path, `project-files/ethernet_hub/${id}/config`), 'utf8'), 'then');
  assert.equal(`project-files/ethernet_hub/${one.node_id}` in files, false);
  assert.equal('project-files/late' in files, false);
  assert.equal(await readFile(join(project.path, 'project-files/captures/late.pcap'), 'utf8'), 'now');
  assert.equal(await readFile(join(project.path, 'docs/both'), 'utf8'), 'then');
  assert.equal(await readFile(join(project.path, 'docs/late'), 'utf8'), 'now');
  assert.equal(await readFile(join(project.path, 'README.txt'), 'utf8'), 'then');
  assert.deepEqual(await readdir(join(server.state, 'projects')), [project.project_id]);
  // And all of it is kept.
  await server.stop();
  await server.start();
  await server.expect(201, 'POST', `${path}/open`);
  assert.deepEqual((await contents(lab)).links, found.links);
});

test('identifiers of snapshots outlive closing, restarts and restorations', async (t) => {
  const lab = await LabServer.withLab(t, { auto_close: false });
  const { server, path } = lab;
  const snapshot = await taken(lab, 'a name_with_underscores 文');
  const list = (): Promise<Body> => server.expect(200, 'GET', `${path}/snapshots`);
  assert.deepEqual(await list(), [snapshot]);
  await server.expect(204, 'POST', `${path}/close`);
  assert.deepEqual(await list(), [snapshot]);
  await server.stop();
  await server.start();
  assert.deepEqual(await list(), [snapshot]);
  await server.expect(201, 'POST', `${path}/open`);
  assert.deepEqual(await list(), [snapshot]);
  // The release's clients find a new identifier after a restoration; the one from before goes on working.
  await restored(lab, snapshot);
  const [renewed] = await list();
  assert.notEqual(renewed.snapshot_id, snapshot.snapshot_id);
  assert.deepEqual({ ...renewed, snapshot_id: snapshot.snapshot_id }, snapshot);
  await restored(lab, snapshot);
  await restored(lab, renewed);
  await server.expect(204, 'DELETE', `${path}/snapshots/${snapshot.snapshot_id}`);
  assert.deepEqual(await list(), []);
  await server.expect(404, 'DELETE', `${path}/snapshots/${snapshot.snapshot_id}`);
});

test('files in the folder that are no snapshots are none, and those of other servers are', async (t) => {
  const lab = await LabServer.withLab(t, { auto_close: false });
  const folder = join(lab.project.path, 'snapshots');
  await mkdir(folder);
  const names = [
    'x',
    'a_b.gns3project',
    'a_310299_250000.gns3project',
    '_010203_040506.gns3project',
    'a_300299_000000.gns3project',
  ];
  for (const name of [...names, 'old_311299_235959.gns3project']) await writeFile(join(folder, name), '');
  const list = await lab.server.expect(200, 'GET', `${lab.path}/snapshots`);
  assert.deepEqual(
    list.map(({ name }: Body) => name),
    ['old'],
  );
  assert.equal(list[0].created_at, Date.UTC(1999, 11, 31, 23, 59, 59) / 1000);
  assert.equal((await lab.server.expect(200, 'GET', `${lab.path}/stats`)).snapshots, 1);
});

test('names that cannot be, or are taken, are refused and leave nothing', async (t) => {
  const lab = await LabServer.withLab(t, { auto_close: false });
  await taken(lab, 'one');
  const before = await readdir(join(lab.project.path, 'snapshots'));
  for (const name of ['one', 'a/b', '../up', 'a\\b', 'x'.repeat(250)]) {
    await lab.server.expect(409, 'POST', `${lab.path}/snapshots`, { name });
  }
  for (const name of ['nul\0', '\ud800']) await lab.server.expect(400, 'POST', `${lab.path}/snapshots`, { name });
  const both = await Promise.all([1, 2].map(() => lab.server.call('POST', `${lab.path}/snapshots`, { name: 'two' })));
  assert.deepEqual(both.map(({ status }) => status).sort(), [201, 409]);
  assert.equal((await readdir(join(lab.project.path, 'snapshots'))).length, before.length + 1);
});

test('a snapshot keeps files as they are and everything where it is', async (t) => {
  const lab = await LabServer.withLab(t, { auto_close: false });
  const { server, project } = lab;
  await server.hub(project, 'H1');
  await writeFile(join(project.path, 'file'), 'content');
  await symlink('file', join(project.path, 'link'));
  await symlink('/etc/hostname', join(project.path, 'host'));
  await symlink('host', join(project.path, 'through'));
  const told = await server.record(`${lab.path}/notifications/ws`);
  await taken(lab, 'first');
  const warned = told.filter(({ action }) => action === 'log.warning').map(({ event }) => event.message);
  assert.deepEqual(warned.sort(), [
    'The file host is not in the archive: it is a link that leads out of the project.',
    'The file through is not in the archive: it is a link that leads out of the project.',
  ]);
  await taken(lab, 'second');
  const files = await readdir(join(project.path, 'snapshots'));
  const second = files.find((name) => name.startsWith('second')) as string;
  const found = await unzipped(join(project.path, 'snapshots', second));
  assert.deepEqual(Object.keys(found).sort(), ['file', 'link', 'project.gns3']);
  const archive = await readFile(join(project.path, 'snapshots', second));
  // Stored, not compressed.
  assert.ok(archive.includes('content'));
});

test('the events of a restoration: the nodes, the opening, the snapshot; no closing and no deletion', async (t) => {
  const lab = await LabServer.withLab(t, { auto_close: false });
  const { server, project, path } = lab;
  const one = await server.hub(project, 'H1');
  const two = await server.hub(project, 'H2');
  await server.link(project, [one, 0], [two, 0], { link_style: { width: 1 } });
  const snapshot = await taken(lab, 'now');
  const wide = await server.record('/v2/notifications/ws');
  const own = await server.record(`${path}/notifications/ws`);
  await restored(lab, snapshot);
  await until(() => own.some(({ action }) => action === 'snapshot.restored'), 'the last event');
  assert.deepEqual(
    wide.map(({ action }) => action),
    ['project.opened'],
  );
  assert.deepEqual(
    own.map(({ action }) => action),
    ['node.created', 'node.created', 'link.updated', 'link.created', 'snapshot.restored'],
  );
  assert.deepEqual(own.at(-1)?.event, snapshot);
});

test('a project that was renamed before or after its snapshot is restored', async (t) => {
  const lab = await LabServer.withLab(t, { auto_close: false });
  const { server, project, path } = lab;
  await server.hub(project, 'H1');
  const before = await taken(lab, 'before');
  await server.expect(200, 'PUT', path, { name: 'renamed' });
  const after = await taken(lab, 'after');
  await server.hub(project, 'H2');
  for (const snapshot of [after, before]) {
    assert.equal((await restored(lab, snapshot)).name, 'renamed');
    assert.deepEqual(
      (await contents(lab)).nodes.map(({ name }: Body) => name),
      ['H1'],
    );
    assert.deepEqual(
      (await readdir(project.path)).filter((name) => name.endsWith('.gns3')),
      ['lab.gns3'],
    );
  }
  const topology = JSON.parse(await readFile(join(project.path, 'lab.gns3'), 'utf8'));
  assert.equal(topology.name, 'renamed');
});

test('running PCs prevent a snapshot, and are stopped by a restoration', async (t) => {
  if (noVpcs) return t.skip(noVpcs);
  const lab = await LabServer.withLab(t, { auto_close: false });
  const { server, path, project } = lab;
  const body = { name: 'PC1', node_type: 'vpcs', compute_id: 'local', properties: { startup_script: 'echo then\n' } };
  const pc = await server.expect(201, 'POST', `${path}/nodes`, body);
  const snapshot = await taken(lab, 'at rest');
  await server.expect(200, 'POST', `${path}/nodes/${pc.node_id}/start`);
  const status = async (): Promise<string> => (await contents(lab)).nodes[0].status;
  await until(async () => (await status()) === 'started', 'the PC to start');
  const refused = await server.expect(409, 'POST', `${path}/snapshots`, { name: 'running' });
  assert.match(refused.message, /PC1/);
  await restored(lab, snapshot);
  const [again] = (await contents(lab)).nodes;
  assert.equal(again.status, 'stopped');
  assert.equal(again.properties.startup_script, 'echo then\n');
  assert.deepEqual(await readdir(join(project.path, 'project-files/vpcs')), [again.node_id]);
  await server.expect(200, 'POST', `${path}/nodes/${again.node_id}/start`);
  await until(async () => (await status()) === 'started', 'the PC to start again');
});

function projectOf(nodes: readonly object[]): string {
  const project_id = '11111111-2222-4333-8444-555555555555';
  const topology = { computes: [], drawings: [], links: [], nodes };
  return JSON.stringify({ type: 'topology', revision: 9, version: '2.2.57', project_id, name: 'other', topology });
}

const UNOPENABLE = {
  node_id: '11111111-2222-4333-8444-555555555556',
  name: 'V',
  node_type: 'qemu',
  compute_id: 'local',
  properties: { platform: 'x86_64', hda_disk_image: 'absent.qcow2' },
};

test('a restoration that fails, early or late, leaves the lab and its files as they were', async (t) => {
  const cases: Record<string, Buffer> = {
    'no archive': Buffer.from('broken'),
    'no topology': zip([{ name: 'x', data: 'x' }]),
    'a link that leads out': zip([
      { name: 'project.gns3', data: projectOf([]) },
      { name: 'x', data: '/etc/passwd', mode: LINK },
    ]),
    'a lab that does not open': zip([
      { name: 'project.gns3', data: projectOf([UNOPENABLE]) },
      { name: 'file', data: 'theirs' },
      { name: 'folder', data: 'a file here, a folder there' },
      { name: 'link/file', data: 'a folder here, a link there' },
      { name: 'project-files/vmware/x', data: 'theirs' },
      { name: 'project-files/captures/x.pcap', data: 'theirs' },
    ]),
  };
  for (const [what, archive] of Object.entries(cases)) {
    const lab = await LabServer.withLab(t, { auto_close: false });
    const { server, project, path } = lab;
    const one = await server.hub(project, 'H1', { x: 3 });
    const two = await server.hub(project, 'H2');
    await server.link(project, [one, 0], [two, 0]);
    await mkdir(join(project.path, 'project-files/vpcs'), { recursive: true });
    await writeFile(join(project.path, 'project-files/vpcs/x'), 'mine');
    await mkdir(join(project.path, 'project-files/captures'));
    await writeFile(join(project.path, 'project-files/captures/x.pcap'), 'mine');
    await writeFile(join(project.path, 'file'), 'mine');
    await mkdir(join(project.path, 'folder'));
    await writeFile(join(project.path, 'folder/file'), 'mine');
    await symlink('folder', join(project.path, 'link'));
    const snapshot = await planted(lab, archive);
    const before = { lab: await contents(lab), files: await tree(join(server.state, 'projects')) };
    await restored(lab, snapshot, 409);
    assert.equal((await server.expect(200, 'GET', path)).status, 'opened', what);
    assert.deepEqual((await contents(lab)).links, before.lab.links, what);
    const nodes = (list: Body[]): Body[] => list.map(({ node_id, name, x }) => [node_id, name, x]);
    assert.deepEqual(nodes((await contents(lab)).nodes), nodes(before.lab.nodes), what);
    const after = await tree(join(server.state, 'projects'));
    const topology = `${project.project_id}/lab.gns3`;
    assert.deepEqual({ ...after, [topology]: '' }, { ...before.files, [topology]: '' }, what);
    assert.equal(await readFile(join(project.path, 'folder/file'), 'utf8'), 'mine');
    await server.hub(project, 'H3');
    await server.stop();
  }
});

test("an absolute link in a router's folder, as archives of other servers have to its image, does not come back", async (t) => {
  const lab = await LabServer.withLab(t, { auto_close: false });
  const folder = `project-files/iou/${UNOPENABLE.node_id}`;
  const archive = zip([
    { name: 'project.gns3', data: projectOf([]) },
    { name: `${folder}/image.bin`, data: '/images/IOU/image.bin', mode: LINK },
    { name: `${folder}/mine`, data: 'file', mode: LINK },
    { name: `${folder}/file`, data: 'content' },
  ]);
  await restored(lab, await planted(lab, archive));
  assert.deepEqual((await readdir(join(lab.project.path, folder))).sort(), ['file', 'mine']);
});

test('a restored file takes the place of a link, and never goes through it', async (t) => {
  const lab = await LabServer.withLab(t, { auto_close: false });
  const { server, project } = lab;
  const outside = join(server.state, 'outside');
  await mkdir(outside);
  await writeFile(join(outside, 'file'), 'untouched');
  await symlink(outside, join(project.path, 'folder'));
  await symlink(outside, join(project.path, 'project-files'));
  const archive = zip([
    { name: 'project.gns3', data: projectOf([]) },
    { name: 'folder/file', data: 'restored' },
    { name: 'project-files/file', data: 'restored' },
  ]);
  await restored(lab, await planted(lab, archive));
  assert.equal(await readFile(join(outside, 'file'), 'utf8'), 'untouched');
  assert.equal(await readFile(join(project.path, 'folder/file'), 'utf8'), 'restored');
  assert.equal(await readFile(join(project.path, 'project-files/file'), 'utf8'), 'restored');
});

test('a server that is killed while it restores has the lab of before at its next start', async (t) => {
  const lab = await LabServer.withLab(t, { auto_close: false });
  const { server, project, path } = lab;
  await server.hub(project, 'H1');
  await mkdir(join(project.path, 'project-files/vpcs'), { recursive: true });
  await writeFile(join(project.path, 'project-files/vpcs/x'), 'before');
  await mkdir(join(project.path, 'project-files/captures'));
  await writeFile(join(project.path, 'project-files/captures/x.pcap'), 'kept');
  await writeFile(join(project.path, 'README.txt'), 'before');
  await server.expect(204, 'POST', `${path}/close`);
  await server.stop();
  const files = await tree(project.path);
  // The exchange up to its last step, the topology: what a kill leaves just before it.
  const staging = join(server.state, 'projects/.labwire-staging-killed');
  await mkdir(join(staging, 'before'), { recursive: true });
  await writeFile(join(staging, 'exchange.json'), JSON.stringify({ path: project.path, filename: 'lab.gns3' }));
  await writeFile(join(staging, 'lab.gns3'), 'of the snapshot');
  await rename(join(project.path, 'project-files'), join(staging, 'before/project-files'));
  await mkdir(join(project.path, 'project-files'));
  await writeFile(join(project.path, 'project-files/new'), 'of the snapshot');
  await rename(join(staging, 'before/project-files/captures'), join(project.path, 'project-files/captures'));
  await rename(join(project.path, 'README.txt'), join(staging, 'before/README.txt'));
  await writeFile(join(project.path, 'README.txt'), 'of the snapshot');
  await rename(join(project.path, 'lab.gns3'), join(staging, 'before/lab.gns3'));
  await server.start();
  assert.deepEqual(await tree(project.path), files);
  assert.equal(await readFile(join(project.path, 'README.txt'), 'utf8'), 'before');
  assert.deepEqual(await readdir(join(server.state, 'projects')), [project.project_id]);
  await server.expect(201, 'POST', `${path}/open`);
  assert.equal((await contents(lab)).nodes[0].name, 'H1');
  await server.stop();
  // One that was killed just after it keeps what was restored.
  await mkdir(join(staging, 'before'), { recursive: true });
  await writeFile(join(staging, 'exchange.json'), JSON.stringify({ path: project.path, filename: 'lab.gns3' }));
  await cp(join(project.path, 'README.txt'), join(staging, 'before/README.txt'));
  await writeFile(join(project.path, 'README.txt'), 'of the snapshot');
  await server.start();
  assert.equal(await readFile(join(project.path, 'README.txt'), 'utf8'), 'of the snapshot');
  assert.deepEqual(await readdir(join(server.state, 'projects')), [project.project_id]);
});

test('a closed project lists its snapshots and changes none', async (t) => {
  const lab = await LabServer.withLab(t, { auto_close: false });
  const { server, path } = lab;
  const snapshot = await taken(lab, 'one');
  await server.expect(204, 'POST', `${path}/close`);
  assert.equal((await server.expect(200, 'GET', `${path}/snapshots`)).length, 1);
  await server.expect(403, 'POST', `${path}/snapshots`, { name: 'two' });
  await server.expect(403, 'DELETE', `${path}/snapshots/${snapshot.snapshot_id}`);
  await restored(lab, snapshot, 403);
});

test('restorations and snapshots of one project wait for each other', async (t) => {
  const lab = await LabServer.withLab(t, { auto_close: false });
  await lab.server.hub(lab.project, 'H1');
  const snapshot = await taken(lab, 'one');
  const answers = await Promise.all([
    restored(lab, snapshot),
    taken(lab, 'two'),
    restored(lab, snapshot),
    lab.server.expect(200, 'GET', `${lab.path}/nodes`),
  ]);
  assert.equal(answers[3].length, 1);
  assert.deepEqual(
    (await contents(lab)).nodes.map(({ name }: Body) => name),
    ['H1'],
  );
  assert.equal((await lab.server.expect(200, 'GET', `${lab.path}/snapshots`)).length, 2);
  await rm(join(lab.project.path, 'snapshots'), { recursive: true });
  assert.deepEqual(await lab.server.expect(200, 'GET', `${lab.path}/snapshots`), []);
});
