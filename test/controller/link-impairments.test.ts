// Impairments of a link by direction, from the client to the cable: an extension that old clients and genuine files do not notice.
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Body } from '../body.ts';
import { refusing, StandIn, sendJson } from './computes-stand-in.ts';
import { frameSender } from './frame-sender.ts';
import { LabServer, until as waitUntil } from './lab-server.ts';

/** Longer than a busy host takes. */
const until = (condition: () => boolean | Promise<boolean>, what: string): Promise<void> =>
  waitUntil(condition, what, 20_000);

interface Pair {
  server: LabServer;
  project: Body;
  nodes: Body[];
  link: string;
  /** The link as a client sees it. */
  read(): Promise<Body>;
}

/** Two hubs, joined by a link. */
async function pair(t: TestContext, more: object = {}): Promise<Pair> {
  const { server, project } = await LabServer.withLab(t, { auto_close: false });
  const nodes = [await server.hub(project, 'A'), await server.hub(project, 'B')];
  const { link_id: id } = await server.link(project, [nodes[0], 0], [nodes[1], 0], more);
  const link = `/v2/projects/${project.project_id}/links/${id}`;
  return { server, project, nodes, link, read: () => server.expect(200, 'GET', link) };
}

/** Frames without content into a hub: gives the sender of them. */
async function sender(
  t: TestContext,
  { server, project }: Pair,
  hub: Body,
): Promise<(frames: number) => Promise<void>> {
  const send = await frameSender(t, server, { project, hub });
  return (frames) => send(Array.from({ length: frames }, () => Buffer.alloc(60)));
}

const impairments = {
  forward: { rate: { kbit: 1000, queue_ms: 50 }, delay: { ms: 20, jitter: 5, distribution: 'normal' } },
  backward: { loss: { percent: 1.5, correlation: 25 } },
};

test('a link shows its impairments, keeps them when a client does not know them, and removes them on request', async (t) => {
  const { server, nodes, link, read } = await pair(t);
  assert.equal('impairments' in (await read()), false);
  assert.deepEqual((await server.expect(201, 'PUT', link, { impairments })).impairments, impairments);
  await server.expect(201, 'PUT', link, { filters: {}, link_style: { color: '#ff0000', width: 2 }, suspend: false });
  const { impairments: kept, link_style: style } = await read();
  assert.deepEqual([kept, style], [impairments, { color: '#ff0000', width: 2 }]);
  // The member of the file is none of the API's.
  const carried = { link_style: { width: 3, labwire_impairments: impairments } };
  const { message } = await server.expect(400, 'PUT', link, carried);
  assert.match(message, /^link_style\.labwire_impairments: .*use the member impairments/);
  const [a, b] = nodes.map(({ node_id }) => ({ node_id, adapter_number: 0, port_number: 5 }));
  await server.expect(400, 'POST', link.replace(/\/[^/]*$/, ''), { nodes: [a, b], ...carried });
  assert.deepEqual((await read()).link_style, { color: '#ff0000', width: 2 });
  await server.expect(201, 'PUT', link, { impairments: null });
  assert.equal('impairments' in (await read()), false);
});

test('impairments come with a new link, are announced, and are the same in what a client sends back', async (t) => {
  const { server, project, link, read } = await pair(t, { impairments });
  assert.deepEqual((await read()).impairments, impairments);
  const events = await server.record(`/v2/projects/${project.project_id}/notifications/ws`);
  const { link_type: _type, ...sent } = await read();
  await server.expect(201, 'PUT', link, {
    ...sent,
    impairments: { ...sent.impairments, backward: { delay: { ms: 3 } } },
  });
  const wanted = { ...impairments, backward: { delay: { ms: 3 } } };
  await until(
    () => events.some(({ action, event }) => action === 'link.updated' && event.impairments?.backward.delay?.ms === 3),
    'the event',
  );
  assert.deepEqual((await read()).impairments, wanted);
});

