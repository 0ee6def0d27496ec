// Copies of projects.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, readlink, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Body } from '../body.ts';
import { noVpcs } from '../compute/support.ts';
import { tree } from './archives-zip.ts';
import { StandIn, sendJson } from './computes-stand-in.ts';
import { LabServer, until } from './lab-server.ts';

async function copied(server: LabServer, { project_id: id }: Body, body: object): Promise<Body> {
  return server.expect(201, 'POST', `/v2/projects/${id}/duplicate`, body);
}

test('a copy has everything of the original, shares nothing with it, and stays closed', async (t) => {
  const { server, project, path } = await LabServer.withLab(t, { zoom: 60, auto_start: true, auto_open: true });
  const one = await server.hub(project, 'H1', { x: 4 });
  const two = await server.hub(project, 'H2');
  await server.link(project, [one, 0], [two, 1], { filters: {} });
  await server.expect(201, 'POST', `${path}/drawings`, { svg: '<svg></svg>' });
  await server.expect(201, 'POST', `${path}/snapshots`, { name: 'one' });
  const node = `project-files/ethernet_hub/${one.node_id}`;
  await mkdir(join(project.path, node), { recursive: true });
  await writeFile(join(project.path, node, 'disk'), 'original');
  await writeFile(join(project.path, 'back\\slash'), 'x');
  await mkdir(join(project.path, 'empty'));
  await symlink('/etc/hostname', join(project.path, 'link'));
  await writeFile(join(project.path, 'stray.gns3'), '{}');
  const told = await server.record('/v2/notifications/ws');

  const copy = await copied(server, project, { name: 'copy', zoom: 5 });
  await until(() => told.length > 0, 'the announcement');
  assert.deepEqual(
    told.map(({ action, event }) => [action, event.project_id]),
    [['project.created', copy.project_id]],
  );
  assert.deepEqual(
    [copy.status, copy.filename, copy.zoom, copy.auto_start, copy.auto_open, copy.auto_close],
    ['closed', 'copy.gns3', 60, false, false, false],
  );
  await server.expect(201, 'POST', `/v2/projects/${copy.project_id}/open`);
  const nodes = await server.expect(200, 'GET', `/v2/projects/${copy.project_id}/nodes`);
  assert.deepEqual(
    nodes.map(({ name, x }: Body) => [name, x]),
    [
      ['H1', 4],
      ['H2', 0],
    ],
  );
  const [link] = await server.expect(200, 'GET', `/v2/projects/${copy.project_id}/links`);
  assert.equal(link.nodes[0].node_id, nodes[0].node_id);
  assert.equal((await server.expect(200, 'GET', `/v2/projects/${copy.project_id}/stats`)).snapshots, 1);
  const disk = join(copy.path, `project-files/ethernet_hub/${nodes[0].node_id}/disk`);
  assert.equal((await stat(disk)).nlink, 1);
  await writeFile(disk, 'changed');
  assert.equal(await readFile(join(project.path, node, 'disk'), 'utf8'), 'original');
  assert.equal(await readlink(join(copy.path, 'link')), '/etc/hostname');
  const names = (await readdir(copy.path)).filter((name) => !/snapshots|project-files/.test(name));
  assert.deepEqual(names.sort(), ['back\\slash', 'copy.gns3', 'empty', 'link']);
  assert.equal((await server.expect(200, 'GET', path)).status, 'opened');
});

test('renamed and closed projects are copied, too; taken names get a number', async (t) => {
  const { server, project } = await LabServer.withLab(t);
  await server.hub(project, 'H1');
  await server.expect(200, 'PUT', `/v2/projects/${project.project_id}`, { name: 'renamed' });
  const names = [];
  names.push((await copied(server, project, { name: 'renamed' })).name);
  await server.expect(204, 'POST', `/v2/projects/${project.project_id}/close`);
  names.push((await copied(server, project, { name: null })).name);
  names.push(
    ...(await Promise.all([1, 2].map(() => copied(server, project, { name: 'same' })))).map(({ name }) => name),
  );
  assert.deepEqual(names.sort(), ['renamed-1', 'renamed-2', 'same', 'same-1']);
  assert.equal((await server.expect(200, 'GET', `/v2/projects/${project.project_id}`)).status, 'closed');
});

