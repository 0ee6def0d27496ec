// Archives, snapshots and copies of labs whose nodes are on another compute: their files come along, and go back there.
import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from '../../src/failures.ts';
import { Labs } from '../../src/store/labs.ts';
import type { Body } from '../body.ts';
import { noVpcs } from '../compute/support.ts';
import { unzipped } from './archives-zip.ts';
import { LabServer, until } from './lab-server.ts';

interface Pair {
  server: LabServer;
  /** The server whose compute is the other one's `far`. */
  far: LabServer;
  project: Body;
  path: string;
  near: Body;
  away: Body;
}

const script = (node: Body): string => `project-files/vpcs/${node.node_id}/startup.vpc`;

/** A lab with a PC here and one there. (Two computes on one loopback address cannot be linked.) */
async function pair(t: TestContext): Promise<Pair> {
  const far = await LabServer.start(t, ranges(1));
  const server = await LabServer.start(t, ranges(0));
  await server.expect(201, 'POST', '/v2/computes', {
    ...{ compute_id: 'far', name: 'far', protocol: 'http', host: '127.0.0.1', port: far.port },
  });
  const project = await server.project('lab', { auto_close: false });
  const path = `/v2/projects/${project.project_id}`;
  const pc = (name: string, compute_id: string): Promise<Body> =>
    server.expect(201, 'POST', `${path}/nodes`, {
      ...{ name, compute_id, node_type: 'vpcs', properties: { startup_script: `set pcname ${name}\n` } },
    });
  const near = await pc('near', 'local');
  const away = await pc('away', 'far');
  return { server, far, project, path, near, away };
}

function ranges(index: number): Record<string, string> {
  const first = 17_000 + index * 2_000;
  return {
    console_start_port_range: String(first),
    console_end_port_range: String(first + 900),
    udp_start_port_range: String(first + 1_000),
    udp_end_port_range: String(first + 1_900),
  };
}

/** Content of the start-up script that a compute has of a node. */
async function scriptOn(server: LabServer, project: Body, node: Body): Promise<string> {
  return readFile(join(server.state, 'projects', project.project_id, script(node)), 'utf8');
}

async function nodesOf(server: LabServer, { project_id: id }: Body): Promise<Record<string, Body>> {
  const nodes = await server.expect(200, 'GET', `/v2/projects/${id}/nodes`);
  return Object.fromEntries(nodes.map((node: Body) => [node.name, node]));
}

test('an archive has the files of nodes elsewhere, from an open and from a closed project', async (t) => {
  if (noVpcs) return t.skip(noVpcs);
  const { server, far, path, near, away } = await pair(t);
  for (const state of ['open', 'closed']) {
    if (state === 'closed') await server.expect(204, 'POST', `${path}/close`);
    const response = await server.request(`${path}/export?keep_compute_ids=yes`);
    assert.equal(response.status, 200, state);
    const found = await unzipped(Buffer.from(await response.arrayBuffer()));
    assert.equal(found[script(near)], 'set pcname near\n');
    assert.equal(found[script(away)], 'set pcname away\n');
    const { computes, nodes } = JSON.parse(found['project.gns3'] as string).topology;
    assert.deepEqual(
      computes.map((compute: Body) => compute.compute_id),
      ['far'],
    );
    assert.deepEqual(
      nodes.map((node: Body) => node.compute_id),
      ['local', 'far'],
    );
  }
  // What was closed is closed again.
  assert.deepEqual(await far.expect(200, 'GET', '/v2/compute/projects'), []);
});