test('a file carries them in the style of the link, where releases 2.2 leave them alone, and brings them back', async (t) => {
  const { server, project, link, read } = await pair(t, { link_style: { width: 3 }, impairments });
  const path = `/v2/projects/${project.project_id}`;
  await server.expect(204, 'POST', `${path}/close`);
  const file = join(project.path, project.filename);
  const [stored] = JSON.parse(await readFile(file, 'utf8')).topology.links;
  assert.deepEqual(Object.keys(stored).sort(), ['filters', 'link_id', 'link_style', 'nodes', 'suspend']);
  assert.deepEqual(stored.link_style, { width: 3, labwire_impairments: impairments });
  const [listed] = await server.expect(200, 'GET', `${path}/links`);
  assert.deepEqual([listed.link_style, listed.impairments], [{ width: 3 }, impairments]);
  await server.expect(201, 'POST', `${path}/open`);
  assert.deepEqual([(await read()).link_style, (await read()).impairments], [{ width: 3 }, impairments]);
  // They are in effect, too: the fabric has a rate to wait for.
  const { forward } = await server.expect(200, 'GET', `${link}/statistics`);
  assert.deepEqual(forward.queue, { frames: 0, bytes: 0 });
});

test('what a file carries and does not fit is left out with a warning; the project opens', async (t) => {
  const { server, project, read } = await pair(t, { impairments });
  const path = `/v2/projects/${project.project_id}`;
  await server.expect(204, 'POST', `${path}/close`);
  const file = join(project.path, project.filename);
  await writeFile(file, (await readFile(file, 'utf8')).replace('"kbit": 1000', '"kbit": 0'));
  const events = await server.record(`${path}/notifications/ws`);
  await server.expect(201, 'POST', `${path}/open`);
  assert.equal('impairments' in (await read()), false);
  const warned = (): boolean =>
    events.some(
      ({ action, event }) => action === 'log.warning' && /labwire_impairments|rate\.kbit/.test(event.message),
    );
  await until(warned, 'the warning');
});

test('a duplicate of a project and a snapshot have them', async (t) => {
  const { server, project, link } = await pair(t, { impairments });
  const path = `/v2/projects/${project.project_id}`;
  const copy = await server.expect(201, 'POST', `${path}/duplicate`, { name: 'copy' });
  await server.expect(201, 'POST', `/v2/projects/${copy.project_id}/open`);
  const [copied] = await server.expect(200, 'GET', `/v2/projects/${copy.project_id}/links`);
  assert.deepEqual(copied.impairments, impairments);
  const { snapshot_id: id } = await server.expect(201, 'POST', `${path}/snapshots`, { name: 'before' });
  await server.expect(201, 'PUT', link, { impairments: {} });
  await server.expect(201, 'POST', `${path}/snapshots/${id}/restore`);
  // Links get new identifiers.
  const [restored] = await server.expect(200, 'GET', `${path}/links`);
  assert.deepEqual(restored.impairments, impairments);
});

test('presets are listed, and used by name: with the other end as subscriber, and with members of one’s own', async (t) => {
  const { server, link } = await pair(t);
  const presets = await server.expect(200, 'GET', '/v2/impairments/presets');
  const adsl = presets.find(({ name }: Body) => name === 'adsl');
  const put = async (wanted: object): Promise<Body> =>
    (await server.expect(201, 'PUT', link, { impairments: wanted })).impairments;
  assert.deepEqual(await put({ preset: 'adsl' }), { forward: adsl.up, backward: adsl.down });
  assert.deepEqual(await put({ preset: 'adsl', subscriber: 1 }), { forward: adsl.down, backward: adsl.up });
  assert.deepEqual(
    await put({ preset: 'adsl', both: { loss: { percent: 2 } }, backward: { delay: null, loss: null } }),
    {
      forward: { ...adsl.up, loss: { percent: 2 } },
      backward: { rate: adsl.down.rate },
    },
  );
  for (const { name } of presets) await put({ preset: name });
});