test('a lab with running PCs is copied; MAC addresses go if asked to', async (t) => {
  if (noVpcs) return t.skip(noVpcs);
  const { server, project, path } = await LabServer.withLab(t);
  const body = { name: 'PC1', node_type: 'vpcs', compute_id: 'local', properties: { startup_script: 'echo hi\n' } };
  const pc = await server.expect(201, 'POST', `${path}/nodes`, body);
  await server.expect(200, 'POST', `${path}/nodes/${pc.node_id}/start`);
  await until(
    async () => (await server.expect(200, 'GET', `${path}/nodes/${pc.node_id}`)).status === 'started',
    'the PC to start',
  );
  const copy = await copied(server, project, { name: 'copy' });
  await server.expect(201, 'POST', `/v2/projects/${copy.project_id}/open`);
  const [node] = await server.expect(200, 'GET', `/v2/projects/${copy.project_id}/nodes`);
  assert.equal(node.properties.startup_script, 'echo hi\n');
  assert.notEqual(node.console, pc.console);

  const id = randomUUID();
  const directory = join(server.state, 'elsewhere');
  await mkdir(directory);
  const nodes = [
    { node_id: randomUUID(), name: 'Q', node_type: 'qemu', compute_id: 'local', properties: { mac_address: '0c:0' } },
  ];
  const topology = { computes: [], drawings: [], links: [], nodes };
  const file = { type: 'topology', revision: 9, version: '2.2.57', project_id: id, name: 'macs', topology };
  await writeFile(join(directory, 'macs.gns3'), JSON.stringify(file));
  await server.call('POST', '/v2/projects/load', { path: join(directory, 'macs.gns3') });
  for (const [given, mac] of [
    [{ reset_mac_addresses: false }, '0c:0'],
    [{ reset_mac_addresses: true }, null],
    [{}, null],
  ] as const) {
    const { project_id } = await copied(server, { project_id: id }, { name: 'x', ...given });
    const [stored] = await server.expect(200, 'GET', `/v2/projects/${project_id}/nodes`);
    assert.equal(stored.properties.mac_address, mac);
  }
  const archive = await (await server.request(`/v2/projects/${id}/export`)).arrayBuffer();
  for (const [query, mac] of [
    ['', '0c:0'],
    ['?reset_mac_addresses=no', '0c:0'],
    ['?reset_mac_addresses=yes', null],
  ] as const) {
    const importing = `/v2/projects/${randomUUID()}/import${query}`;
    const made = await server.request(importing, { method: 'POST', body: new Uint8Array(archive) });
    const { project_id } = (await made.json()) as Body;
    const [stored] = await server.expect(200, 'GET', `/v2/projects/${project_id}/nodes`);
    assert.equal(stored.properties.mac_address, mac);
  }
});

test('a copy of a node gets MAC addresses of its own, for each of its adapters', async (t) => {
  const it = await StandIn.start(t, { 'POST /projects/.*/qemu/nodes': { status: 'stopped' }, 'POST .*': {} });
  const server = await LabServer.start(t);
  await server.expect(201, 'POST', '/v2/computes', it.body());
  const project = await server.project('lab');
  const nodes = `/v2/projects/${project.project_id}/nodes`;
  const node = await server.expect(201, 'POST', nodes, {
    ...{ name: 'Q', node_type: 'qemu', compute_id: 'it' },
    properties: { ram: 64, mac_address: '0c:00:00:00:00:00' },
    custom_adapters: [{ adapter_number: 0, adapter_type: 'virtio', mac_address: '0c:00:00:00:00:07' }],
  });
  const copy = await server.expect(201, 'POST', `${nodes}/${node.node_id}/duplicate`, { x: 1, y: 1 });
  assert.deepEqual(copy.custom_adapters, [{ adapter_number: 0, adapter_type: 'virtio' }]);
  assert.deepEqual(copy.properties, { ram: 64 });
});

test('a lab with nodes elsewhere closes after its copy has their files', async (t) => {
  const asked = Promise.withResolvers<() => void>();
  let hosted = 0;
  const it = await StandIn.start(t, {
    'POST /projects/.*/vpcs/nodes': { status: 'stopped', console: 5000, console_type: 'telnet' },
    'POST /projects/[^/]+/close': (request, response) => {
      request.resume();
      hosted -= 1;
      sendJson(response, 201, {});
    },
    'POST /projects': (request, response) => {
      request.resume();
      hosted += 1;
      sendJson(response, 201, {});
    },
    'POST .*': {},
    'GET /projects/[^/]+/files/.*': (_request, response) =>
      asked.resolve(() => response.writeHead(hosted > 0 ? 200 : 404).end('set pcname far\n')),
  });
  const server = await LabServer.start(t);
  await server.expect(201, 'POST', '/v2/computes', it.body());
  const project = await server.project('lab', { auto_close: false });
  const path = `/v2/projects/${project.project_id}`;
  const given = { name: 'PC', node_type: 'vpcs', compute_id: 'it' };
  const node = await server.expect(201, 'POST', `${path}/nodes`, given);
  it.answers['GET /projects/[^/]+/files'] = [{ path: `project-files/vpcs/${node.node_id}/startup.vpc` }];
  const copying = copied(server, project, { name: 'copy' });
  const answer = await asked.promise;
  const closing = server.expect(204, 'POST', `${path}/close`);
  await sleep(500);
  answer();
  await Promise.all([copying, closing]);
  const sent = it.heard.find(({ call }) => /^POST .*startup.vpc$/.test(call));
  assert.equal(sent?.body, 'set pcname far\n');
});

test('a copy that cannot be made leaves nothing', async (t) => {
  const { server, project } = await LabServer.withLab(t);
  const path = `/v2/projects/${project.project_id}/duplicate`;
  await server.expect(204, 'POST', `/v2/projects/${project.project_id}/close`);
  await writeFile(join(project.path, 'lab.gns3'), '{');
  const before = await tree(server.state);
  await server.expect(409, 'POST', path, { name: 'copy' });
  await server.expect(409, 'POST', path, { name: 'copy', path: project.path });
  await server.expect(400, 'POST', path, {});
  await server.expect(400, 'POST', path, { name: '' });
  await server.expect(400, 'POST', path, { name: 'x', unknown: 1 });
  await server.expect(404, 'POST', `/v2/projects/${randomUUID()}/duplicate`, { name: 'copy' });
  assert.deepEqual(Object.keys(await tree(server.state)), Object.keys(before));
  assert.equal((await server.expect(200, 'GET', '/v2/projects')).length, 1);

  const remote = await LabServer.start(t, { local: 'false' });
  const other = await remote.project('lab');
  await remote.expect(403, 'POST', `/v2/projects/${other.project_id}/duplicate`, { name: 'x', path: '/tmp/x' });
});
