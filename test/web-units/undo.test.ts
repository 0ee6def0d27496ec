// Undoing against a real server: what was changed here goes back, what somebody else has changed since stays.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type OtherName, otherNamesInWords } from '../../src/web/model/lab/taken-names.ts';
import { History, type Requests } from '../../src/web/model/lab/undo.ts';
import type { Body } from '../body.ts';
import { LabServer } from '../controller/lab-server.ts';

/** @param keeps false: hosts keep no nodes, as those of other releases do not */
async function setUp(t: TestContext, { keeps = true } = {}) {
  const { server, project } = await LabServer.withLab(t);
  const hosts = { keep: keeps };
  /** Status and sentence instead of the server's answers to these requests. */
  const outage: { status: number | undefined; of: RegExp; words: string } = {
    status: undefined,
    of: /^PUT |restore$/,
    words: 'refused',
  };
  const call = async (method: string, path: string, body?: object): Promise<Body> => {
    if (outage.status !== undefined && outage.of.test(`${method} ${path}`))
      throw Object.assign(new Error(outage.words), { status: outage.status });
    const { status, json } = await server.call(method, `/v2${path}`, body);
    if (status >= 400) throw Object.assign(new Error(json.message), { status });
    return status === 204 ? undefined : json;
  };
  const requests: Requests = {
    get: (path) => call('GET', path),
    post: (path, body) => call('POST', path, body ?? {}),
    put: (path, body) => call('PUT', path, body),
    delete: (path) => call('DELETE', hosts.keep ? path : path.replace('?keep=yes', '')),
  };
  const path = `/projects/${project.project_id}`;
  const known = new Map<string, object>();
  const named: OtherName[] = [];
  const history = new History({
    requests,
    project: path,
    known: (_kind, id) => known.get(id),
    otherNames: (names) => named.push(...names),
  });
  const read = (kind: string, id: string): Promise<Body> => call('GET', `${path}/${kind}s/${id}`);
  return { server, project, path, history, hosts, outage, known, named, call, read };
}

test('places, names and labels go back and forth, several nodes as one step', async (t) => {
  const { server, project, history, known, read } = await setUp(t);
  const nodes: Body[] = [];
  for (const name of ['One', 'Two']) nodes.push(await server.hub(project, name, { x: 10, y: 20 }));
  for (const node of nodes) known.set(node.node_id, node);
  const [one, two] = nodes;
  await history.update(nodes.map(({ node_id: id }, at) => ({ kind: 'node', id, fields: { x: 100 * at, y: -5 } })));
  await history.update([{ kind: 'node', id: one.node_id, fields: { name: 'Renamed' } }]);
  const label = { ...(await read('node', two.node_id)).label, x: 3, y: 70 };
  await history.update([{ kind: 'node', id: two.node_id, fields: { label } }]);
  assert.equal((await read('node', two.node_id)).label.y, 70);
  assert.equal(history.undoable.value, 3);

  await history.undo();
  assert.deepEqual((await read('node', two.node_id)).label, two.label);
  // Asked for at once, done one after the other.
  await Promise.all([history.undo(), history.undo()]);
  for (const node of nodes) {
    const { name, x, y } = await read('node', node.node_id);
    assert.deepEqual({ name, x, y }, { name: node.name, x: 10, y: 20 });
  }
  assert.deepEqual([history.undoable.value, history.redoable.value], [0, 3]);
  await history.redo();
  await history.redo();
  assert.deepEqual([(await read('node', two.node_id)).x, (await read('node', one.node_id)).name], [100, 'Renamed']);
  // Something new: what was undone cannot be done again.
  await history.update([{ kind: 'node', id: one.node_id, fields: { z: 3 } }]);
  assert.equal(history.redoable.value, 0);
});

