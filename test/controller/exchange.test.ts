// Changes that come while a snapshot is put in the place of a lab: each happens before it or after it, never within.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Body } from '../body.ts';
import { StandIn, sendJson } from './computes-stand-in.ts';
import { LabServer, until } from './lab-server.ts';

test('nodes that are made while a snapshot is restored are in the lab afterwards, on its compute and in its file, or nowhere', async (t) => {
  const { server, project, path } = await LabServer.withLab(t, { auto_close: false });
  for (const name of ['A', 'B', 'C']) await server.hub(project, name);
  const snapshot = await server.expect(201, 'POST', `${path}/snapshots`, { name: 'one' });
  for (let round = 0; round < 3; round++) {
    let isOver = false;
    const restored = server.call('POST', `${path}/snapshots/${snapshot.snapshot_id}/restore`).finally(() => {
      isOver = true;
    });
    const made: Promise<Body>[] = [];
    while (!isOver) {
      made.push(server.hub(project, `New${round}`));
      await sleep(15);
    }
    assert.equal((await restored).status, 201);
    const last = (await Promise.all(made)).at(-1);
    const nodes: Body[] = await server.expect(200, 'GET', `${path}/nodes`);
    const ids = nodes.map(({ node_id: id }) => id).sort();
    assert.ok(['A', 'B', 'C'].every((name) => nodes.some((node) => node.name === name)));
    assert.ok(ids.includes(last.node_id), 'the one that was asked for last is there');
    for (const { node_id: id } of await Promise.all(made)) {
      const there = await server.call('GET', `/v2/compute/projects/${project.project_id}/ethernet_hub/nodes/${id}`);
      assert.equal(there.status, ids.includes(id) ? 200 : 404);
    }
    await server.expect(204, 'POST', `${path}/close`);
    const file = JSON.parse(await readFile(join(project.path, project.filename), 'utf8'));
    assert.deepEqual(file.topology.nodes.map((node: Body) => node.node_id).sort(), ids);
    await server.expect(201, 'POST', `${path}/open`);
    const [again] = await server.expect(200, 'GET', `${path}/snapshots`);
    Object.assign(snapshot, again);
  }
});

test('a restoration waits for a node that its compute is making, and takes it away again', async (t) => {
  let answer: (() => void) | undefined;
  const it = await StandIn.start(t, {
    'POST /projects/[^/]+/vpcs/nodes': (request, response) => {
      request.resume();
      const send = (): void => sendJson(response, 201, { status: 'stopped', console: 5000, console_type: 'telnet' });
      // The node is made once more to be deleted with its files.
      if (answer) send();
      else answer = send;
    },
    'POST /projects/[^/]+/(stop|close)': {},
    'POST /projects': {},
    'DELETE /projects.*': {},
  });
  const server = await LabServer.start(t);
  await server.expect(201, 'POST', '/v2/computes', it.body());
  const project = await server.project('lab', { auto_close: false });
  const path = `/v2/projects/${project.project_id}`;
  await server.hub(project, 'A');
  const snapshot = await server.expect(201, 'POST', `${path}/snapshots`, { name: 'one' });
  const made = server.call('POST', `${path}/nodes`, { name: 'Late', node_type: 'vpcs', compute_id: 'it' });
  await until(() => answer !== undefined, 'the request for the node');
  let isRestored = false;
  const restored = server.call('POST', `${path}/snapshots/${snapshot.snapshot_id}/restore`).finally(() => {
    isRestored = true;
  });
  await sleep(300);
  assert.equal(isRestored, false, 'it waits for the node');
  answer?.();
  assert.deepEqual([(await made).status, (await restored).status], [201, 201]);
  const nodes: Body[] = await server.expect(200, 'GET', `${path}/nodes`);
  assert.deepEqual(
    nodes.map(({ name }) => name),
    ['A'],
  );
});
