// Changes of links whose computes take their time, refuse in the middle, or vanish: the link is what it was until all have agreed.
import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import type { Body } from '../body.ts';
import { refusing, StandIn, sendJson } from './computes-stand-in.ts';
import { LabServer, until } from './lab-server.ts';

const NIO = 'PUT /projects/[^/]+/vpcs/nodes/[^/]+/adapters/0/ports/0/nio';
const PCS: StandIn['answers'] = {
  'POST /projects': {},
  'POST /projects/[^/]+/vpcs/nodes': { status: 'started', console: 5000, console_type: 'telnet' },
  'POST /projects/[^/]+/ports/udp': { udp_port: 20_000 },
  'POST /projects/[^/]+/close': {},
  'POST /projects/.*/nio': {},
  'POST /projects/.*/start_capture': {},
  'POST /projects/.*/stop_capture': {},
  'DELETE /projects/.*/nio': {},
  'DELETE /projects.*': {},
  [NIO]: {},
};
const OLD = { filters: { packet_loss: [10] } };
const NEW = { filters: { delay: [10, 0] }, link_style: { width: 3 }, suspend: true };

interface Lab {
  it: StandIn;
  server: LabServer;
  url: string;
  /** Of the link. */
  path: string;
  nodes: Body[];
  link: () => Promise<Body>;
}

async function lab(t: TestContext): Promise<Lab> {
  const it = await StandIn.start(t, { ...PCS });
  const server = await LabServer.start(t);
  await server.expect(201, 'POST', '/v2/computes', it.body());
  const project = await server.project('lab', { auto_close: false });
  const url = `/v2/projects/${project.project_id}`;
  const nodes: Body[] = [];
  for (const name of ['PC1', 'PC2']) {
    const body = { name, node_type: 'vpcs', compute_id: 'it' };
    nodes.push(await server.expect(201, 'POST', `${url}/nodes`, body));
  }
  const { link_id: id } = await server.link(project, [nodes[0], 0], [nodes[1], 0], OLD);
  const path = `${url}/links/${id}`;
  it.heard.length = 0;
  return { it, server, url, path, nodes, link: () => server.expect(200, 'GET', path) };
}

/** Answers one after the other as told; then as a well-behaved compute. */
function inTurn(
  it: StandIn,
  pattern: string,
  answers: readonly ('agree' | 'refuse' | 'vanish')[],
): { filters: object; node: string }[] {
  const told: { filters: object; node: string }[] = [];
  const rest = [...answers];
  it.answers[pattern] = (request: IncomingMessage, response: ServerResponse) => {
    const answer = rest.shift() ?? 'agree';
    void buffer(request).then((bytes) => {
      const node = /nodes\/([^/]+)/.exec(request.url ?? '')?.[1] ?? '';
      told.push({ filters: JSON.parse(bytes.toString() || '{}').filters, node });
      if (answer === 'vanish') response.socket?.destroy();
      else if (answer === 'refuse') sendJson(response, 409, { message: 'refused', status: 409 });
      else sendJson(response, 201, {});
    });
  };
  return told;
}

/** Holds the answers to a call until they are let go. */
function hold(it: StandIn, pattern: string): { asked: () => number; release: () => void } {
  const held: ServerResponse[] = [];
  it.answers[pattern] = (request: IncomingMessage, response: ServerResponse) => {
    request.resume();
    held.push(response);
  };
  const release = (): void => {
    it.answers[pattern] = {};
    for (const response of held.splice(0)) sendJson(response, 201, {});
  };
  return { asked: () => held.length, release };
}

test('while a compute has not agreed to a change, the link is what it was', async (t) => {
  const { it, server, path, link } = await lab(t);
  const before = await link();
  const held = hold(it, NIO);
  const change = server.expect(201, 'PUT', path, NEW);
  await until(() => held.asked() === 1, 'the first end to be told');
  assert.deepEqual(await link(), before);
  held.release();
  const after = await change;
  assert.deepEqual([after.filters, after.link_style, after.suspend], [NEW.filters, NEW.link_style, true]);
  assert.deepEqual(await link(), after);
});

