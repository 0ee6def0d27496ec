// Images follow the nodes that need them: to another host's compute, and with an exported lab to another server.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { noQemu } from '../compute/qemu-support.ts';
import { type Daemon, startDaemon } from './daemon.ts';
import { FROM_SOURCE } from './executable.ts';

/** The beginning of an image as each emulator knows its own: ELF of 32 bits, for routers with the high byte first. */
const IOS = Buffer.concat([Buffer.from('7f454c46010201', 'hex'), Buffer.alloc(4096, 1)]);
const IOU = Buffer.concat([Buffer.from('7f454c46010101', 'hex'), Buffer.alloc(4096, 2)]);

function place(daemon: Daemon, folder: string, name: string, content: Buffer): void {
  const directory = join(daemon.state, 'images', folder);
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, name), content);
  chmodSync(join(directory, name), 0o755);
}

function makeDisk(daemon: Daemon, name: string): Buffer {
  const directory = join(daemon.state, 'images/QEMU');
  mkdirSync(directory, { recursive: true });
  execFileSync('qemu-img', ['create', '-q', '-f', 'qcow2', join(directory, name), '64M']);
  return readFileSync(join(directory, name));
}

async function pair(t: TestContext): Promise<{ controller: Daemon; compute: Daemon; url: string }> {
  const compute = await startDaemon(t, { program: FROM_SOURCE });
  const controller = await startDaemon(t, { program: FROM_SOURCE });
  await controller.post('/v2/computes', { compute_id: 'it', protocol: 'http', host: '127.0.0.1', port: compute.port });
  const { project_id: id } = await controller.post('/v2/projects', { name: 'lab', auto_close: false });
  return { controller, compute, url: `/v2/projects/${id}` };
}

const machine = (disk: string): object => ({
  name: 'Machine',
  node_type: 'qemu',
  compute_id: 'it',
  properties: { qemu_path: 'qemu-system-x86_64', hda_disk_image: disk, ram: 32 },
});

test('images that a compute misses are sent there, once', { skip: noQemu }, async (t) => {
  const { controller, compute, url } = await pair(t);
  const disk = makeDisk(controller, 'disk.qcow2');
  place(controller, 'IOS', 'router.image', IOS);
  place(controller, 'IOU', 'l3.bin', IOU);

  const made = await controller.post(`${url}/nodes`, machine('disk.qcow2'));
  assert.equal(made.properties.hda_disk_image_md5sum, hash('md5', disk));
  const [image] = await compute.get('/v2/compute/qemu/images');
  assert.equal(image.filename, 'disk.qcow2');
  assert.equal(image.md5sum, hash('md5', disk));

  const there = join(compute.state, 'images/QEMU/disk.qcow2');
  const { ino } = statSync(there);
  await controller.post(`${url}/nodes`, machine('disk.qcow2'));
  assert.equal(statSync(there).ino, ino, 'it was there already');

  const router = { name: 'R', node_type: 'dynamips', compute_id: 'it' };
  await controller.post(`${url}/nodes`, {
    ...router,
    properties: { platform: 'c3725', ram: 128, image: 'router.image' },
  });
  assert.equal((await compute.get('/v2/compute/dynamips/images'))[0].md5sum, hash('md5', IOS));

  const unix = { name: 'I', node_type: 'iou', compute_id: 'it' };
  await controller.post(`${url}/nodes`, { ...unix, properties: { path: 'l3.bin' } });
  assert.equal((await compute.get('/v2/compute/iou/images'))[0].md5sum, hash('md5', IOU));

  const refused = await controller.ask('POST', `${url}/nodes`, { body: machine('nowhere.qcow2') });
  assert.equal(refused.status, 409);
  assert.match(refused.json.message, /nowhere\.qcow2/);
  assert.equal((await controller.get(`${url}/nodes`)).length, 4, 'nothing is left of a node whose image is nowhere');
});

test('a lab that is exported with its images runs on a server without them', { skip: noQemu }, async (t) => {
  const from = await startDaemon(t, { program: FROM_SOURCE });
  const to = await startDaemon(t, { program: FROM_SOURCE });
  const disk = makeDisk(from, 'disk.qcow2');
  place(from, 'IOS', 'router.image', IOS);
  place(from, 'IOU', 'l3.bin', IOU);
  const { project_id: id } = await from.post('/v2/projects', { name: 'moves', auto_close: false });
  const url = `/v2/projects/${id}`;
  const wanted = [
    { ...machine('disk.qcow2'), compute_id: 'local' },
    {
      name: 'R',
      node_type: 'dynamips',
      compute_id: 'local',
      properties: { platform: 'c3725', ram: 128, image: 'router.image' },
    },
    { name: 'I', node_type: 'iou', compute_id: 'local', properties: { path: 'l3.bin' } },
    { name: 'PC', node_type: 'vpcs', compute_id: 'local' },
  ];
  for (const node of wanted) await from.post(`${url}/nodes`, node);

  const exported = await fetch(`${from.url}/v2/projects/${id}/export?include_images=yes`);
  assert.equal(exported.status, 200);
  const archive = Buffer.from(await exported.arrayBuffer());
  const other = '7a9c0a51-6c8f-4c7e-9f4c-1b0f4c1d2e3f';
  const imported = await fetch(`${to.url}/v2/projects/${other}/import?name=moved`, { method: 'POST', body: archive });
  assert.equal(imported.status, 201, await imported.text());
  const sums = async (emulator: string): Promise<string[]> =>
    (await to.get(`/v2/compute/${emulator}/images`)).map(({ md5sum }: { md5sum: string }) => md5sum);
  assert.deepEqual(await sums('qemu'), [hash('md5', disk)]);
  assert.deepEqual(await sums('dynamips'), [hash('md5', IOS)]);
  assert.deepEqual(await sums('iou'), [hash('md5', IOU)]);

  await to.post(`/v2/projects/${other}/open`);
  const nodes = await to.get(`/v2/projects/${other}/nodes`);
  assert.deepEqual(nodes.map(({ node_type }: { node_type: string }) => node_type).sort(), [
    'dynamips',
    'iou',
    'qemu',
    'vpcs',
  ]);
  const moved = nodes.find(({ node_type }: { node_type: string }) => node_type === 'qemu');
  assert.equal(moved.properties.hda_disk_image, 'disk.qcow2');

  // And on again: a duplicate and a snapshot hold nodes of all these types as well.
  const copy = await to.post(`/v2/projects/${other}/duplicate`, { name: 'copy' });
  await to.post(`/v2/projects/${copy.project_id}/open`);
  assert.equal((await to.get(`/v2/projects/${copy.project_id}/nodes`)).length, 4);
  const snapshot = await to.post(`/v2/projects/${other}/snapshots`, { name: 'all types' });
  await to.delete(`/v2/projects/${other}/nodes/${moved.node_id}`);
  await to.post(`/v2/projects/${other}/snapshots/${snapshot.snapshot_id}/restore`);
  assert.equal((await to.get(`/v2/projects/${other}/nodes`)).length, 4);
});
