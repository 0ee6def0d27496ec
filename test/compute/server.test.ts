import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { KINDS } from '../../src/compute/emulators/registry.ts';
import { startLab } from './support.ts';

/** Reads lines of an endless answer as they come. */
function lines(t: TestContext, response: Response): () => Promise<unknown> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  t.after(() => reader.cancel());
  let text = '';
  return async () => {
    while (!text.includes('\n')) {
      const { done, value } = await reader.read();
      if (done) throw new Error('the stream has ended');
      text += value;
    }
    const end = text.indexOf('\n');
    const line = text.slice(0, end);
    text = text.slice(end + 1);
    return JSON.parse(line);
  };
}

test('a controller gets the version that it needs and the types that this build runs', async (t) => {
  const lab = await startLab(t);
  const capabilities = await lab.expect(200, 'GET', '/capabilities');
  // A controller of the release answers 400 about a compute that has others.
  assert.deepEqual(Object.keys(capabilities).toSorted(), ['node_types', 'platform', 'version']);
  assert.equal(capabilities.version, '2.2.57');
  assert.equal(capabilities.platform, 'linux');
  assert.deepEqual(capabilities.node_types.toSorted(), KINDS.map(({ type }) => type).toSorted());
  assert.deepEqual(await lab.expect(200, 'GET', '/version'), { version: '2.2.57', local: false });
});

test('a host says which nodes it cannot run, and what to do about it', async (t) => {
  const lab = await startLab(t, { engine: 'vpcs', vpcs_path: '/nowhere/vpcs', vmrun_path: '/nowhere/vmrun' });
  const told: { node_type: string; hindrance: string | null }[] = await lab.expect(
    200,
    'GET',
    '/node_types/hindrances',
  );
  const hindrance = Object.fromEntries(told.map(({ node_type: type, hindrance }) => [type, hindrance]));
  assert.deepEqual(Object.keys(hindrance).toSorted(), KINDS.map(({ type }) => type).toSorted());
  assert.equal(hindrance['ethernet_switch'], null);
  assert.match(hindrance['vpcs'] ?? '', /\/nowhere\/vpcs/);
  assert.match(hindrance['vmware'] ?? '', /no program \/nowhere\/vmrun; install VMware/);
  assert.match(hindrance['traceng'] ?? '', /TraceNG is a program of Windows/);
});

test('load figures are whole numbers that fit each other', async (t) => {
  const lab = await startLab(t);
  const statistics = await lab.expect(200, 'GET', '/statistics');
  for (const [name, value] of Object.entries(statistics)) {
    for (const number of [value].flat()) assert.ok(Number.isInteger(number), `${name}: ${value}`);
  }
  assert.equal(statistics.memory_used, statistics.memory_total - statistics.memory_free);
  assert.ok(statistics.memory_total > 2 ** 27);
  assert.equal(statistics.load_average_percent.length, 3);
  for (const name of ['cpu', 'memory', 'swap', 'disk']) {
    const value = statistics[`${name}_usage_percent`];
    assert.ok(value >= 0 && value <= 100, `${name}: ${value}`);
  }
});

test('the debug report shows what runs where, as plain text', async (t) => {
  const lab = await startLab(t);
  const path = await lab.project();
  await lab.node(path, 'vpcs', { name: 'Seattle' });
  const { status, body, headers } = await lab.request('GET', '/debug');
  assert.equal(status, 200);
  assert.match(headers.get('content-type') ?? '', /^text\/plain/);
  assert.match(body, /vpcs Seattle: stopped/);
  assert.match(body, /API version 2\.2\.57/);
});

test('a project stream begins with a ping and reports what happens in the project, and only there', async (t) => {
  const lab = await startLab(t);
  const [path, other] = [await lab.project(), await lab.project()];
  const next = lines(t, await lab.app.request(`/v2/compute${path}/notifications`));
  const first = (await next()) as { action: string; event: Record<string, unknown> };
  assert.equal(first.action, 'ping');
  for (const name of ['cpu_usage_percent', 'memory_usage_percent']) assert.equal(typeof first.event[name], 'number');
  const elsewhere = await lab.node(other, 'ethernet_hub');
  const here = await lab.node(path, 'ethernet_hub');
  await lab.expect(200, 'PUT', elsewhere, { name: 'elsewhere' });
  await lab.expect(200, 'PUT', here, { name: 'here' });
  const { action, event } = (await next()) as { action: string; event: { name: string } };
  assert.deepEqual([action, event.name], ['node.updated', 'here']);
  await lab.expect(404, 'GET', `/projects/${randomUUID()}/notifications`);
});

test("a compute's stream begins with a ping, names the project of each event, and pings after a second of silence", async (t) => {
  const lab = await startLab(t);
  const path = await lab.project();
  const hub = await lab.node(path, 'ethernet_hub');
  const socket = await lab.app.openSocket('/v2/compute/notifications/ws');
  t.after(() => socket.close());
  const frames: { action: string; project_id: string; event: { name: string } }[] = [];
  const { promise: silence, resolve } = Promise.withResolvers<number>();
  const begun = performance.now();
  socket.listen({
    message: (data) => {
      frames.push(JSON.parse(String(data)));
      const isAfter = frames.at(-2)?.action === 'node.updated' && frames.at(-1)?.action === 'ping';
      if (isAfter) resolve(performance.now() - begun);
    },
  });
  await lab.expect(200, 'PUT', hub, { name: 'here' });
  const after = await silence;
  const updated = frames.at(-2)!;
  assert.equal(frames[0]!.action, 'ping');
  assert.equal(updated.project_id, path.slice('/projects/'.length));
  assert.equal(updated.event.name, 'here');
  assert.ok(after >= 900, `${after} ms`);
});

test('a compute that stops informs its listeners and ends their streams', async (t) => {
  const lab = await startLab(t);
  const path = await lab.project();
  const next = lines(t, await lab.app.request(`/v2/compute${path}/notifications`));
  await next();
  await lab.compute.stop();
  assert.deepEqual(await next(), { action: 'log.warning', event: { message: 'This server is shutting down.' } });
  await assert.rejects(next(), /ended/);
});