test('changes that one request of the server makes are one step, which is undone for each thing', async (t) => {
  const { server, project, history, known, outage, read } = await setUp(t);
  const nodes: Body[] = [];
  for (const name of ['One', 'Two']) nodes.push(await server.hub(project, name));
  const { node_id: one } = nodes[0];
  const { node_id: two } = nodes[1];
  for (const node of nodes) known.set(node.node_id, node);
  const locks = async (): Promise<boolean[]> => [(await read('node', one)).locked, (await read('node', two)).locked];
  await history.update([{ kind: 'node', id: two, fields: { locked: true } }]);
  await history.updateBy(['lock'], [{ kind: 'node', id: one, fields: { locked: true } }]);
  assert.deepEqual(await locks(), [true, true]);
  await history.undo();
  assert.deepEqual(await locks(), [false, true], 'as before');
  await history.redo();
  assert.deepEqual(await locks(), [true, true]);
  await assert.rejects(history.updateBy(['nothing'], [{ kind: 'node', id: one, fields: { locked: false } }]));
  assert.equal(history.undoable.value, 2, 'a refused request leaves no step');
  // Nothing is done that could not be undone.
  Object.assign(outage, { status: 503, of: /^GET / });
  known.delete(one);
  await assert.rejects(history.updateBy(['unlock'], [{ kind: 'node', id: one, fields: { locked: false } }]), {
    status: 503,
  });
  outage.status = undefined;
  assert.deepEqual(await locks(), [true, true]);
});

test('undo and redo that are asked for before the answers have come are counted at once', async (t) => {
  const { server, project, history, known } = await setUp(t);
  const node = await server.hub(project, 'One', { x: 10, y: 20 });
  known.set(node.node_id, node);
  const counts = (): number[] => [history.undoable.value, history.redoable.value];
  const asked = [history.update([{ kind: 'node', id: node.node_id, fields: { x: 100 } }])];
  assert.deepEqual(counts(), [1, 0]);
  const turns: Promise<unknown>[] = [history.undo()];
  assert.deepEqual(counts(), [0, 1]);
  turns.push(history.redo());
  assert.deepEqual(counts(), [1, 0]);
  await Promise.all([...asked, ...turns]);
  assert.deepEqual(counts(), [1, 0]);
  // One that fails leaves nothing to undo.
  const failing = history.update([{ kind: 'node', id: node.node_id, fields: { name: 7 } }]);
  assert.deepEqual(counts(), [2, 0]);
  await assert.rejects(failing);
  assert.deepEqual(counts(), [1, 0]);
});

test('links and drawings that were deleted come back as they were, and can be deleted and changed again', async (t) => {
  const { server, project, history, call, path, read } = await setUp(t);
  const [one, two] = [await server.hub(project, 'One'), await server.hub(project, 'Two')];
  const nodes = [one, two].map(({ node_id }) => ({ node_id, adapter_number: 0, port_number: 1 }));
  const link = await history.make<Body>('link', { nodes });
  const link_style = { color: '#ff0000', width: 5 };
  await history.update([
    { kind: 'link', id: link.link_id, fields: { link_style, suspend: true, filters: { latency: [10, 0] } } },
  ]);
  const drawing = await history.make<Body>('drawing', { x: 1, y: 2, svg: '<svg height="1" width="1"></svg>' });
  await history.remove([
    { kind: 'link', id: link.link_id },
    { kind: 'drawing', id: drawing.drawing_id },
  ]);
  assert.deepEqual([await call('GET', `${path}/links`), await call('GET', `${path}/drawings`)], [[], []]);

  await history.undo();
  const [again] = await call('GET', `${path}/links`);
  assert.deepEqual([again.link_style, again.suspend, again.filters], [link_style, true, { latency: [10, 0] }]);
  assert.deepEqual(again.nodes, link.nodes);
  const [drawn] = await call('GET', `${path}/drawings`);
  assert.deepEqual([drawn.x, drawn.y, drawn.svg], [1, 2, drawing.svg]);
  // Earlier steps know them by their new ids.
  await history.undo();
  assert.deepEqual(await call('GET', `${path}/drawings`), []);
  await history.undo();
  assert.equal((await read('link', again.link_id)).suspend, false);
  await history.undo();
  assert.deepEqual(await call('GET', `${path}/links`), []);
  while (history.redoable.value > 0) await history.redo();
  assert.deepEqual([await call('GET', `${path}/links`), await call('GET', `${path}/drawings`)], [[], []]);
});

