// Nodes that the controller places on the hosts of three servers: `auto`, plans, reasons and draining.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { compute } from '../../src/client/commands/compute.ts';
import { Session } from '../../src/client/frame/session.ts';
import { Documents } from '../../src/store/documents.ts';
import { Store } from '../../src/store/store.ts';
import type { Body } from '../body.ts';
import { zip } from './archives-zip.ts';
import { StandIn, sendJson } from './computes-stand-in.ts';
import { LabServer, until } from './lab-server.ts';

/** A controller with the hosts `two` and `three`. */
async function hosts(t: TestContext): Promise<LabServer> {
  const [server, two, three] = await Promise.all([LabServer.start(t), LabServer.start(t), LabServer.start(t)]);
  for (const [id, other] of [
    ['two', two],
    ['three', three],
  ] as const) {
    const body = { compute_id: id, name: id, protocol: 'http', host: '127.0.0.1', port: other.port };
    assert.equal((await server.expect(201, 'POST', '/v2/computes', body)).connected, true);
  }
  return server;
}

test('auto is offered where clients have a choice; nodes made with it are on a host, and stay there', async (t) => {
  const server = await hosts(t);
  for (const [dialect, own] of [
    ['v2', ['local']],
    ['v3', []],
  ] as const) {
    const list = await server.expect(200, 'GET', `/${dialect}/computes`);
    assert.deepEqual(
      list.map((one: { compute_id: string }) => one.compute_id),
      [...own, 'two', 'three', 'auto'],
    );
    const auto = await server.expect(200, 'GET', `/${dialect}/computes/auto`);
    assert.equal(auto.name, 'Placed automatically');
    if (dialect === 'v3') continue;
    assert.equal(auto.connected, true);
    assert.ok(auto.capabilities.node_types.includes('vpcs'));
  }
  const project = await server.project('placed', { auto_close: false });
  const lab = `/v2/projects/${project.project_id}`;
  const given = { name: 'PC', template_type: 'vpcs', compute_id: 'auto' };
  const template = await server.expect(201, 'POST', '/v2/templates', given);
  assert.equal(template.compute_id, 'auto');
  const made = await server.expect(201, 'POST', `${lab}/templates/${template.template_id}`, { x: 0, y: 0 });
  const second = await server.expect(201, 'POST', `${lab}/nodes`, {
    name: 'B',
    node_type: 'vpcs',
    compute_id: 'auto',
  });
  assert.ok(['local', 'two', 'three'].includes(made.compute_id), made.compute_id);
  // The whole lab is on one host.
  assert.equal(second.compute_id, made.compute_id);
  const placement = await server.expect(200, 'GET', `${lab}/placement`);
  assert.match(placement.nodes[0].reason, /all of it fits on/);
  assert.match(placement.nodes[1].reason, /other nodes of the lab are on/);
  await server.expect(204, 'POST', `${lab}/close`);
  // The reasons are kept for a closed lab, too, and opening it moves nothing.
  assert.deepEqual(await server.expect(200, 'GET', `${lab}/placement`), placement);
  await server.expect(201, 'POST', `${lab}/open`);
  assert.deepEqual(await server.expect(200, 'GET', `${lab}/placement`), placement);
});

test('routes below auto answer for all hosts, or name the hosts to ask instead', async (t) => {
  const server = await hosts(t);
  assert.deepEqual(await server.expect(200, 'GET', '/v2/computes/auto/qemu/images'), []);
  assert.deepEqual(await server.expect(200, 'GET', '/v2/computes/auto/images'), []);
  await server.expect(200, 'GET', '/v2/computes/auto/network/interfaces');
  for (const [method, path] of [
    ['GET', '/ports'],
    ['PUT', ''],
    ['DELETE', ''],
    ['POST', '/drain'],
  ] as const) {
    const { message } = await server.expect(409, method, `/v2/computes/auto${path}`, method === 'PUT' ? {} : undefined);
    assert.match(message, /name one of local, two, three/);
  }
  const body = { compute_id: 'auto', protocol: 'http', host: '127.0.0.1', port: 9 };
  await server.expect(400, 'POST', '/v2/computes', body);
});

test('one host alone offers no auto, and takes nodes that a file or template leaves to it', async (t) => {
  const server = await LabServer.start(t);
  assert.equal((await server.expect(200, 'GET', '/v2/computes')).length, 1);
  await server.expect(404, 'GET', '/v2/computes/auto');
  const node = await server.hub(await server.project(), 'Hub', { compute_id: 'auto' });
  assert.equal(node.compute_id, 'local');
});