test('values that do not fit are refused with their member, their range and what came', async (t) => {
  const { server, link, read } = await pair(t, { impairments });
  const refusals: [object, RegExp][] = [
    [
      { both: { loss: { percent: 101 } } },
      /impairments\.both\.loss\.percent: expected a number from 0 to 100 \(percent\)/,
    ],
    [{ forward: { delay: { ms: 'ten' } } }, /impairments\.forward\.delay\.ms: expected number, received "ten"/],
    [
      { forward: { rate: { kbit: 0 } } },
      /impairments\.forward\.rate\.kbit: expected a number from 1 to 100000000 \(kbit\/s\)/,
    ],
    [{ forward: { rate: {} } }, /impairments\.forward\.rate\.kbit: is required/],
    [{ forward: { delay: { ms: 1, distribution: 'poisson' } } }, /distribution: expected .*"paretonormal"/],
    [{ backward: { reorder: { percent: 1, gap: 1.5 } } }, /gap: expected a whole number from 1 to 65536 \(frames\)/],
    [{ preset: 'pigeon' }, /impairments\.preset: expected .*"adsl"/],
    [{ sideways: {} }, /impairments\.sideways: is not a member/],
  ];
  for (const [wanted, message] of refusals) {
    assert.match((await server.expect(400, 'PUT', link, { impairments: wanted })).message, message);
  }
  assert.deepEqual((await read()).impairments, impairments);
});

test('statistics tell what each direction did to frames, and start from zero', async (t) => {
  const lab = await pair(t, { impairments: { forward: { loss: { percent: 100 } } } });
  const { server, link, nodes } = lab;
  const [forth, back] = [await sender(t, lab, nodes[0]), await sender(t, lab, nodes[1])];
  await forth(5);
  await back(3);
  const seen = (): Promise<Body> => server.expect(200, 'GET', `${link}/statistics`);
  await until(async () => {
    const { forward, backward } = await seen();
    return forward.dropped.loss === 5 && backward.delivered.frames === 3;
  }, 'the frames');
  const { forward, backward, measured_at: at, ends } = await seen();
  assert.deepEqual(
    [forward.from, forward.to, forward.offered.frames, forward.loss_percent],
    [nodes[0].node_id, nodes[1].node_id, 5, 100],
  );
  assert.deepEqual([backward.from, backward.offered.bytes, backward.loss_percent], [nodes[1].node_id, 180, 0]);
  assert.ok([nodes[0].node_id, nodes[1].node_id].includes(at));
  assert.deepEqual(
    ends.map(({ node_id: id, statistics }: Body) => [id, typeof statistics]),
    nodes.map(({ node_id: id }) => [id, 'object']),
  );
  await server.expect(204, 'POST', `${link}/statistics/reset`);
  assert.equal((await seen()).forward.offered.frames, 0);
});

test('a schedule runs, is seen, and ends: when cancelled, and with a change', async (t) => {
  const { server, link } = await pair(t, { impairments });
  const schedule = `${link}/schedule`;
  assert.deepEqual(await server.expect(200, 'GET', schedule), { state: 'none' });
  const steps = [{ at: 0, for: 600, both: { loss: { percent: 100 } } }];
  const started = await server.expect(201, 'POST', schedule, { steps, period: 1200, rounds: 3 });
  assert.equal(started.state, 'running');
  const running = await server.expect(200, 'GET', schedule);
  assert.deepEqual([running.round, running.rounds, running.period], [1, 3, 1200]);
  assert.deepEqual(running.forward, { ...impairments.forward, loss: { percent: 100 } });
  assert.deepEqual(running.backward, { loss: { percent: 100 } });
  assert.deepEqual(running.steps[0].forward, { loss: { percent: 100 } });
  await server.expect(204, 'DELETE', schedule);
  const cancelled = await server.expect(200, 'GET', schedule);
  assert.deepEqual([cancelled.state, cancelled.forward], ['cancelled', impairments.forward]);
  await server.expect(201, 'POST', schedule, { steps: [{ at: 0, preset: 'lte' }] });
  await server.expect(201, 'PUT', link, { impairments: { both: { delay: { ms: 1 } } } });
  assert.equal((await server.expect(200, 'GET', schedule)).state, 'cancelled');
  await server.expect(201, 'POST', schedule, { steps: [{ at: 0, for: 0.01, both: { delay: { ms: 1 } } }] });
  await until(async () => (await server.expect(200, 'GET', schedule)).state === 'finished', 'the end');
  const none = await server.expect(400, 'POST', schedule, { steps: [] });
  assert.match(none.message, /steps: expected at least 1 entry, received 0/);
  const { message } = await server.expect(400, 'POST', schedule, { steps: [{ at: 1, both: {} }], rounds: 0 });
  assert.match(message, /period: is required/);
});

