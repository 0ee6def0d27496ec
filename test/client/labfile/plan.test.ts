// What is compared, and where nodes stand that nobody gave a place.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Template } from '../../../src/api/routes/templates.ts';
import { covers, differences } from '../../../src/client/labfile/compare.ts';
import { freeId, idFrom } from '../../../src/client/labfile/identity.ts';
import { layOut } from '../../../src/client/labfile/layout.ts';
import { nodeKey } from '../../../src/client/labfile/model.ts';
import { planLinks } from '../../../src/client/labfile/plan-links.ts';
import { planNodes } from '../../../src/client/labfile/plan-nodes.ts';
import { diffLines, wrapped } from '../../../src/client/labfile/plan-text.ts';
import { parseLab } from '../../../src/client/labfile/read.ts';
import type { ServerLab } from '../../../src/client/labfile/state.ts';
import { nearest } from '../../../src/host/values/nearest-name.ts';

test('only what the file says is compared, in the form that a server keeps', () => {
  assert.equal(covers({ ram: 256 }, { ram: 256, cpus: 1 }), true);
  assert.equal(covers({ ram: 256 }, { ram: 512 }), false);
  assert.equal(covers({ mac: 'AA:BB:CC:00:11:22' }, { mac: 'aa:bb:cc:00:11:22' }), true);
  assert.equal(covers({ name: 'AA' }, { name: 'aa' }), false, 'a text is no address');
  assert.equal(covers({ image: null }, { image: '' }), true);
  assert.equal(covers({ image: '' }, { image: 'disk.img' }), false);
  assert.equal(covers([1, 2], [1, 2, 3]), false, 'a list is compared as a whole');
  assert.deepEqual(differences('properties.', { a: 1, b: { c: 2 } }, { a: 1, b: { c: 3 } }), [
    { member: 'properties.b', is: { c: 3 }, wanted: { c: 2 } },
  ]);
});

test('identifiers follow from names, and are not those of something else', () => {
  const id = idFrom('lab', 'node', 'PC1');
  assert.equal(id, idFrom('lab', 'node', 'PC1'));
  assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.notEqual(id, idFrom('lab', 'nodePC1'));
  assert.notEqual(freeId(new Set([id]), 'lab', 'node', 'PC1'), id);
});

test('nodes are laid out by their links, none on another, and below those that have a place', async () => {
  const lab = await parseLab(
    'name: L\nnodes:\n  PC{1..30}: {type: vpcs}\n  SW: {type: ethernet_switch}\n  A{1..14}: {type: vpcs}\nlinks: ["PC{1..30}:e0 -- SW:e{0..29}"]\n',
    'lab.yaml',
  );
  const places = layOut(
    lab,
    lab.nodes.map(({ name }) => name),
    [],
  );
  assert.equal(places.size, 45);
  assert.equal(new Set([...places.values()].map(({ x, y }) => `${x} ${y}`)).size, 45);
  const names = lab.nodes.map(({ name }) => name);
  assert.ok([...layOut(lab, names, [{ x: 0, y: 700 }]).values()].every(({ y }) => y > 700));
  assert.deepEqual(
    layOut(
      lab,
      lab.nodes.map(({ name }) => name),
      [],
    ),
    places,
    'always the same',
  );
});

test('names that were meant, lines that fit, and texts line by line', () => {
  assert.equal(nearest('tempalte', ['type', 'template', 'compute']), 'template');
  assert.equal(nearest('xyzzy', ['type', 'template']), undefined);
  assert.deepEqual(wrapped('    properties ram 256 -> 512', 20, '      '), ['    properties ram', '      256 -> 512']);
  assert.deepEqual(diffLines({ member: 'c', is: 'a\nb\nc\n', wanted: 'a\nx\nc\n' }), ['-   b', '+   x']);
});

test('a running node takes live properties without a restart, and the others with one', async () => {
  const restarts = async (type: string, settings: string, now: object = {}): Promise<boolean[]> => {
    const lab = await parseLab(`name: L\nnodes:\n  N: {type: ${type}, at: [0, 0], ${settings}}\n`, 'lab.yaml');
    const node = {
      ...{ node_id: 'n', name: 'N', node_type: type, status: 'started', compute_id: 'local', x: 0, y: 0 },
      ...{ console_type: 'telnet', properties: {}, ...now },
    };
    const state = { object: { project_id: 'p', name: 'L' }, nodes: [node], links: [], drawings: [] };
    return planNodes(lab, state as unknown as ServerLab, []).changes.map(({ restart = false }) => restart);
  };
  const of = (type: string, setting: string) => restarts(type, `properties: {${setting}}`);
  for (const live of ['cdrom_image: b.iso', 'cpu_throttling: 50', 'on_close: save_vm_state', 'usage: text'])
    assert.deepEqual(await of('qemu', live), [false], live);
  assert.deepEqual(await of('qemu', 'ram: 512'), [true]);
  assert.deepEqual(await of('qemu', 'cdrom_image: b.iso, ram: 512'), [true]);
  assert.deepEqual(await restarts('qemu', 'console: {type: vnc}'), [true], 'not before it is stopped');
  assert.deepEqual(await of('iou', 'path: x, ram: 512'), [true]);
  assert.deepEqual(await of('dynamips', 'platform: c7200, image: x, ram: 512, idlepc: "0x1"'), [true]);
  assert.deepEqual(await of('docker', 'image: x, usage: text'), [true], 'its image is another one');
  const container = { properties: { image: 'x' } };
  assert.deepEqual(await restarts('docker', 'properties: {image: x, usage: text}', container), [false]);
});