test('a plan answers hosts and reasons, holds for its nodes, and refuses a node that fits nowhere with what is missing', async (t) => {
  const server = await hosts(t);
  const project = await server.project('planned');
  const lab = `/v2/projects/${project.project_id}`;
  const id = '7d2c4d4c-6f1c-4a08-8a39-1b6c1f6a0001';
  const nodes = [
    { name: 'A', node_type: 'vpcs', compute_id: 'three' },
    { name: 'B', node_type: 'vpcs', node_id: id },
  ];
  const plan = await server.expect(200, 'POST', `${lab}/placement`, { nodes, links: [['A', 'B']] });
  assert.deepEqual(
    plan.nodes.map(({ name, compute_id }: Record<string, string>) => [name, compute_id]),
    [
      ['A', 'three'],
      ['B', 'three'],
    ],
  );
  assert.equal(plan.crossing_links, 0);
  const made = await server.expect(201, 'POST', `${lab}/nodes`, { ...nodes[1], compute_id: 'auto' });
  assert.deepEqual([made.node_id, made.compute_id], [id, 'three']);

  const big = { name: 'Big', node_type: 'qemu', properties: { ram: 10_000_000 } };
  for (const [path, body] of [
    ['/v2/placement', { nodes: [big] }],
    [`${lab}/nodes`, { ...big, compute_id: 'auto' }],
  ] as const) {
    const { message } = await server.expect(409, 'POST', path, body);
    assert.match(message, /no host can run Big \(.*: .*; two: .*; three: .*\)/);
  }
  const { message } = await server.expect(400, 'POST', '/v2/placement', { nodes: [nodes[0]], links: [['A', 'X']] });
  assert.match(message, /links\.0: there is no node "X"/);
});

/** Imports a lab of two nodes with `auto`. */
async function imported(server: LabServer): Promise<{ project_id: string; path: string }> {
  const id = '7d2c4d4c-6f1c-4a08-8a39-1b6c1f6a0002';
  const nodes = ['A', 'B'].map((name, index) => ({
    ...{ name, node_type: 'vpcs', compute_id: 'auto', node_id: `${id.slice(0, -1)}${index}` },
  }));
  const content = {
    ...{ type: 'topology', revision: 9, version: '2.2.57', project_id: id, name: 'sent' },
    topology: { computes: [], drawings: [], links: [], nodes },
  };
  const archive = zip([{ name: 'project.gns3', data: JSON.stringify(content) }]);
  const answer = await server.request(`/v2/projects/${id}/import`, {
    method: 'POST',
    body: new Blob([new Uint8Array(archive)]).stream(),
  });
  const text = await answer.text();
  assert.equal(answer.status, 201, text);
  return JSON.parse(text);
}

test('nodes with auto of an archive get hosts while it is imported', async (t) => {
  const server = await hosts(t);
  const { project_id: id } = await imported(server);
  const placement = await server.expect(200, 'GET', `/v2/projects/${id}/placement`);
  const used = new Set(placement.nodes.map((node: Record<string, string>) => node['compute_id']));
  assert.equal(used.size, 1);
  assert.ok(['local', 'two', 'three'].includes([...used][0] as string), String([...used]));
  assert.match(placement.nodes[1].reason, /all of it fits on/);
});

test('nodes are made and imported although the reasons of their hosts cannot be kept', async (t) => {
  const put = Documents.prototype.put;
  t.mock.method(Documents.prototype, 'put', function (this: Documents, ...given: Parameters<typeof put>) {
    return given[0] === 'placements' ? Promise.reject(new Error('the disk is full')) : put.apply(this, given);
  });
  const server = await hosts(t);
  const project = await server.project();
  const lab = `/v2/projects/${project.project_id}`;
  await server.expect(201, 'POST', `${lab}/nodes`, { name: 'A', node_type: 'vpcs', compute_id: 'auto' });
  assert.equal((await server.expect(200, 'GET', `${lab}/nodes`)).length, 1);
  const { project_id: id, path } = await imported(server);
  assert.ok(existsSync(path));
  await server.expect(201, 'POST', `/v2/projects/${id}/open`);
});

