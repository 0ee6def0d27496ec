// What a lab has again after the server was killed or restarted, and what it has when a verb has failed.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Failure } from '../../src/failures.ts';
import { Labs } from '../../src/store/labs.ts';
import { Projects as StoredProjects } from '../../src/store/projects.ts';
import { Store } from '../../src/store/store.ts';
import type { Body } from '../body.ts';
import { scratchDirectory, scratchFileSystem } from '../store/scratch.ts';
import { StandIn } from './computes-stand-in.ts';
import { LabServer, until } from './lab-server.ts';

test('after a kill nodes have their console ports again, whichever lab opens first and whatever is in it', async (t) => {
  const server = await LabServer.start(t, { 'VPCS.engine': 'built-in' });
  // Labs are opened in the order of their folders: the cloud, whose own port nobody sees, comes before the PCs.
  const ids = ['00000000-0000-4000-8000-000000000001', 'ffffffff-0000-4000-8000-000000000001'];
  const [first, last] = [
    await server.project('first', { project_id: ids[0], auto_close: false }),
    await server.project('last', { project_id: ids[1], auto_close: false }),
  ];
  const node = (project: Body, name: string, type: string): Promise<Body> =>
    server.expect(201, 'POST', `/v2/projects/${project.project_id}/nodes`, {
      ...{ name, node_type: type, compute_id: 'local' },
    });
  const consoles: Record<string, number> = {};
  for (const name of ['PC1', 'PC2']) consoles[name] = (await node(last, name, 'vpcs')).console;
  await node(first, 'C1', 'cloud');
  await node(first, 'N1', 'nat').catch(() => {}); // where the host allows one
  consoles['PC3'] = (await node(first, 'PC3', 'vpcs')).console;
  const copy = join(await scratchDirectory(t), 'state');
  execFileSync('cp', ['-a', server.state, copy]);
  await server.stop();
  await rm(server.state, { recursive: true });
  execFileSync('cp', ['-a', copy, server.state]);
  await server.start();
  const now: Record<string, number> = {};
  for (const id of ids) {
    await server.expect(200, 'GET', `/v2/projects/${id}/stats`);
    for (const { name, node_type: type, console } of await server.expect(200, 'GET', `/v2/projects/${id}/nodes`)) {
      if (type === 'vpcs') now[name] = console;
    }
  }
  assert.deepEqual(now, consoles);
  // Nothing stays kept for nodes that are there.
  await until(async () => {
    const { console } = await node(last, randomUUID().slice(0, 8), 'vpcs');
    return console > 0;
  }, 'another port');
});

/** Starts the server anew as if it had been killed in a change that its compute has made, before or after that was recorded. */
async function killedAt(
  t: TestContext,
  server: LabServer,
  change: () => Promise<unknown>,
  when: 'before' | 'after' = 'before',
): Promise<void> {
  const copy = join(await scratchDirectory(t), 'state');
  const kill = (): unknown => execFileSync('cp', ['-a', server.state, copy]);
  const apply = t.mock.method(
    Labs.prototype,
    'apply',
    async function (this: Labs, ...given: Parameters<Labs['apply']>) {
      apply.mock.restore();
      if (when === 'before') kill();
      await this.apply(...given);
      if (when === 'after') kill();
    },
  );
  await change();
  await server.stop();
  await rm(server.state, { recursive: true });
  execFileSync('cp', ['-a', copy, server.state]);
  await server.start();
}

test('a change with a rename that a kill interrupts is made as a whole at the next start', async (t) => {
  const { server, project } = await LabServer.withLab(t, { auto_close: false });
  const hub = await server.hub(project, 'H1');
  const path = `/v2/projects/${project.project_id}/nodes/${hub.node_id}`;
  await killedAt(t, server, () => server.expect(200, 'PUT', path, { name: 'H2', x: 77 }));
  const { name, x } = await server.expect(200, 'GET', path);
  assert.deepEqual({ name, x }, { name: 'H2', x: 77 });
});

test('a node that a kill leaves off in the middle of its move to another host is started there', async (t) => {
  const [server, two] = await Promise.all([LabServer.start(t, { 'VPCS.engine': 'built-in' }), LabServer.start(t)]);
  const body = { compute_id: 'two', protocol: 'http', host: '127.0.0.1', port: two.port };
  assert.equal((await server.expect(201, 'POST', '/v2/computes', body)).connected, true);
  const project = await server.project('moved', { auto_close: false });
  const nodes = `/v2/projects/${project.project_id}/nodes`;
  const [runs, off] = await Promise.all(
    ['PC1', 'PC2'].map((name) => server.expect(201, 'POST', nodes, { name, node_type: 'vpcs', compute_id: 'two' })),
  );
  await server.expect(200, 'POST', `${nodes}/${runs.node_id}/start`);
  await killedAt(t, server, () => server.expect(200, 'POST', '/v2/computes/two/drain?running=restart'), 'after');
  const now = async (): Promise<Body[]> =>
    Promise.all([runs, off].map(({ node_id: id }) => server.expect(200, 'GET', `${nodes}/${id}`)));
  await until(async () => (await now())[0]?.status === 'started', 'the node runs');
  const [started, stopped] = await now();
  assert.deepEqual([started?.compute_id, stopped?.status], ['local', 'stopped']);
  // A later start of the server does not start it again.
  await server.stop();
  await using store = await Store.open({ stateDirectory: server.state });
  assert.deepEqual(await store.documents.list('due-starts'), []);
});

