// The journal of a lab: what was told of it is there for those who come later, bounded, and gone with the lab.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ProjectObject } from '../../src/api/objects.ts';
import { createAnnouncer } from '../../src/controller/events.ts';
import { journalStream } from '../../src/controller/lab/journal-stream.ts';
import { isAbout, Journals } from '../../src/controller/lab/journals.ts';
import type { Body } from '../body.ts';
import { LabServer } from './lab-server.ts';

test('changes of state and messages are kept for those who come later', async (t) => {
  const { server, project, path } = await LabServer.withLab(t, {}, { 'VPCS.engine': 'built-in' });
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
  const about = (node: Body): Promise<Body[]> => server.expect(200, 'GET', `${path}/journal?node_id=${node.node_id}`);
  assert.deepEqual([(await about(pc)).length, (await about(hub)).length], [2, 0]);
  await server.expect(204, 'POST', `${path}/close`);
  assert.equal((await read()).length, 2, 'a closed lab has its journal');
  assert.deepEqual([(await about(pc)).length, (await about(hub)).length], [2, 0]);
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
  assert.equal(journals.beginning('a'), 200);
  assert.deepEqual(
    journals.after('a', 699).entries.map(({ message }) => message),
    ['line 700'],
  );
  const { entries: late, place } = journals.after('a', 150);
  assert.deepEqual([late.length, place], [501, 700]);
  assert.match(late[0]!.message!, /^50 entries came faster than they were read/);
  assert.deepEqual(journals.after('a', place).entries, []);
  announcer.controller.emit('project.deleted', { project_id: 'a' } as ProjectObject);
  assert.deepEqual([journals.of('a').length, journals.of('b').length], [0, 1]);
});

test('an entry is about a node when it has its state, or names it', () => {
  const said = (message: string) => ({ at: '', level: 'info' as const, message, node_id: null, status: null });
  const node = { id: 'a', name: 'PC1' };
  const words = ['PC1: off', 'PC11 is off', 'the PC1', 'PC1-b', 'PC11 and PC1.', 'R1'];
  assert.deepEqual(
    words.filter((word) => isAbout(said(word), node)),
    ['PC1: off', 'the PC1', 'PC11 and PC1.'],
  );
  assert.equal(
    isAbout({ ...said(''), message: null, node_id: 'a', status: 'started' }, { ...node, name: undefined }),
    true,
  );
});

test('the stream of a journal begins with the stored messages, continues with new ones, and ends with the server', async () => {
  const announcer = createAnnouncer();
  const journals = new Journals(announcer);
  const warn = (message: string, lab: string): void => announcer.project.emit('log.warning', { message }, lab);
  warn('before', 'a');
  const wants = ({ message }: { message: string | null }): boolean => message !== 'left out';
  const body = journalStream({ journals, announcer, projectId: 'a', wants, isThere: () => true });
  assert.equal(announcer.project.listeners('a'), 0, 'it keeps no lab open');
  for (const [message, lab] of [
    ['left out', 'a'],
    ['elsewhere', 'b'],
    ['after', 'a'],
  ] as const)
    warn(message, lab);
  announcer.project.close('The server is stopping.');
  const lines = (await body.text()).split('\n').filter(Boolean);
  assert.deepEqual(
    lines.map((line) => JSON.parse(line).message),
    ['before', 'after'],
  );
});