test('if the host that was chosen for nodes dies while they move, the rest goes to another one', async (t) => {
  const server = await LabServer.start(t);
  const NODES = 'POST /projects/[^/]+/vpcs/nodes';
  const answers: StandIn['answers'] = {
    'POST /projects': {},
    'POST /projects/[^/]+/close': {},
    [NODES]: { status: 'stopped', console: 5000, console_type: 'telnet' },
    'DELETE /projects.*': {},
    'GET /statistics.*': { memory_free: 2 ** 34, processors: 8 },
    'GET /projects/[^/]+/files': [],
  };
  const [source, ...others] = await Promise.all(['a', 'b', 'c'].map(() => StandIn.start(t, { ...answers })));
  for (const [index, it] of [source!, ...others].entries()) {
    const id = ['a', 'b', 'c'][index];
    await server.expect(201, 'POST', '/v2/computes', it.body({ compute_id: id, name: id }));
  }
  const project = await server.project('lab', { auto_close: false });
  const lab = `/v2/projects/${project.project_id}`;
  for (const name of ['A', 'B', 'C'])
    await server.expect(201, 'POST', `${lab}/nodes`, { name, node_type: 'vpcs', compute_id: 'a' });
  await server.expect(200, 'POST', '/v2/computes/local/drain');
  // The first of the others takes one node and dies.
  for (const it of others) {
    it.answers[NODES] = (request, response) => {
      const isSecond = it.calls.filter((call) => call.endsWith('/vpcs/nodes')).length > 1;
      request.resume();
      for (const each of others) if (each !== it) each.answers[NODES] = answers[NODES]!;
      if (isSecond) void it.close();
      else sendJson(response, 201, answers[NODES] as object);
    };
  }
  const { moved, left } = await server.expect(200, 'POST', '/v2/computes/a/drain');
  assert.deepEqual(left, []);
  assert.equal(moved.length, 3);
  const targets = new Set(moved.map(({ compute_id: id }: Body) => id));
  assert.deepEqual([...targets].sort(), ['b', 'c'], 'one before the loss, the others after it');
});

/** A lab with nodes on the host `two`, whose drain goes on when the call returns. */
async function draining(server: LabServer, { isRunning = false } = {}) {
  const project = await server.project('drained', { auto_close: false });
  const nodes = `/v2/projects/${project.project_id}/nodes`;
  const names = Array.from({ length: isRunning ? 5 : 12 }, (_, index) => `PC${index}`);
  for (const name of names) await server.expect(201, 'POST', nodes, { name, node_type: 'vpcs', compute_id: 'two' });
  if (isRunning) await server.expect(204, 'POST', `${nodes}/start`);
  const drain = async (): Promise<Body | undefined> => {
    const operations: Body[] = await server.expect(200, 'GET', '/v2/operations');
    return operations.find(({ kind }) => kind === 'drain');
  };
  const onTwo = async (): Promise<number> => {
    const all: Body[] = await server.expect(200, 'GET', nodes);
    return all.filter(({ compute_id: id }) => id === 'two').length;
  };
  const hasMoved = () => until(async () => (await drain())?.['done'] > 0, 'the first move');
  return { drain, onTwo, hasMoved };
}

const DRAIN = '/v2/computes/two/drain';

test('a drain goes on when its client leaves', async (t) => {
  const server = await hosts(t);
  const { drain, onTwo, hasMoved } = await draining(server);
  const leaving = new AbortController();
  const asked = server.request(DRAIN, { method: 'POST', signal: leaving.signal });
  await hasMoved();
  leaving.abort();
  await asked.catch(() => {});
  await until(async () => (await drain())?.['state'] === 'done', 'the end of the drain');
  assert.equal(await onTwo(), 0);
});

test('an undrain ends the drain of the host before it answers, and another drain goes on after the former one', async (t) => {
  const server = await hosts(t);
  const { drain, onTwo, hasMoved } = await draining(server);
  const first = server.expect(200, 'POST', DRAIN);
  await hasMoved();
  await server.expect(200, 'POST', '/v2/computes/two/undrain');
  assert.equal((await drain())?.['state'], 'done');
  const stayed = await onTwo();
  const { left } = await first;
  assert.ok(stayed > 0, 'nodes stay');
  assert.equal(left.length, stayed);
  assert.match(left[0].reason, /the drain was cancelled/);
  assert.equal((await server.expect(200, 'GET', '/v2/computes/two')).draining, undefined);

  const [second, third] = await Promise.all([1, 2].map(() => server.expect(200, 'POST', DRAIN)));
  const moved = [...second.moved, ...third.moved].map(({ name }: Body) => name);
  assert.deepEqual([moved.length, new Set(moved).size], [stayed, stayed], 'each is moved once');
  assert.deepEqual([second.left.length > 0, third.left, await onTwo()], [true, [], 0]);
});

