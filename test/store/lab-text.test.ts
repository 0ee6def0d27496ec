// The text of a lab's file: the same whether it is made here or in the thread, and made beside whatever else is to be done.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { Failure } from '../../src/failures.ts';
import { Store } from '../../src/store/store.ts';
import { serializeTopology, topologyOf } from '../../src/store/topology/document.ts';
import { labText } from '../../src/store/topology/lab-text.ts';
import { labTextBeside, topologyTextBeside } from '../../src/store/topology/lab-text-thread.ts';
import { failure, scratchDirectory } from './scratch.ts';

const VERSION = '2.2.57';

const project = {
  project_id: randomUUID(),
  name: 'lab ü',
  path: '/nowhere',
  filename: 'lab.gns3',
  auto_start: false,
  auto_open: false,
  auto_close: true,
  scene_height: 1000,
  scene_width: 2000,
  zoom: 100,
  show_layers: false,
  snap_to_grid: false,
  show_grid: false,
  show_interface_labels: false,
  grid_size: 75,
  drawing_grid_size: 25,
  supplier: null,
  variables: null,
};

const node = (number: number, more: object = {}) => ({
  node_id: randomUUID(),
  compute_id: 'local',
  node_type: 'ethernet_hub',
  name: `Hub ${number} – ü`,
  properties: { ports_mapping: [{ name: 'Ethernet0', port_number: 0 }] },
  x: number,
  label: { text: `Hub ${number}`, x: null, y: 1 },
  known_here_only: true,
  ...more,
});

for (const count of [3, 600]) {
  test(`the text of ${count} nodes is that of the topology, records in the order in which they came`, async (t) => {
    await using store = await Store.open({ stateDirectory: await scratchDirectory(t) });
    const lab = {
      nodes: Array.from({ length: count }, (_unused, number) => node(number)),
      links: [],
      drawings: [{ drawing_id: randomUUID(), svg: '<svg>"\\</svg>', x: 1, y: 2, z: 3, locked: false, rotation: 0 }],
      computes: [],
    };
    await store.projects.put(project);
    await store.labs.begin(project.project_id, lab);
    await store.labs.apply(project.project_id, [{ node: { ...lab.nodes[0]!, x: 77 } as { node_id: string } }]);
    lab.nodes[0]!.x = 77;
    const texts = await store.labs.texts(project.project_id);
    assert.ok(texts);
    assert.equal(texts.dirty, true);
    const text = await labTextBeside({ project, records: texts.records, version: VERSION });
    const wanted = serializeTopology(topologyOf(project, lab, VERSION));
    assert.equal(Buffer.from(text!).toString('utf8'), wanted);
    assert.deepEqual(labText({ project, records: texts.records, version: VERSION }), new TextEncoder().encode(wanted));
  });
}

test('a record that no file can hold is refused as on the main thread; a damaged one is distinguished', async () => {
  const many = Array.from({ length: 400 }, (_unused, number) => node(number));
  const records = (last: unknown): string =>
    JSON.stringify([...many.map((one) => ['node', one.node_id, JSON.stringify(one)]), ['node', 'x', last]]);
  const request = (last: unknown) => ({ project, records: records(last), version: VERSION });
  await assert.rejects(labTextBeside(request(JSON.stringify(node(1, { x: 'no number' })))), (error: Failure) => {
    assert.ok(error instanceof Failure);
    assert.equal(error.code, 'conflict');
    assert.match(error.message, /nodes\.400\.x/);
    return true;
  });
  assert.equal(await labTextBeside(request('{"cut')), undefined);
  assert.ok(await labTextBeside(request(JSON.stringify(node(1)))));
});

test('a topology that is written as it is has the same text, and does not block the main thread', async () => {
  for (const count of [3, 600, 20_000]) {
    const lab = { nodes: Array.from({ length: count }, (_unused, number) => node(number)) };
    const topology = topologyOf(project, { ...lab, links: [], drawings: [], computes: [] }, VERSION);
    let turns = 0;
    let next = setImmediate(function again() {
      turns += 1;
      next = setImmediate(again);
    });
    const text = await topologyTextBeside(topology);
    clearImmediate(next);
    assert.equal(Buffer.from(text).toString('utf8'), serializeTopology(topology));
    if (count === 20_000) assert.ok(turns > 20, `${turns} turns of the main thread`);
  }
  const odd = Array.from({ length: 400 }, (_unused, number) => node(number, number === 200 ? { x: 'no number' } : {}));
  const broken = topologyOf(project, { nodes: odd, links: [], drawings: [], computes: [] }, VERSION);
  await assert.rejects(topologyTextBeside(broken), failure('conflict', /nodes\.200\.x/));
});
