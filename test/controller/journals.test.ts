// The journal of a lab: what was told of it is there for those who come later, bounded, and gone with the lab.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAnnouncer } from '../../src/controller/events.ts';
import { Journals } from '../../src/controller/lab/journals.ts';
import { LabServer } from './lab-server.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers are looked at member by member
type Body = any;

test('changes of state and messages are kept for those who come later', async (t) => {
  const server = await LabServer.start(t, { 'VPCS.engine': 'built-in' });
  const project = await server.project();
  const path = `/v2/projects/${project.project_id}`;
  const read = (): Promise<Body[]> => server.expect(200, 'GET', `${path}/journal`);
  const pc = await server.expect(201, 'POST', `${path}/nodes`, { name: 'PC1', node_type: 'vpcs', compute_id: 'local' });
  const hub = await server.hub(project, 'Hub');
  assert.deepEqual(await read(), []);
  for (const [verb, status] of [
    ['start', 'started'],
    ['stop', 'stopped'],
  ]) {
    await server.call('POST', `${path}/nodes/${pc.node_id}/${verb}`);
    assert.equal((await read()).at(-1).status, status);
  }
  // Neither a move nor a node that always runs is news.
  for (const { node_id: id } of [pc, hub]) await server.expect(200, 'PUT', `${path}/nodes/${id}`, { x: 5 });
  await server.call('POST', `${path}/nodes/${hub.node_id}/stop`);
  const entries = await read();
  assert.deepEqual(
    entries.map(({ at: _at, ...entry }) => entry),
    ['started', 'stopped'].map((status) => ({ level: null, message: null, node_id: pc.node_id, status })),
  );
  assert.ok(entries.every(({ at }) => new Date(at).toISOString() === at));
  await server.expect(204, 'POST', `${path}/close`);
  assert.equal((await read()).length, 2, 'a closed lab has its journal');
  await server.expect(204, 'DELETE', path);
  await server.expect(404, 'GET', `${path}/journal`);
});

test('the last 500 lines of each lab are kept, of each as much as fits, until the lab is deleted', () => {
  const announcer = createAnnouncer();
  const journals = new Journals(announcer);
  for (let number = 1; number <= 700; number++)
    announcer.project.emit('log.warning', { message: `line ${number}` }, 'a');
  announcer.project.emit('log.error', { message: 'x'.repeat(5000) }, 'b');
  const entries = journals.of('a');
  assert.deepEqual([entries.length, entries[0]?.message, entries.at(-1)?.message], [500, 'line 201', 'line 700']);
  assert.deepEqual(
    journals.of('b').map(({ level, message }) => [level, message?.length]),
    [['error', 2000]],
  );
  announcer.controller.emit('project.deleted', { project_id: 'a' });
  assert.deepEqual([journals.of('a').length, journals.of('b').length], [0, 1]);
});