test('Ctrl+C of a drain in the command line cancels it', async (t) => {
  const server = await hosts(t);
  const { drain, onTwo, hasMoved } = await draining(server);
  const url = `http://127.0.0.1:${server.port}`;
  const environment = { server: url, lab: undefined, context: undefined, contexts: '', variables: {}, sockets: [] };
  const session = await Session.open({ quiet: true }, environment);
  const command = compute.verbs.find(({ name }) => name === 'drain')!.run(session, ['two'], {});
  t.after(() => {
    // Nodes that stay are a failure of the command.
    process.exitCode = undefined;
  });
  await hasMoved();
  await session.ending.run();
  await command;
  assert.equal((await drain())?.['state'], 'done');
  assert.ok((await onTwo()) > 0, 'nodes stay');
});

test('a server that stops ends its drains: the node that is being moved runs on its new host', async (t) => {
  const server = await hosts(t);
  const { hasMoved } = await draining(server, { isRunning: true });
  const asked = server.expect(200, 'POST', `${DRAIN}?running=restart`);
  await hasMoved();
  const begun = performance.now();
  await server.stop();
  const isSlow = performance.now() - begun > 2_000;
  await asked;
  await using store = await Store.open({ stateDirectory: server.state });
  // A node that takes longer is started by the next run of the server.
  if (!isSlow) assert.deepEqual(await store.documents.list('due-starts'), []);
});

test('a drained host takes no new nodes; its stopped ones move, the others stay with the reason', async (t) => {
  const server = await hosts(t);
  const project = await server.project('drained', { auto_close: false });
  const lab = `/v2/projects/${project.project_id}`;
  const pc = (name: string, compute: string) =>
    server.expect(201, 'POST', `${lab}/nodes`, { name, node_type: 'vpcs', compute_id: compute });
  const [a, b, c] = [await pc('A', 'two'), await pc('B', 'two'), await pc('C', 'local')];
  await server.expect(200, 'POST', `${lab}/nodes/${b.node_id}/start`);
  const closed = await server.project('closed', { auto_close: false });
  await server.expect(201, 'POST', `/v2/projects/${closed.project_id}/nodes`, {
    ...{ name: 'D', node_type: 'vpcs', compute_id: 'two' },
  });
  await server.expect(204, 'POST', `/v2/projects/${closed.project_id}/close`);

  const drained = await server.expect(200, 'POST', '/v2/computes/two/drain');
  assert.deepEqual(
    drained.moved.map(({ name, compute_id }: Record<string, string>) => [name, compute_id]),
    // Where the lab's other node is.
    [['A', 'local']],
  );
  const left = new Map(drained.left.map(({ name, reason }: Record<string, string>) => [name, reason]));
  assert.deepEqual([...left.keys()].sort(), ['B', 'D']);
  assert.match(String(left.get('B')), /B is started; stop it/);
  assert.match(String(left.get('D')), /the lab closed is closed; open it and drain again/);
  assert.equal((await server.expect(200, 'GET', '/v2/computes/two')).draining, true);
  assert.equal((await server.expect(200, 'GET', `${lab}/nodes/${a.node_id}`)).compute_id, 'local');
  const { nodes } = await server.expect(200, 'GET', `${lab}/placement`);
  assert.match(nodes[0].reason, /two is being drained/);

  const refused = await server.call('POST', `${lab}/nodes`, { name: 'E', node_type: 'vpcs', compute_id: 'two' });
  assert.deepEqual([refused.status, /two is being drained/.test(refused.json.message)], [409, true]);
  await server.expect(409, 'POST', `${lab}/nodes/${b.node_id}/duplicate`, { x: 1, y: 1 });
  await server.expect(409, 'PUT', `${lab}/nodes/${c.node_id}`, { compute_id: 'two' });
  const wrong = await server.call('POST', '/v2/computes/two/drain?running=off');
  assert.deepEqual(
    [wrong.status, /^running: expected leave or restart, got "off"/.test(wrong.json.message)],
    [400, true],
  );
  const again = await server.expect(200, 'POST', '/v2/computes/two/drain?running=restart');
  assert.deepEqual(
    again.moved.map(({ name }: Record<string, string>) => name),
    ['B'],
  );
  await until(async () => {
    const { compute_id, status } = await server.expect(200, 'GET', `${lab}/nodes/${b.node_id}`);
    return compute_id === 'local' && status === 'started';
  }, 'the node runs on its new host');
  // It lasts across a restart.
  await server.stop();
  await server.start();
  await until(async () => (await server.expect(200, 'GET', '/v2/computes/two')).connected, 'the host is connected');
  assert.equal((await server.expect(200, 'GET', '/v2/computes/two')).draining, true);
  assert.equal((await server.expect(200, 'POST', '/v2/computes/two/undrain')).draining, false);
  await server.expect(201, 'POST', `${lab}/open`);
  assert.equal((await pc('F', 'two')).compute_id, 'two');
});