test('what is written in a drawing stays when the object whose id it names is made again', async (t) => {
  const { server, project, path, history, call } = await setUp(t);
  const [one, two] = [await server.hub(project, 'One'), await server.hub(project, 'Two')];
  const nodes = [one, two].map(({ node_id }) => ({ node_id, adapter_number: 0, port_number: 1 }));
  const { link_id: id } = await history.make<Body>('link', { nodes });
  await history.make('drawing', { svg: `<svg><text>${id}</text></svg>` });
  await history.remove([{ kind: 'link', id }]);
  await history.undo();
  await history.undo();
  assert.deepEqual(await call('GET', `${path}/drawings`), []);
});

test('what another user has changed or deleted since is not undone, nor half of a step; earlier steps still are', async (t) => {
  const { server, project, history, known, read, call, path } = await setUp(t);
  const [one, two] = [await server.hub(project, 'One', { x: 0 }), await server.hub(project, 'Two', { x: 0 })];
  for (const node of [one, two]) known.set(node.node_id, node);
  await history.update([{ kind: 'node', id: two.node_id, fields: { z: 4 } }]);
  await history.update([one, two].map(({ node_id: id }) => ({ kind: 'node', id, fields: { x: 50 } })));
  await call('PUT', `${path}/nodes/${two.node_id}`, { x: 77 });
  await assert.rejects(history.undo(), /another user has changed Two/);
  assert.deepEqual([(await read('node', one.node_id)).x, (await read('node', two.node_id)).x], [50, 77]);
  await history.undo();
  assert.equal((await read('node', two.node_id)).z, two.z);
  const drawing = await history.make<Body>('drawing', { svg: '<svg></svg>' });
  await call('DELETE', `${path}/drawings/${drawing.drawing_id}`);
  await assert.rejects(history.undo(), /the drawing was deleted/);
  assert.equal(history.undoable.value, 0);
});

test('what the server cannot reverse any more is dropped; the rest of its step and earlier steps are undone', async (t) => {
  const { server, project, path, history, known, call, read } = await setUp(t);
  const nodes: Body[] = [];
  for (const name of ['One', 'Two', 'Three']) nodes.push(await server.hub(project, name, { x: 0 }));
  for (const node of nodes) known.set(node.node_id, node);
  const [one, two, three] = nodes.map(({ node_id }) => node_id as string);
  await history.update([{ kind: 'node', id: one!, fields: { x: 50 } }]);
  const drawing = await history.make<Body>('drawing', { svg: '<svg></svg>' });
  await history.remove([
    { kind: 'drawing', id: drawing.drawing_id },
    { kind: 'node', id: three! },
  ]);
  known.delete(three!);
  // Somebody else restores it, and deletes it for good.
  await call('POST', `${path}/deleted_nodes/${three}/restore`);
  await call('DELETE', `${path}/nodes/${three}`);
  await assert.rejects(history.undo(), /Not undone: Three\. node_id: no deleted node/);
  assert.equal((await call('GET', `${path}/drawings`)).length, 1);
  assert.deepEqual([history.undoable.value, history.redoable.value], [2, 1]);

  // The port of a deleted link is used by another one now; then a node at its end is deleted.
  const ends = [one, two].map((node_id) => ({ node_id, adapter_number: 0, port_number: 1 }));
  const link = await history.make<Body>('link', { nodes: ends });
  await history.remove([{ kind: 'link', id: link.link_id }]);
  const others = await call('POST', `${path}/links`, { nodes: ends });
  // It may be free again later; when it is not, the step would block earlier ones.
  await assert.rejects(history.undo(), { status: 409 });
  await assert.rejects(history.undo(), /Not undone: the link\./);
  await assert.rejects(history.undo(), /the link was deleted/);
  await call('DELETE', `${path}/links/${others.link_id}`);
  const again = await history.make<Body>('link', { nodes: ends });
  await history.remove([{ kind: 'link', id: again.link_id }]);
  await call('DELETE', `${path}/nodes/${two}`);
  await assert.rejects(history.undo(), /Not undone: the link\./);
  await assert.rejects(history.undo(), /the link was deleted/);

  await history.undo();
  assert.deepEqual(await call('GET', `${path}/drawings`), []);
  await history.undo();
  assert.equal((await read('node', one!)).x, 0);
});

