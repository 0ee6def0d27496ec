// In which order and with which delays the nodes of a lab start: an extension of the release's interface.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Body } from '../body.ts';
import { LabServer, type ServedLab, until } from './lab-server.ts';

function pc({ server, path }: ServedLab, name: string, more: object = {}): Promise<Body> {
  return server.expect(201, 'POST', `${path}/nodes`, {
    name,
    node_type: 'vpcs',
    compute_id: 'local',
    console_type: 'none',
    ...more,
  });
}

/** Names of the nodes that have started, in that order. */
async function starts({ server, path }: ServedLab): Promise<() => string[]> {
  const messages = await server.record(`${path}/notifications/ws`);
  return () => {
    const started = messages.filter(({ action, event }) => action === 'node.updated' && event.status === 'started');
    return [...new Set(started.map(({ event }) => String(event.name)))];
  };
}

async function statuses({ server, path }: ServedLab): Promise<Record<string, string>> {
  const nodes: Body[] = await server.expect(200, 'GET', `${path}/nodes`);
  return Object.fromEntries(nodes.map(({ name, status }) => [name, status]));
}

test('nodes start by their order, each after its delay', async (t) => {
  const lab = await LabServer.withLab(t, { auto_close: false }, { 'VPCS.engine': 'built-in' });
  await pc(lab, 'last', { start_order: 2 });
  await pc(lab, 'late', { start_order: 1, start_delay: 0.4 });
  await pc(lab, 'middle', { start_order: 1 });
  await pc(lab, 'first');
  const started = await starts(lab);
  const begun = performance.now();
  await lab.server.expect(204, 'POST', `${lab.path}/nodes/start`);
  assert.ok(performance.now() - begun >= 400, 'nobody has waited');
  await until(() => started().length === 4, 'four nodes that have started');
  assert.deepEqual(started(), ['first', 'middle', 'late', 'last']);
});

test('a lab that starts by itself when it is opened keeps to the order and the delays', async (t) => {
  const lab = await LabServer.withLab(t, { auto_close: false }, { 'VPCS.engine': 'built-in' });
  const { server, path } = lab;
  await pc(lab, 'later', { start_order: 1, start_delay: 3600 });
  await pc(lab, 'now');
  await server.expect(200, 'PUT', path, { auto_start: true });
  await server.expect(204, 'POST', `${path}/close`);
  await server.expect(201, 'POST', `${path}/open`);
  await until(async () => (await statuses(lab))['now'] === 'started', 'the first node to start');
  assert.equal((await statuses(lab))['later'], 'stopped');
});

test('a stop, and a closing, end the wait for nodes that are to start later', async (t) => {
  const lab = await LabServer.withLab(t, { auto_close: false }, { 'VPCS.engine': 'built-in' });
  await pc(lab, 'now');
  await pc(lab, 'later', { start_order: 1, start_delay: 3600 });
  for (const end of ['nodes/stop', 'close']) {
    const round = lab.server.call('POST', `${lab.path}/nodes/start`);
    await until(async () => (await statuses(lab))['now'] === 'started', 'the first node to start');
    await lab.server.call('POST', `${lab.path}/${end}`);
    assert.equal((await round).status, 204, end);
    if (end === 'nodes/stop') assert.deepEqual(await statuses(lab), { now: 'stopped', later: 'stopped' });
  }
  await lab.server.expect(201, 'POST', `${lab.path}/open`);
  assert.deepEqual(await statuses(lab), { now: 'stopped', later: 'stopped' });
});

test('the stop of one node takes it out of the round that is to start it, and no other', async (t) => {
  const lab = await LabServer.withLab(t, { auto_close: false }, { 'VPCS.engine': 'built-in' });
  const { node_id } = await pc(lab, 'never', { start_order: 1, start_delay: 3600 });
  await pc(lab, 'last', { start_order: 2 });
  await pc(lab, 'now');
  const round = lab.server.call('POST', `${lab.path}/nodes/start`);
  await until(async () => (await statuses(lab))['now'] === 'started', 'the first node to start');
  await lab.server.expect(200, 'POST', `${lab.path}/nodes/${node_id}/stop`);
  assert.equal((await round).status, 204);
  assert.deepEqual(await statuses(lab), { now: 'started', never: 'stopped', last: 'started' });
});

test('order and delay are in the file, in the style of the label, and clients see the label without them', async (t) => {
  const lab = await LabServer.withLab(t, { auto_close: false }, { 'VPCS.engine': 'built-in' });
  const { server, path, project } = lab;
  const label = { text: 'PC', style: 'font-size: 9;', x: 0, y: 0, rotation: 0 };
  const node = await pc(lab, 'PC', { start_order: 3, start_delay: 1.5, label });
  assert.deepEqual([node.start_order, node.start_delay, node.label.style], [3, 1.5, 'font-size: 9;']);
  await pc(lab, 'plain');
  await server.expect(201, 'POST', `${path}/nodes/${node.node_id}/duplicate`, { x: 1, y: 2 });
  await server.expect(204, 'POST', `${path}/close`);

  const text = await readFile(join(project.path, 'lab.gns3'), 'utf8');
  const nodes: Body[] = JSON.parse(text).topology.nodes;
  const styles = nodes.map(({ label: { style } }) => style);
  const carrying = 'font-size: 9;-labwire-start-order: 3;-labwire-start-delay: 1.5;';
  assert.deepEqual(styles, [carrying, null, carrying]);
  assert.ok(!text.includes('start_order'), 'the format knows no such member');

  const [stored]: Body[] = await server.expect(200, 'GET', `${path}/nodes`);
  assert.deepEqual([stored.start_order, stored.start_delay, stored.label.style], [3, 1.5, 'font-size: 9;']);
  await server.expect(201, 'POST', `${path}/open`);
  const again = await server.expect(200, 'GET', `${path}/nodes/${node.node_id}`);
  assert.deepEqual([again.start_order, again.start_delay, again.label.style], [3, 1.5, 'font-size: 9;']);
  const changed = await server.expect(200, 'PUT', `${path}/nodes/${node.node_id}`, { start_order: 0, label });
  assert.deepEqual([changed.start_order, changed.start_delay], [0, 1.5]);
});

test('what is no order and no delay is refused by its name', async (t) => {
  const lab = await LabServer.withLab(t, { auto_close: false }, { 'VPCS.engine': 'built-in' });
  const node = await pc(lab, 'PC');
  for (const [member, value] of [
    ['start_order', -1],
    ['start_order', 1.5],
    ['start_delay', -1],
    ['start_delay', 86_401],
    ['start_delay', '5'],
  ] as const) {
    const answer = await lab.server.call('PUT', `${lab.path}/nodes/${node.node_id}`, { [member]: value });
    assert.equal(answer.status, 400, `${member}: ${value}`);
    assert.match(answer.json.message, new RegExp(member));
  }
});
