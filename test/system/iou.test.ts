// Routers of IOU as a lab's users have them: numbers, the licence of the server, links, and what a killed server takes back.
import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { image, LICENCE, noCompiler, RouterConsole } from '../compute/iou-support.ts';
import { Client } from '../consoles/harness.ts';
import { type Daemon, eventually, startDaemon } from './daemon.ts';
import { FROM_SOURCE } from './executable.ts';
import { Lab } from './lab.ts';
import { openAgain } from './survivors.ts';

interface RouterObject {
  node_id: string;
  node_directory: string;
  console: number;
  status: string;
  properties: { application_id: number };
}

async function withImage(t: TestContext): Promise<Daemon> {
  const daemon = await startDaemon(t, { program: FROM_SOURCE });
  const folder = join(daemon.state, 'images/IOU');
  mkdirSync(folder, { recursive: true });
  copyFileSync(image(), join(folder, 'i86bi.bin'));
  return daemon;
}

const router = (lab: Lab, name: string, properties: object = {}): Promise<RouterObject> =>
  lab.daemon.post(`${lab.path}/nodes`, {
    ...{ name, node_type: 'iou', compute_id: 'local' },
    properties: { path: 'i86bi.bin', ...properties },
  });

async function consoleOf(t: TestContext, { console }: RouterObject): Promise<RouterConsole> {
  const client = await Client.open(t, console);
  await client.sees(/Router>$/);
  return new RouterConsole(client);
}

const idsOf = async (lab: Lab): Promise<number[]> =>
  ((await lab.nodes()) as unknown as RouterObject[]).map(({ properties }) => properties.application_id);

test('routers start with the licence of the server, speak over links, and come back when the server was killed', {
  skip: noCompiler,
}, async (t) => {
  const daemon = await withImage(t);
  const lab = await Lab.create(daemon);
  const [one, other] = [
    await router(lab, 'R1', { application_id: 77, startup_config_content: 'hostname R1\n' }),
    await router(lab, 'R2', { serial_adapters: 1 }),
  ];
  assert.deepEqual([one.properties.application_id, other.properties.application_id], [1, 2]);

  const refused = await daemon.ask('POST', `${lab.path}/nodes/${one.node_id}/start`, { body: {} });
  assert.equal(refused.status, 409);
  assert.match(refused.json.message, /PUT \/v2\/iou_license/);
  await daemon.ask('PUT', '/v2/iou_license', { body: { iourc_content: LICENCE } });
  await daemon.ask('POST', `${lab.path}/nodes/start`);
  await eventually(
    'both to run',
    () => lab.nodes(),
    (nodes) => nodes.every(({ status }) => status === 'started'),
  );
  assert.equal(readFileSync(join(daemon.directory, '.iourc'), 'utf8'), LICENCE);

  const ends = [
    { node_id: one.node_id, adapter_number: 0, port_number: 1 },
    { node_id: other.node_id, adapter_number: 2, port_number: 3 },
  ];
  // An Ethernet port does not fit a serial one.
  assert.equal((await daemon.ask('POST', `${lab.path}/links`, { body: { nodes: ends } })).status, 409);
  ends[0] = { node_id: one.node_id, adapter_number: 3, port_number: 1 };
  const link = await daemon.post(`${lab.path}/links`, { nodes: ends });
  const before = await consoleOf(t, one);
  assert.equal(await before.says('ping 3/1 3'), '3 of 3');
  const path = `${lab.path}/links/${link.link_id}`;
  await daemon.ask('PUT', path, { body: { suspend: true } });
  assert.equal(await before.says('ping 3/1 1'), '0 of 1');
  await daemon.ask('PUT', path, { body: { suspend: false } });
  const body = { capture_file_name: 's.pcap', data_link_type: 'DLT_PPP_SERIAL' };
  const { capture_file_path: file } = await daemon.post(`${path}/start_capture`, body);
  assert.equal(await before.says('ping 3/1 2'), '2 of 2');
  await eventually(
    'four frames in the capture',
    () => readFileSync(file),
    (pcap) => pcap.length >= 24 + 4 * (16 + 100),
  );
  assert.equal(readFileSync(file).readUInt32LE(20), 50);

  assert.equal(await before.says('save hostname R3'), 'saved');
  await daemon.kill();
  await daemon.start();
  await openAgain(lab);
  // Nobody has looked at it since it was saved.
  assert.equal(readFileSync(join(one.node_directory, 'startup-config.cfg'), 'utf8'), 'hostname R3\n');
  await eventually(
    'both to be taken back',
    () => lab.nodes(),
    (nodes) => nodes.every(({ status }) => status === 'started'),
  );
  const again = await consoleOf(t, one);
  assert.match(again.client.text, /2 of 2/);
  assert.equal(await again.says('ping 3/1 3'), '3 of 3');
  assert.doesNotMatch(daemon.log, /0123456789abcdef/);
});

test('no two labs that are open give a router the same number, and a lab keeps its numbers where it can', {
  skip: noCompiler,
}, async (t) => {
  const daemon = await withImage(t);
  const [first, second] = [await Lab.create(daemon, 'First'), await Lab.create(daemon, 'Second')];
  await Promise.all(['A', 'B', 'C'].map((name) => router(first, name)));
  await router(second, 'D');
  assert.deepEqual((await idsOf(first)).sort(), [1, 2, 3]);
  assert.deepEqual(await idsOf(second), [4]);
  const [copied] = (await first.nodes()) as unknown as RouterObject[];
  const copy = await daemon.post(`${first.path}/nodes/${copied!.node_id}/duplicate`, { x: 0, y: 0, z: 0 });
  assert.equal(copy.properties.application_id, 5);

  await daemon.post(`${first.path}/close`);
  await router(second, 'E');
  assert.deepEqual((await idsOf(second)).sort(), [1, 4]);
  await daemon.post(`${first.path}/open`);
  assert.deepEqual((await idsOf(first)).sort(), [2, 3, 5, 6]);
});