test('a step that the server did not carry out for another reason can be undone later', async (t) => {
  const { history, project, server, outage, read } = await setUp(t);
  const hub = await server.hub(project, 'Hub', { x: 0 });
  await history.update([{ kind: 'node', id: hub.node_id, fields: { x: 50 } }]);
  await history.remove([{ kind: 'node', id: hub.node_id }]);
  // The deleted node, then its place.
  for (const undoable of [2, 1]) {
    for (const status of [0, 409, 401, 429, 409, 503, 400]) {
      outage.status = status;
      await assert.rejects(history.undo(), { status });
      assert.equal(history.undoable.value, undoable, `${status}`);
    }
    outage.status = undefined;
    await history.undo();
  }
  assert.equal((await read('node', hub.node_id)).x, 0);
});

test('a step that the server refuses twice for the same reason does not block earlier ones', async (t) => {
  const { history, project, server, outage, read } = await setUp(t);
  const hub = await server.hub(project, 'Hub', { x: 0 });
  for (const x of [50, 60]) await history.update([{ kind: 'node', id: hub.node_id, fields: { x } }]);
  outage.status = 409;
  for (const words of ['the host does not answer', 'the host starts']) {
    outage.words = words;
    await assert.rejects(history.undo(), { message: words });
  }
  await assert.rejects(history.undo(), /Not undone: .*the host starts/);
  outage.status = undefined;
  assert.equal(history.undoable.value, 1);
  assert.equal((await read('node', hub.node_id)).x, 60);
});

test('of a step that failed in part, the part that succeeded can be undone', async (t) => {
  const { server, project, history, known, read } = await setUp(t);
  const one = await server.hub(project, 'One', { x: 0 });
  known.set(one.node_id, one);
  const missing = '00000000-0000-4000-8000-000000000000';
  known.set(missing, { x: 0 });
  const update = [one.node_id, missing].map((id) => ({ kind: 'node' as const, id, fields: { x: 9 } }));
  await assert.rejects(history.update(update), { status: 404 });
  assert.equal((await read('node', one.node_id)).x, 9);
  await history.undo();
  assert.equal((await read('node', one.node_id)).x, 0);
});

test('what follows from a thing as it is loses nothing that was changed a moment ago', async (t) => {
  const { server, project, history, known, read } = await setUp(t);
  const hub: Body = await server.hub(project, 'Hub', { x: 0, y: 0 });
  // What is known here is as it was throughout: no event has come back yet.
  known.set(hub.node_id, hub);
  const relabel = (members: object) =>
    history.update([
      { kind: 'node', id: hub.node_id, fields: ({ label }) => ({ label: { ...(label as object), ...members } }) },
    ]);
  await Promise.all([relabel({ rotation: 30 }), relabel({ x: 7 })]);
  const { rotation, x } = (await read('node', hub.node_id)).label;
  assert.deepEqual({ rotation, x }, { rotation: 30, x: 7 });
  await history.undo();
  assert.equal((await read('node', hub.node_id)).label.rotation, 30);
  await history.undo();
  assert.deepEqual((await read('node', hub.node_id)).label, hub.label);
});