test('a suspended link between hubs passes nothing until it is resumed, whatever its impairments and schedule', async (t) => {
  const made = await pair(t, { suspend: true });
  const { server, link, nodes } = made;
  const send = await sender(t, made, nodes[0]);
  const seen = async (): Promise<Body> => (await server.expect(200, 'GET', `${link}/statistics`)).forward;
  const arrives = async (what: string, passed: number, dropped: number): Promise<void> => {
    await send(5);
    await until(async () => {
      const { delivered, dropped: reasons } = await seen();
      return delivered.frames === passed && (reasons.frequency_drop ?? 0) === dropped;
    }, `${what}: ${passed} frames passed and ${dropped} dropped`);
  };
  await arrives('at creation', 0, 5);
  await server.expect(201, 'PUT', link, { suspend: false });
  await arrives('resumed', 5, 5);
  await server.expect(201, 'PUT', link, { suspend: true });
  await server.expect(201, 'PUT', link, { impairments: { both: { delay: { ms: 1 } } } });
  await server.expect(201, 'POST', `${link}/schedule`, { steps: [{ at: 0, both: { delay: { ms: 2 } } }] });
  await arrives('suspended and impaired', 5, 10);
  assert.equal((await server.expect(200, 'POST', `${link}/reset`)).suspend, true);
});

test('a compute of another make leaves it to the other end; without one it is refused, and nothing changes', async (t) => {
  const server = await LabServer.start(t);
  let port = 20_000;
  const it = await StandIn.start(t, {
    'POST /projects/[^/]+/ports/udp': (request, response) => {
      request.resume();
      sendJson(response, 201, { udp_port: port++ });
    },
    'POST /projects.*nodes': { status: 'started', console: null },
    // What the release has no route for.
    'PUT /projects.*/impairments': refusing(404),
    'GET /projects.*/(statistics|schedule)': refusing(404),
    'POST /projects.*/(statistics/reset|schedule)': refusing(404),
    'POST /projects.*': {},
    'PUT /projects.*': {},
    'DELETE /projects.*': {},
  });
  // In a network that this host is in, too.
  const [own] = (await server.expect(200, 'GET', '/v2/compute/network/interfaces')).filter(
    ({ ip_address: address }: Body) => /^\d+\.\d+\.\d+\.\d+$/.test(address) && !address.startsWith('169.254.'),
  );
  if (own === undefined) return void t.skip('this host has no interface with an IPv4 address');
  const beside = own.ip_address.replace(/\d+$/, (last: string) => String(Number(last) ^ 1));
  it.answers['GET /network/interfaces'] = [{ ip_address: beside, netmask: own.netmask }];
  await server.expect(201, 'POST', '/v2/computes', it.body());
  const project = await server.project('lab', { auto_close: false });
  const path = `/v2/projects/${project.project_id}`;
  const theirs = async (name: string): Promise<Body> =>
    server.expect(201, 'POST', `${path}/nodes`, { name, node_type: 'vpcs', compute_id: 'it' });
  const [one, other, third] = [await theirs('One'), await theirs('Other'), await theirs('Third')];
  const hub = await server.hub(project, 'Hub');

  const { link_id: mixed } = await server.link(project, [one, 0], [hub, 0], { impairments });
  const seen = await server.expect(200, 'GET', `${path}/links/${mixed}/statistics`);
  assert.equal(seen.measured_at, hub.node_id);
  assert.deepEqual(
    seen.ends.map(({ statistics }: Body) => statistics === null),
    [true, false],
  );

  const { link_id: foreign } = await server.link(project, [other, 0], [third, 0]);
  const link = `${path}/links/${foreign}`;
  const { message } = await server.expect(409, 'PUT', link, { impairments });
  assert.match(message, /neither end of the link can do this \(compute It\)/);
  assert.equal('impairments' in (await server.expect(200, 'GET', link)), false);
  await server.expect(409, 'GET', `${link}/statistics`);
  await server.expect(409, 'POST', `${link}/schedule`, { steps: [{ at: 0, both: {} }] });
});