// On a connection that was used before, what had no answer is asked once more.
for (const answers of [['refuse'], ['agree', 'refuse'], ['vanish', 'vanish'], ['agree', 'vanish', 'vanish']] as const) {
  test(`a change at which the computes ${answers.join(', then ')} is rolled back at both ends, and no client sees it`, async (t) => {
    const { it, server, url, path, nodes, link } = await lab(t);
    const before = await link();
    const events = await server.record(`${url}/notifications/ws`);
    const told = inTurn(it, NIO, answers);
    const { status } = await server.call('PUT', path, NEW);
    assert.ok(status >= 400, String(status));
    assert.deepEqual(await link(), before);
    // The last that each end was told is what the link says.
    for (const { node_id: id } of nodes) {
      const last = told.findLast(({ node }) => node === id);
      const filters = id === nodes[0].node_id ? OLD.filters : {};
      assert.deepEqual(last?.filters, filters, JSON.stringify(told));
    }
    assert.deepEqual(
      events.filter(({ action }) => action.startsWith('link.')),
      [],
    );
    // Nor has the disk.
    await server.expect(204, 'POST', `${url}/close`);
    const [stored] = await server.expect(200, 'GET', `${url}/links`);
    assert.deepEqual(stored.filters, OLD.filters);
  });
}

test('where the rollback of a change failed, too, the next change sends everything to both ends', async (t) => {
  const { it, server, path, link } = await lab(t);
  const before = await link();
  inTurn(it, NIO, ['agree', 'refuse', 'refuse']);
  await server.expect(409, 'PUT', path, NEW);
  assert.deepEqual(await link(), before);
  const told = inTurn(it, NIO, []);
  await server.expect(201, 'PUT', path, { link_style: { width: 5 } });
  assert.deepEqual(
    told.map(({ filters }) => filters),
    [OLD.filters, {}],
  );
  await server.expect(201, 'PUT', path, { link_style: { width: 6 } });
  assert.equal(told.length, 2);
});

test('a link that is being made is in no list before both ends are wired, and its ports are taken all the same', async (t) => {
  const { it, server, url, path, nodes } = await lab(t);
  await server.expect(204, 'DELETE', path);
  const held = hold(it, 'POST /projects/.*/nio');
  const ends = nodes.map(({ node_id: id }) => ({ node_id: id, adapter_number: 0, port_number: 0 }));
  const making = server.expect(201, 'POST', `${url}/links`, { nodes: ends });
  await until(() => held.asked() === 1, 'the first end to be wired');
  assert.deepEqual(await server.expect(200, 'GET', `${url}/links`), []);
  const second = server.call('POST', `${url}/links`, { nodes: ends });
  held.release();
  const { link_id: id } = await making;
  assert.equal((await second).status, 409);
  const links: Body[] = await server.expect(200, 'GET', `${url}/links`);
  assert.deepEqual(
    links.map(({ link_id: one }) => one),
    [id],
  );
});

test('a link whose second end does not go has its first end again', async (t) => {
  const { it, server, path, link } = await lab(t);
  const before = await link();
  const removals = inTurn(it, 'DELETE /projects/.*/nio', ['agree', 'refuse', 'refuse']);
  await server.expect(409, 'DELETE', path);
  assert.deepEqual(await link(), before);
  const [first] = removals;
  const made = it.heard.filter(({ call }) => /^POST .*\/nio$/.test(call));
  assert.equal(made.length, 1);
  assert.match(made[0]!.call, new RegExp(first!.node));
  assert.deepEqual(JSON.parse(made[0]!.body).filters, OLD.filters);
  await server.expect(204, 'DELETE', path);
});

test('a link that goes with its node leaves nothing at its other end, even when the compute of the node refuses', async (t) => {
  const { it, server, url, nodes } = await lab(t);
  const removals = inTurn(it, 'DELETE /projects/.*/nio', ['refuse', 'refuse']);
  await server.expect(204, 'DELETE', `${url}/nodes/${nodes[0].node_id}`);
  assert.deepEqual(await server.expect(200, 'GET', `${url}/links`), []);
  assert.deepEqual(
    removals.map(({ node }) => node),
    [0, 0, 1].map((index) => nodes[index].node_id),
  );
  assert.deepEqual(
    it.calls.filter((call) => /^POST .*\/nio$/.test(call)),
    [],
  );
});

test('a link is captured from the moment in which its compute has said so until it has said the contrary', async (t) => {
  const { it, server, path, link } = await lab(t);
  const starting = hold(it, 'POST /projects/.*/start_capture');
  const start = server.expect(201, 'POST', `${path}/start_capture`, {});
  await until(() => starting.asked() === 1, 'the capture to be asked for');
  assert.equal((await link()).capturing, false);
  starting.release();
  assert.equal((await start).capturing, true);
  const stopping = hold(it, 'POST /projects/.*/stop_capture');
  const stop = server.expect(201, 'POST', `${path}/stop_capture`);
  await until(() => stopping.asked() === 1, 'the end of the capture to be asked for');
  assert.equal((await link()).capturing, true);
  stopping.release();
  assert.equal((await stop).capturing, false);
  it.answers['POST /projects/.*/start_capture'] = refusing(409);
  await server.expect(409, 'POST', `${path}/start_capture`, {});
  assert.equal((await link()).capturing, false);
});