test('a change records what the one before it has made, also before its event has come', async (t) => {
  const { server, project, history, known, read } = await setUp(t);
  const hub: Body = await server.hub(project, 'Hub', { x: 0, z: 1 });
  const { node_id: id } = hub;
  known.set(id, hub);
  await Promise.all([{ x: 100 }, { z: 1 }, { x: 200 }].map((fields) => history.update([{ kind: 'node', id, fields }])));
  await Promise.all(
    [true, false].map((locked) =>
      history.updateBy([locked ? 'lock' : 'unlock'], [{ kind: 'node', id, fields: { locked } }]),
    ),
  );
  const now = async () => (await read('node', id)) as Body;
  await history.undo();
  assert.equal((await now()).locked, true);
  await history.undo();
  assert.equal((await now()).locked, false);
  for (const x of [100, 100, 0]) {
    await history.undo();
    assert.equal((await now()).x, x);
  }
  // A change right after an undo, too; then the events come, and another user's after them.
  await history.redo();
  await history.update([{ kind: 'node', id, fields: { x: 300 } }]);
  await history.undo();
  assert.equal((await now()).x, 100);
  known.set(id, { ...hub, x: 50 });
  await server.expect(200, 'PUT', `/v2/projects/${project.project_id}/nodes/${id}`, { x: 50 });
  await history.update([{ kind: 'node', id, fields: { x: 400 } }]);
  await history.undo();
  assert.equal((await now()).x, 50);
});

test('schedules are started and ended again, and those of others stay', async (t) => {
  const { server, project, path, history, call } = await setUp(t);
  const [a, b] = [await server.hub(project, 'A', {}), await server.hub(project, 'B', {})];
  const { link_id: id } = await server.link(project, [a, 0], [b, 0]);
  const now = () => call('GET', `${path}/links/${id}/schedule`);
  const dead = (at: number) => ({ steps: [{ at, for: 600, both: { loss: { percent: 100 } } }], rounds: 0 });
  await history.schedule(id, dead(1));
  await history.schedule(id, dead(2));
  assert.equal((await now()).steps[0].at, 2);
  await history.undo();
  assert.deepEqual([(await now()).state, (await now()).steps[0].at], ['running', 1]);
  await history.undo();
  assert.equal((await now()).state, 'cancelled');
  await history.redo();
  assert.deepEqual([(await now()).state, (await now()).steps[0].at], ['running', 1]);
  await history.schedule(id, null);
  assert.equal((await now()).state, 'cancelled');
  await history.undo();
  assert.equal((await now()).state, 'running');
  // Somebody else's.
  await call('POST', `${path}/links/${id}/schedule`, dead(3));
  await assert.rejects(history.undo(), /another user has changed the schedule/);
  assert.equal((await now()).steps[0].at, 3);
});

test('a schedule that ended can be undone and redone', async (t) => {
  const { server, project, path, history, call } = await setUp(t);
  const [a, b] = [await server.hub(project, 'A', {}), await server.hub(project, 'B', {})];
  const { link_id: id } = await server.link(project, [a, 0], [b, 0]);
  const now = () => call('GET', `${path}/links/${id}/schedule`);
  await history.schedule(id, { steps: [{ at: 0, for: 0.05, both: { loss: { percent: 100 } } }] });
  while ((await now()).state === 'running');
  await history.undo();
  await history.redo();
  while ((await now()).state === 'running');
  assert.equal((await now()).state, 'finished');
});

test('settings of a node go back, and those that others have changed meanwhile stay', async (t) => {
  const { server, project, path, history, known, call, read } = await setUp(t);
  const node = await server.hub(project, 'Hub');
  const { node_id: id } = node;
  known.set(id, node);
  const ports = (count: number): object => ({
    ports_mapping: Array.from({ length: count }, (_, number) => ({ name: `Ethernet${number}`, port_number: number })),
  });
  const count = async (): Promise<number> => (await read('node', id)).properties.ports_mapping.length;
  await history.update([{ kind: 'node', id, fields: { name: 'Other', properties: ports(4) } }]);
  await call('PUT', `${path}/nodes/${id}`, { start_order: 3 });
  known.set(id, await read('node', id));
  await history.update([{ kind: 'node', id, fields: { properties: ports(6) } }]);
  assert.equal(await count(), 6);
  await history.undo();
  assert.equal(await count(), 4);
  const { name, start_order: order } = await read('node', id);
  assert.deepEqual([name, order], ['Other', 3]);
  await history.redo();
  assert.equal(await count(), 6);
  await call('PUT', `${path}/nodes/${id}`, { properties: ports(7) });
  await assert.rejects(history.undo(), /another user has changed Other/);
  assert.equal(await count(), 7);
});