test('a change of a node on another host that a kill interrupts is made as a whole at the next start', async (t) => {
  const it = await StandIn.start(t, {
    'POST /projects': {},
    'POST /projects/[^/]+/vpcs/nodes': { status: 'stopped', console: 5000, console_type: 'telnet' },
    'PUT /projects/[^/]+/vpcs/nodes/[^/]+': { console: 5001, console_type: 'telnet' },
    'POST /projects/.*': {},
    'DELETE /projects.*': {},
  });
  const { server, path: lab } = await LabServer.withLab(t, { auto_close: false });
  await server.expect(201, 'POST', '/v2/computes', it.body());
  const body = { name: 'PC1', node_type: 'vpcs', compute_id: 'it' };
  const { node_id: id } = await server.expect(201, 'POST', `${lab}/nodes`, body);
  await killedAt(t, server, () => server.expect(200, 'PUT', `${lab}/nodes/${id}`, { console: 5001, x: 77 }));
  const { console, x } = await server.expect(200, 'GET', `${lab}/nodes/${id}`);
  assert.deepEqual({ console, x }, { console: 5001, x: 77 });
});

test('right after a start everything of a lab that was open is there, also by its own address', async (t) => {
  const { server, project, path } = await LabServer.withLab(t, { auto_close: false });
  const [one, other] = [await server.hub(project, 'H1'), await server.hub(project, 'H2')];
  const link = await server.link(project, [one, 0], [other, 0]);
  // As a kill leaves it: the lab was open.
  const copy = join(await scratchDirectory(t), 'state');
  execFileSync('cp', ['-a', server.state, copy]);
  await server.stop();
  await rm(server.state, { recursive: true });
  execFileSync('cp', ['-a', copy, server.state]);
  await server.start();
  const answers = await Promise.all(
    [`nodes/${one.node_id}`, `nodes/${other.node_id}`, `links/${link.link_id}`].map((part) =>
      server.call('GET', `${path}/${part}`),
    ),
  );
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 200],
  );
});

test('a restored lab has the variables and the supplier of the project, also after the next start', async (t) => {
  const { server, project, path } = await LabServer.withLab(t, {
    auto_close: false,
    variables: [{ name: 'A', value: 'then' }],
  });
  await server.hub(project, 'H1');
  const { snapshot_id: id } = await server.expect(201, 'POST', `${path}/snapshots`, { name: 'then' });
  const now = { variables: [{ name: 'A', value: 'now' }], supplier: { logo: 'logo.png', url: 'http://example.org' } };
  await server.expect(200, 'PUT', path, now);
  await server.expect(201, 'POST', `${path}/snapshots/${id}/restore`);
  for (let round = 0; round < 2; round += 1) {
    const { variables, supplier } = await server.expect(200, 'GET', path);
    assert.deepEqual({ variables, supplier }, now);
    await server.stop();
    await server.start();
  }
});

test('a project whose deletion fails is open again, with all that it had', async (t) => {
  const { server, project, path } = await LabServer.withLab(t, { auto_close: false });
  await server.hub(project, 'H1');
  t.mock.method(StoredProjects.prototype, 'delete', async () => {
    throw new Failure('out-of-space', 'planted');
  });
  assert.equal((await server.call('DELETE', path)).status, 507);
  t.mock.restoreAll();
  assert.equal((await server.expect(200, 'GET', path)).status, 'opened');
  await server.hub(project, 'H2');
  assert.equal((await server.expect(200, 'GET', `${path}/nodes`)).length, 2);
  await server.expect(204, 'DELETE', path);
});

test('on a full disk a change of a project is answered with 507, open or closed, and changes nothing', async (t) => {
  const directory = await scratchFileSystem(t, '12m');
  if (directory === undefined) return;
  const { server, path } = await LabServer.withLab(
    t,
    { auto_close: false },
    { projects_path: join(directory, 'projects') },
  );
  await server.expect(204, 'POST', `${path}/close`);
  execFileSync('sh', ['-c', `cat /dev/zero > ${directory}/full 2>/dev/null; true`]);
  const before = await server.expect(200, 'GET', path);
  const { status, json } = await server.call('PUT', path, { zoom: 77, name: 'x'.repeat(200) });
  assert.deepEqual([status, json.status], [507, 507]);
  assert.deepEqual(await server.expect(200, 'GET', path), before);
  await rm(join(directory, 'full'));
  assert.equal((await server.expect(200, 'PUT', path, { zoom: 77 })).zoom, 77);
});