test('a setting at the default that a node omits is no difference', async () => {
  const of = async (settings: string) => {
    const lab = await parseLab(`name: L\nnodes:\n  N: {type: qemu, properties: {${settings}}}\n`, 'lab.yaml');
    const node = { ...{ node_id: 'n', name: 'N', node_type: 'qemu', status: 'stopped', properties: {} }, x: 0, y: 0 };
    const state = { object: { project_id: 'p', name: 'L' }, nodes: [node], links: [], drawings: [] };
    return planNodes(lab, state as unknown as ServerLab, []).changes.map(({ body }) => body);
  };
  assert.deepEqual(await of('mtu: 1500, offload: true, guest_agent: false, hda_disk_cache: ""'), []);
  assert.deepEqual(await of('mtu: 9000, offload: true'), [{ properties: { mtu: 9000 } }]);
});

/** A lab of `text`, and a server that has its nodes, each with ports `e0` to `e3`. */
async function onServer(text: string) {
  const lab = await parseLab(`name: L\n${text}`, 'lab.yaml');
  const ports = () =>
    [0, 1, 2, 3].map((port_number) => ({
      ...{ adapter_number: 0, port_number, name: `Ethernet${port_number}`, short_name: `e${port_number}` },
      link_type: 'ethernet',
    }));
  const node = { properties: {} };
  const nodes = lab.nodes.map(({ name, type }) => ({ ...node, node_id: name, name, node_type: type, ports: ports() }));
  const state = { object: {}, nodes, links: [], drawings: [] } as unknown as ServerLab;
  const found = new Map(state.nodes.map((node) => [nodeKey(node.name), node]));
  return { lab, state, found };
}

/** The ends of the links that are made, such as `R1 0`. */
const madeEnds = ({ lab, state, found }: Awaited<ReturnType<typeof onServer>>): string[][] =>
  planLinks(lab, state, found).flatMap(({ action, body }) => {
    const { nodes = [] } = (body ?? {}) as { nodes?: { node_id: string; port_number: number }[] };
    return action === 'create' ? [nodes.map((end) => `${end.node_id} ${end.port_number}`)] : [];
  });

test('a link that names no port leaves the ports that others name', async () => {
  const nodes = 'nodes:\n  R{1..2}: {type: vpcs}\n  SW: {type: ethernet_switch}\n';
  const both = await onServer(`${nodes}links: ["R1 -- SW", "R2:e0 -- SW:e0"]\n`);
  assert.deepEqual(madeEnds(both), [
    ['R2 0', 'SW 0'],
    ['R1 0', 'SW 1'],
  ]);
  const crossed = await onServer(`${nodes}links: ["SW -- R1:e0", "SW:0 -- R2"]\n`);
  assert.deepEqual(madeEnds(crossed), [
    ['SW 1', 'R1 0'],
    ['SW 0', 'R2 0'],
  ]);
  const ends = [
    { node_id: 'SW', adapter_number: 0, port_number: 0 },
    { node_id: 'R1', adapter_number: 0, port_number: 0 },
  ];
  crossed.state.links.push({ link_id: 'l', nodes: ends, filters: {} } as unknown as ServerLab['links'][number]);
  assert.deepEqual(
    planLinks(crossed.lab, crossed.state, crossed.found).map(({ action, name }) => [action, name]),
    [
      ['delete', 'SW:e0 -- R1:e0'],
      ['create', 'SW -- R1:e0'],
      ['create', 'SW:0 -- R2'],
    ],
    'a link at a port that another one names is made again elsewhere',
  );
  for (const node of crossed.state.nodes) Object.assign(node, { ports: node.ports.slice(0, 1) });
  assert.throws(() => planLinks(crossed.lab, crossed.state, crossed.found), {
    name: 'Failure',
    message: /^lab\.yaml:5:9: links "SW -- R1:e0": Node "SW" has no free port/,
  });
});

test('a configuration that the kind of a template does not have is a mistake of the file, before anything is made', async () => {
  const { lab, state } = await onServer('nodes:\n  A: {template: Switch, config: hello}\n');
  const template = {
    ...{ template_id: 't', name: 'Switch', template_type: 'ethernet_switch', compute_id: 'local' },
    ...{ default_name_format: 'S{0}', symbol: ':/symbols/ethernet_switch.svg' },
  };
  assert.throws(
    () => planNodes(lab, { ...state, nodes: [] }, [template as unknown as Template]),
    /lab\.yaml:3:\d+: nodes\.A: a node of the type ethernet_switch has no start-up configuration/,
  );
});