test('settings that a node omits at their default go back to it', async (t) => {
  const { server, history, read, path } = await setUp(t);
  const { node_id: id } = await server.expect(201, 'POST', `/v2${path}/nodes`, {
    ...{ name: 'G', node_type: 'qemu', compute_id: 'local', properties: { platform: 'x86_64' } },
  });
  const set = { mtu: 9000, offload: false, guest_agent: true, hda_disk_cache: 'writethrough' };
  const now = async (): Promise<object> => {
    const { properties } = await read('node', id);
    return Object.fromEntries(
      Object.keys(set).flatMap((name) => (name in properties ? [[name, properties[name]]] : [])),
    );
  };
  assert.deepEqual(await now(), {});
  for (const [name, value] of Object.entries(set)) {
    await history.update([{ kind: 'node', id, fields: { properties: { [name]: value } } }]);
  }
  assert.deepEqual(await now(), set);
  while (history.undoable.value > 0) await history.undo();
  assert.deepEqual(await now(), {});
  while (history.redoable.value > 0) await history.redo();
  assert.deepEqual(await now(), set);
});

test('copies of nodes with their drawings are one step, which is undone only while they are unused', async (t) => {
  const { server, project, path, history, known, call, read } = await setUp(t);
  const pc: Body = await call('POST', `${path}/nodes`, {
    name: 'PC',
    node_type: 'vpcs',
    compute_id: 'local',
    x: 0,
    y: 0,
  });
  const hub = await server.hub(project, 'Hub', { x: 50, y: 0 });
  const copies = [pc, hub].map(({ node_id: source, x, y }) => ({ source, body: { x: x + 200, y } }));
  const drawing = { x: 7, y: 8, z: 0, rotation: 0, svg: '<svg height="1" width="1"></svg>' };
  const all = async (kind: string): Promise<Body[]> => call('GET', `${path}/${kind}s`);
  const made = await history.copy(copies, [drawing]);
  assert.deepEqual([made.nodes.length, made.drawings.length, history.undoable.value], [2, 1, 1]);
  assert.deepEqual([(await read('node', made.nodes[0]!)).x, (await read('node', made.nodes[1]!)).x], [200, 250]);
  await history.undo();
  assert.deepEqual([(await all('node')).length, (await all('drawing')).length], [2, 0]);
  await history.redo();
  assert.deepEqual([(await all('node')).length, (await all('drawing')).length], [4, 1]);
  // Later steps know the copies by their new ids.
  const [copy] = (await all('node')).filter(({ name, node_id: id }) => id !== pc.node_id && /^PC/.test(name));
  await history.update([{ kind: 'node', id: copy.node_id, fields: { x: 321 } }]);
  await history.undo();
  // A copy that was started may hold somebody's work: stopped again it stays all the same.
  for (const verb of ['start', 'stop']) await call('POST', `${path}/nodes/${copy.node_id}/${verb}`);
  known.set(copy.node_id, copy);
  await assert.rejects(history.undo(), /was started or linked since/);
  assert.equal((await all('node')).length, 4);
  // One that somebody has linked stays, too.
  const [again] = (await history.copy([copies[1]!], [])).nodes;
  await server.link(project, [{ node_id: again }, 0], [hub, 0]);
  await assert.rejects(history.undo(), /was started or linked since/);
  assert.equal((await all('node')).length, 5);
  assert.equal(history.undoable.value, 0);
});