test('the end of an export leaves alone a lab that was opened during the download, and other exports of it', async (t) => {
  if (noVpcs) return t.skip(noVpcs);
  const { server, far, project, path, away } = await pair(t);
  // Longer than all buffers on its way.
  await writeFile(join(far.state, 'projects', project.project_id, 'big'), randomBytes(2 ** 24));
  await server.expect(204, 'POST', `${path}/close`);
  const download = async () => {
    const { body } = await server.request(`${path}/export?compression=none`);
    const reader = (body as ReadableStream<Uint8Array>).getReader();
    await reader.read();
    return reader;
  };
  const openThere = async (): Promise<string[]> =>
    (await far.expect(200, 'GET', '/v2/compute/projects')).map(({ project_id: id }: Body) => id);
  const one = await download();
  const other = await download();
  await server.expect(204, 'GET', `${path}/export?check=yes`);
  await one.cancel();
  await sleep(300);
  assert.deepEqual(await openThere(), [project.project_id], 'the other export still reads it');
  await server.expect(201, 'POST', `${path}/open`);
  await server.expect(200, 'POST', `${path}/nodes/${away.node_id}/start`);
  await other.cancel();
  await sleep(300);
  assert.equal((await server.expect(200, 'GET', `${path}/nodes/${away.node_id}`)).status, 'started');
  const there = `/v2/compute/projects/${project.project_id}/vpcs/nodes/${away.node_id}`;
  assert.equal((await far.expect(200, 'GET', there)).status, 'started');
  await server.expect(204, 'POST', `${path}/close`);
  assert.deepEqual(await openThere(), []);
});

test('a restoration that fails leaves the former nodes on other hosts, and one that succeeds the restored ones', async (t) => {
  if (noVpcs) return t.skip(noVpcs);
  const { server, far, project, path, away } = await pair(t);
  const { snapshot_id: id } = await server.expect(201, 'POST', `${path}/snapshots`, { name: 'then' });
  const folders = (): Promise<string[]> =>
    readdir(join(far.state, 'projects', project.project_id, 'project-files/vpcs'));
  assert.deepEqual(await folders(), [away.node_id]);
  const begin = t.mock.method(Labs.prototype, 'begin', () => {
    begin.mock.restore();
    return Promise.reject(new Failure('out-of-space', 'planted'));
  });
  await server.expect(507, 'POST', `${path}/snapshots/${id}/restore`);
  assert.deepEqual(await folders(), [away.node_id]);
  await server.expect(201, 'POST', `${path}/snapshots/${id}/restore`);
  const restored = (await nodesOf(server, project))['away'];
  assert.deepEqual(await folders(), [restored.node_id]);
});

test('what is imported goes to the computes that are registered, and to this one where they are not', async (t) => {
  if (noVpcs) return t.skip(noVpcs);
  const { server, far, path } = await pair(t);
  const archive = await (await server.request(`${path}/export?keep_compute_ids=yes`)).arrayBuffer();
  const id = randomUUID();
  const body = new Uint8Array(archive);
  assert.equal((await server.request(`/v2/projects/${id}/import`, { method: 'POST', body })).status, 201);
  const project = { project_id: id };
  const { near, away } = await nodesOf(server, project);
  assert.deepEqual([near.compute_id, away.compute_id], ['local', 'far']);
  assert.equal(await scriptOn(far, project, away), 'set pcname away\n');
  await assert.rejects(scriptOn(server, project, away));
  await server.expect(201, 'POST', `/v2/projects/${id}/open`);
  assert.equal((await nodesOf(server, project))['away'].properties.startup_script, 'set pcname away\n');

  await server.expect(204, 'DELETE', `/v2/projects/${id}`);
  const lonely = await LabServer.start(t, ranges(2));
  assert.equal((await lonely.request(`/v2/projects/${id}/import`, { method: 'POST', body })).status, 201);
  await lonely.expect(201, 'POST', `/v2/projects/${id}/open`);
  const there = await nodesOf(lonely, project);
  assert.deepEqual([there['near'].compute_id, there['away'].compute_id], ['local', 'local']);
  assert.equal(there['away'].properties.startup_script, 'set pcname away\n');
});

test('an import whose compute does not answer leaves nothing', async (t) => {
  if (noVpcs) return t.skip(noVpcs);
  const { server, far, path } = await pair(t);
  const body = new Uint8Array(await (await server.request(`${path}/export?keep_compute_ids=yes`)).arrayBuffer());
  const before = await readdir(join(server.state, 'projects'));
  await far.stop();
  const id = randomUUID();
  assert.equal((await server.request(`/v2/projects/${id}/import`, { method: 'POST', body })).status, 409);
  await server.expect(404, 'GET', `/v2/projects/${id}`);
  assert.deepEqual(await readdir(join(server.state, 'projects')), before);
});