test('links of a copy come back with it, with what was changed at their ends', async (t) => {
  const { server, project, path, history, call } = await setUp(t);
  const hub: Body = await server.hub(project, 'Hub');
  const [copy] = (await history.copy([{ source: hub.node_id, body: { x: 200, y: 0 } }], [])).nodes;
  const nodes = [copy, hub.node_id].map((node_id) => ({ node_id, adapter_number: 0, port_number: 0 }));
  const { link_id: id } = await history.make<Body>('link', { nodes });
  const fields = ({ nodes: ends }: Body) => ({
    nodes: ends.map((end: Body) => ({ ...end, label: { ...end.label, x: 7 } })),
  });
  await history.update([{ kind: 'link', id, fields }]);
  while (history.undoable.value > 0) await history.undo();
  assert.deepEqual([(await call('GET', `${path}/nodes`)).length, await call('GET', `${path}/links`)], [1, []]);
  while (history.redoable.value > 0) await history.redo();
  const [again] = await call('GET', `${path}/links`);
  assert.deepEqual(
    again.nodes.map(({ label }: Body) => label.x),
    [7, 7],
  );
  assert.notEqual(again.nodes[0].node_id, copy);
  while (history.undoable.value > 0) await history.undo();
  assert.deepEqual([(await call('GET', `${path}/nodes`)).length, await call('GET', `${path}/links`)], [1, []]);
});

test('a setting of several nodes goes back for those that took it, as one step', async (t) => {
  const { server, project, path, history, known, call, read } = await setUp(t);
  const hubs = [await server.hub(project, 'One'), await server.hub(project, 'Two')];
  for (const node of hubs) known.set(node.node_id, node);
  await call('DELETE', `${path}/nodes/${hubs[1].node_id}`);
  const results = await history.updateEach(
    hubs.map(({ node_id: id }) => ({ kind: 'node' as const, id, fields: { start_order: 4 } })),
  );
  assert.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected'],
  );
  assert.equal((await read('node', hubs[0].node_id)).start_order, 4);
  await history.undo();
  // An order of 0 is not told.
  assert.equal((await read('node', hubs[0].node_id)).start_order ?? 0, 0);
});

test('taken names are reported with those that the server has chosen, also when a name is undone', async (t) => {
  const { server, project, path, history, known, named, call, read } = await setUp(t);
  const [one, two] = [await server.hub(project, 'One'), await server.hub(project, 'Two')];
  for (const node of [one, two]) known.set(node.node_id, node);
  const rename = (name: string) => history.update([{ kind: 'node', id: two.node_id, fields: { name } }]);
  await rename('Number Two');
  assert.equal((await read('node', two.node_id)).name, 'NumberTwo');
  await rename('Hub{0}');
  assert.deepEqual(named.splice(0), [], 'spaces are left out of any name, and a placeholder asks for another one');
  known.set(two.node_id, await read('node', two.node_id));
  await rename('One');
  assert.deepEqual(named.splice(0), [['One', 'One1']]);

  await call('PUT', `${path}/nodes/${one.node_id}`, { name: 'Hub1' });
  await history.undo();
  assert.deepEqual(named.splice(0), [['Hub1', 'Hub2']]);

  for (const { node_id: id } of [one, two]) known.set(id, await read('node', id));
  await history.copy([{ source: one.node_id, body: { x: 0, y: 0 } }], []);
  await history.copy(
    [1, 2].map((x) => ({ source: two.node_id, body: { x, y: 0 } })),
    [],
  );
  assert.deepEqual(named, [
    ['Hub1', 'Hub3'],
    ['Hub2', 'Hub4'],
    ['Hub2', 'Hub5'],
  ]);
  assert.equal(otherNamesInWords(named.slice(0, 1)), 'The name "Hub1" is taken: "Hub3" was chosen instead.');
  const many = otherNamesInWords(Array.from({ length: 7 }, () => ['a', 'b'] as const));
  assert.match(many, /^(The name "a" is taken: "b" was chosen instead\. ){5}2 other names were chosen, too\.$/);
});

test('deleted nodes come back with their links, and go again', async (t) => {
  const { server, project, path, history, call } = await setUp(t);
  const [one, two] = [await server.hub(project, 'One'), await server.hub(project, 'Two')];
  const link = await server.link(project, [one, 0], [two, 0]);
  const ids = async (kind: string): Promise<string[]> =>
    (await call('GET', `${path}/${kind}s`)).map((each: Body) => each[`${kind}_id`]).toSorted();
  const nodes = [one.node_id, two.node_id].toSorted();
  assert.deepEqual(await history.remove(nodes.map((id) => ({ kind: 'node' as const, id }))), []);
  assert.deepEqual([await ids('node'), await ids('link')], [[], []]);
  await history.undo();
  assert.deepEqual([await ids('node'), await ids('link')], [nodes, [link.link_id]]);
  await history.redo();
  assert.deepEqual([await ids('node'), await ids('link')], [[], []]);
  await history.undo();
  assert.deepEqual([await ids('node'), await ids('link')], [nodes, [link.link_id]]);
});

test('a restored node that another user has changed or started since is not deleted again', async (t) => {
  const { server, project, path, history, known, call, read } = await setUp(t);
  const pc: Body = await call('POST', `${path}/nodes`, { name: 'PC', node_type: 'vpcs', compute_id: 'local' });
  const hub = await server.hub(project, 'Hub');
  for (const node of [pc, hub]) known.set(node.node_id, node);
  const deleteAndUndo = async (): Promise<void> => {
    await history.remove([pc, hub].map(({ node_id: id }) => ({ kind: 'node' as const, id })));
    await history.undo();
  };
  await deleteAndUndo();
  await call('PUT', `${path}/nodes/${pc.node_id}`, { name: 'Core' });
  await assert.rejects(history.redo(), /^Error: Not redone: another user has changed PC/);
  assert.deepEqual([(await read('node', pc.node_id)).name, history.redoable.value], ['Core', 0]);

  await deleteAndUndo();
  await call('POST', `${path}/nodes/${pc.node_id}/start`);
  await assert.rejects(history.redo(), /PC was started or linked since/);
  assert.equal((await read('node', pc.node_id)).status, 'started');
  await read('node', hub.node_id);
});

test('a deletion that the host does not keep is no step, and is reported', async (t) => {
  const { server, project, history, hosts, known, outage } = await setUp(t, { keeps: false });
  const hub = await server.hub(project, 'Foreign');
  known.set(hub.node_id, hub);
  assert.deepEqual(await history.remove([{ kind: 'node', id: hub.node_id }]), ['Foreign']);
  assert.equal(history.undoable.value, 0);

  hosts.keep = true;
  const other = await server.hub(project, 'Other');
  known.set(other.node_id, other);
  await history.remove([{ kind: 'node', id: other.node_id }]);
  await history.undo();
  hosts.keep = false;
  assert.deepEqual(await history.redo(), ['Other']);
  assert.deepEqual([history.undoable.value, history.redoable.value], [0, 0]);

  // Also when something else is refused.
  for (const isRedo of [false, true]) {
    hosts.keep = isRedo;
    const node = await server.hub(project, 'Last');
    known.set(node.node_id, node);
    const drawing = await history.make<Body>('drawing', { svg: '<svg></svg>' });
    const both = [
      { kind: 'drawing' as const, id: drawing.drawing_id },
      { kind: 'node' as const, id: node.node_id },
    ];
    if (isRedo) {
      await history.remove(both);
      await history.undo();
    }
    hosts.keep = false;
    Object.assign(outage, { status: 404, of: /^DELETE .*drawings/ });
    await assert.rejects(isRedo ? history.redo() : history.remove(both), /refused.*Last/);
    outage.status = undefined;
  }
});

test('a step of hundreds of changes does not start all its requests at once', async () => {
  let [running, most] = [0, 0];
  const put = async (): Promise<object> => {
    running += 1;
    most = Math.max(most, running);
    await new Promise((resolve) => setTimeout(resolve));
    running -= 1;
    return { x: 1 };
  };
  const history = new History({
    requests: { put } as unknown as Requests,
    project: '/projects/one',
    known: () => ({ x: 0 }),
    otherNames: () => {},
  });
  const updates = Array.from({ length: 300 }, (_, id) => ({ kind: 'node' as const, id: String(id), fields: { x: 1 } }));
  assert.equal((await history.update(updates)).length, 300);
  assert.ok(most > 1 && most <= 20, `${most} at once`);
});