test('a restored lab has its nodes on the computes where they were, with their files of then', async (t) => {
  if (noVpcs) return t.skip(noVpcs);
  const lab = await pair(t);
  const { server, far, project, path } = lab;
  const snapshot = await server.expect(201, 'POST', `${path}/snapshots`, { name: 'then' });
  for (const node of [lab.near, lab.away]) {
    const file = `${path}/nodes/${node.node_id}/files/startup.vpc`;
    const response = await server.request(file, { method: 'POST', body: 'set pcname now\n' });
    assert.equal(response.status, 201);
  }
  await server.expect(201, 'POST', `${path}/snapshots/${snapshot.snapshot_id}/restore`);
  const { near, away } = await nodesOf(server, project);
  assert.deepEqual([near.compute_id, away.compute_id], ['local', 'far']);
  assert.equal(near.properties.startup_script, 'set pcname near\n');
  assert.equal(away.properties.startup_script, 'set pcname away\n');
  // Nothing is left there of the node of before.
  const folder = join(far.state, 'projects', project.project_id, 'project-files/vpcs');
  assert.deepEqual(await readdir(folder), [away.node_id]);
});

test('a restoration for which a compute is missing leaves the lab as it is', async (t) => {
  if (noVpcs) return t.skip(noVpcs);
  const { server, far, project, path, near } = await pair(t);
  await mkdir(join(project.path, 'docs'));
  await writeFile(join(project.path, 'docs/x'), 'then');
  const snapshot = await server.expect(201, 'POST', `${path}/snapshots`, { name: 'then' });
  await writeFile(join(project.path, 'docs/x'), 'now');
  await far.stop();
  await server.expect(409, 'POST', `${path}/snapshots/${snapshot.snapshot_id}/restore`);
  assert.equal((await server.expect(200, 'GET', path)).status, 'opened');
  assert.equal((await nodesOf(server, project))['near'].node_id, near.node_id);
  assert.equal(await readFile(join(project.path, 'docs/x'), 'utf8'), 'now');
});

test('a copy of a lab on two computes is on both, too', async (t) => {
  if (noVpcs) return t.skip(noVpcs);
  const { server, far, path, project } = await pair(t);
  const copy = await server.expect(201, 'POST', `${path}/duplicate`, { name: 'copy' });
  assert.deepEqual([copy.status, copy.auto_close], ['closed', false]);
  await server.expect(201, 'POST', `/v2/projects/${copy.project_id}/open`);
  const { near, away } = await nodesOf(server, copy);
  assert.deepEqual([near.compute_id, away.compute_id], ['local', 'far']);
  assert.equal(await scriptOn(far, copy, away), 'set pcname away\n');
  assert.equal(await scriptOn(server, copy, near), 'set pcname near\n');
  assert.equal((await server.expect(200, 'GET', `${path}/nodes`)).length, 2);
  assert.notEqual(copy.project_id, project.project_id);
});

test('a check of an export says nothing of files that will be missing in the archive; the export says it once', async (t) => {
  if (noVpcs) return t.skip(noVpcs);
  const { server, far, path } = await pair(t);
  await far.stop();
  await until(
    async () => !(await server.expect(200, 'GET', '/v2/computes/far')).connected,
    'the end of the connection',
  );
  const told = await server.record(`${path}/notifications/ws`);
  const warnings = () => told.filter(({ event }) => /not in the archive/.test(event?.message));
  await server.expect(204, 'GET', `${path}/export?check=yes&keep_compute_ids=yes`);
  const answer = await server.request(`${path}/export?keep_compute_ids=yes`);
  assert.equal(answer.status, 200);
  await answer.arrayBuffer();
  await until(() => warnings().length > 0, 'a warning');
  assert.equal(warnings().length, 1);
});
