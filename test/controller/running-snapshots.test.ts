// Snapshots of a lab that runs: an extension of the release's interface. A real guest, its processor emulated.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Body } from '../body.ts';
import { image, LICENCE, noCompiler } from '../compute/iou-support.ts';
import { noQemu, qemuImg, SMALL } from '../compute/qemu-support.ts';
import { guestFile, guestSettings, noGuest, Typist } from '../guest/guest.ts';
import { scratchDirectory } from '../store/scratch.ts';
import { refusing, StandIn } from './computes-stand-in.ts';
import { LabServer, type ServedLab, until } from './lab-server.ts';

async function upload(server: LabServer, name: string, content: Buffer<ArrayBuffer>, type = 'qemu'): Promise<void> {
  const answer = await server.request(`/v2/compute/${type}/images/${name}`, { method: 'POST', body: content });
  assert.equal(answer.status, 204, await answer.text());
}

/** An empty disk, as an image that machines have copies of. */
async function disk(t: TestContext, server: LabServer, name: string): Promise<void> {
  const file = join(await scratchDirectory(t), name);
  await qemuImg('create', '-q', '-f', 'qcow2', file, '1M');
  await upload(server, name, await readFile(file));
}

function node({ server, path }: ServedLab, type: string, name: string, properties: object, more = {}): Promise<Body> {
  const body = { name, node_type: type, compute_id: 'local', properties, ...more };
  return server.expect(201, 'POST', `${path}/nodes`, body);
}

async function found({ server, path }: ServedLab, name: string): Promise<Body> {
  const nodes: Body[] = await server.expect(200, 'GET', `${path}/nodes`);
  return nodes.find((each) => each.name === name);
}

const start = ({ server, path }: ServedLab, { node_id: id }: Body): Promise<Body> =>
  server.expect(200, 'POST', `${path}/nodes/${id}/start`);

test('a lab that runs is kept with what is in the memory of its guests, and comes back running', {
  skip: noQemu || noGuest,
}, async (t) => {
  const lab = await LabServer.withLab(t, { auto_close: false }, { 'VPCS.engine': 'built-in' });
  const { server, path, project } = lab;
  for (const name of ['vmlinuz', 'initrd.gz'] as const) await upload(server, name, await readFile(guestFile(name)));
  await disk(t, server, 'empty.qcow2');
  const guest = await node(lab, 'qemu', 'guest', {
    ...SMALL,
    ...guestSettings('10.0.0.1/24'),
    hda_disk_image: 'empty.qcow2',
  });
  const pc = await node(lab, 'vpcs', 'PC', {}, { console_type: 'none' });
  const idle = await node(lab, 'vpcs', 'idle', {}, { console_type: 'none' });
  for (const each of [guest, pc]) await start(lab, each);
  assert.equal(idle.status, 'stopped');
  const typist = new Typist(t, guest.console);
  await typist.until(/guest is ready/);
  await typist.run('kept=in-a-variable; echo in-a-file > /tmp/kept');

  const refused = await server.expect(409, 'POST', `${path}/snapshots`, { name: 'at rest' });
  assert.match(refused.message, /is running/);

  const other = await node(lab, 'qemu', 'diskless', SMALL, { console_type: 'none' });
  await start(lab, other);
  await server.expect(409, 'POST', `${path}/snapshots`, { name: 'running', running: true });
  assert.match(
    await typist.run('echo $kept'),
    /in-a-variable/,
    'the guest does not go on when another machine refuses',
  );
  await server.expect(204, 'DELETE', `${path}/nodes/${other.node_id}`);

  const snapshot = await server.expect(201, 'POST', `${path}/snapshots`, { name: 'running', running: true });
  assert.match(await typist.run('echo $kept'), /in-a-variable/, 'the guest does not go on');
  await typist.run('kept=lost; rm /tmp/kept');
  const copy = join(project.path, 'project-files/qemu', guest.node_id, 'hda_disk.qcow2');
  assert.doesNotMatch((await qemuImg('snapshot', '-U', '-l', copy)).output, /LABWIRE/, 'the memory stays in the disk');

  await server.expect(201, 'POST', `${path}/snapshots/${snapshot.snapshot_id}/restore`);
  const [again, pcAgain, idleAgain] = await Promise.all(['guest', 'PC', 'idle'].map((name) => found(lab, name)));
  assert.notEqual(again.node_id, guest.node_id);
  assert.deepEqual([again.status, pcAgain.status, idleAgain.status], ['started', 'started', 'stopped']);
  const next = new Typist(t, again.console);
  assert.match(await next.run('echo $kept $(cat /tmp/kept)'), /in-a-variable in-a-file/);
  const file = JSON.parse(await readFile(join(project.path, 'lab.gns3'), 'utf8'));
  assert.ok(
    file.topology.nodes.every((each: Body) => each.status === undefined),
    'the lab itself says what ran',
  );

  // The memory is used up: whoever starts the machine again starts it afresh.
  await server.expect(200, 'POST', `${path}/nodes/${again.node_id}/stop`);
  const kept = join(project.path, 'project-files/qemu', again.node_id, 'hda_disk.qcow2');
  assert.doesNotMatch((await qemuImg('snapshot', '-l', kept)).output, /LABWIRE/);
});

test('a router that runs an IOU image comes back from a snapshot, and its copy can be exported and imported', {
  skip: noCompiler,
}, async (t) => {
  const lab = await LabServer.withLab(t, { auto_close: false });
  const { server, path, project } = lab;
  await server.expect(201, 'PUT', '/v2/iou_license', { iourc_content: LICENCE, license_check: false });
  await upload(server, 'i86bi.bin', await readFile(image()), 'iou');
  const router = await node(lab, 'iou', 'R', { path: 'i86bi.bin', application_id: 490 }, { console_type: 'none' });
  const filesOf = ({ path }: Body, id: string): string => join(path, 'project-files/iou', id);
  await start(lab, router);
  const own = join(filesOf(project, router.node_id), 'i86bi.bin');
  const target = join(server.state, 'images/IOU/i86bi.bin');
  assert.equal(await readlink(own), target);

  const snapshot = await server.expect(201, 'POST', `${path}/snapshots`, { name: 'running', running: true });
  const copy = await server.expect(201, 'POST', `${path}/duplicate`, { name: 'copy' });
  const [copied] = await readdir(join(copy.path, 'project-files/iou'));
  assert.ok(!(await readdir(filesOf(copy, String(copied)))).includes('i86bi.bin'), 'the copy has the link');
  const exported = await server.request(`/v2/projects/${copy.project_id}/export`);
  const body = Buffer.from(await exported.arrayBuffer());
  const imported = await server.request(`/v2/projects/${randomUUID()}/import`, { method: 'POST', body });
  assert.equal(imported.status, 201, await imported.text());

  await server.expect(201, 'POST', `${path}/snapshots/${snapshot.snapshot_id}/restore`);
  const again = await found(lab, 'R');
  assert.equal(again.status, 'started');
  assert.equal(await readlink(join(filesOf(project, again.node_id), 'i86bi.bin')), target);
});

test('a machine that cannot keep its memory is named with the reason, and nothing is kept', {
  skip: noQemu,
}, async (t) => {
  const lab = await LabServer.withLab(t, { auto_close: false }, { 'VPCS.engine': 'built-in' });
  const { server, path } = lab;
  await disk(t, server, 'own.qcow2');
  const cases: [name: string, properties: object, reason: RegExp][] = [
    ['diskless', {}, /diskless.*qcow2/s],
    ['unlinked', { hda_disk_image: 'own.qcow2', linked_clone: false }, /unlinked.*linked_clone/s],
  ];
  for (const [name, properties, reason] of cases) {
    const machine = await node(lab, 'qemu', name, { ...SMALL, ...properties }, { console_type: 'none' });
    await start(lab, machine);
    await until(async () => (await found(lab, name)).status === 'started', 'the machine to run');
    const { message } = await server.expect(409, 'POST', `${path}/snapshots`, { name: 'S', running: true });
    assert.match(message, reason);
    assert.deepEqual(await server.expect(200, 'GET', `${path}/snapshots`), []);
    assert.equal((await found(lab, name)).status, 'started');
    await server.expect(200, 'POST', `${path}/nodes/${machine.node_id}/stop`);
  }
});

test('a suspended machine stays suspended, while it is kept and when it comes back', { skip: noQemu }, async (t) => {
  const lab = await LabServer.withLab(t, { auto_close: false }, { 'VPCS.engine': 'built-in' });
  const { server, path } = lab;
  await disk(t, server, 'empty.qcow2');
  const machine = await node(lab, 'qemu', 'M', { ...SMALL, hda_disk_image: 'empty.qcow2' }, { console_type: 'none' });
  await start(lab, machine);
  await server.expect(200, 'POST', `${path}/nodes/${machine.node_id}/suspend`);
  await until(async () => (await found(lab, 'M')).status === 'suspended', 'the machine to stand still');
  const snapshot = await server.expect(201, 'POST', `${path}/snapshots`, { name: 'S', running: true });
  assert.equal((await found(lab, 'M')).status, 'suspended');
  await server.expect(201, 'POST', `${path}/snapshots/${snapshot.snapshot_id}/restore`);
  assert.equal((await found(lab, 'M')).status, 'suspended');
});

test('nodes that cannot be kept while they run are named: those of other programs, and those of another make of compute', async (t) => {
  const cases: [type: string, reason: RegExp, asked: boolean][] = [
    ['vmware', /"V".*vmware.*stop it first/, false],
    ['qemu', /"V" cannot be kept while it runs/, true],
  ];
  for (const [type, reason, asked] of cases) {
    const it = await StandIn.start(t, {
      'POST /projects': {},
      [`POST /projects/[^/]+/${type}/nodes`]: { status: 'started', console_type: 'none' },
      'POST /projects/.*/state': refusing(404),
      'POST /projects/[^/]+/close': {},
      'POST /projects/.*/stop': {},
      'DELETE /projects.*': {},
    });
    const lab = await LabServer.withLab(t, { auto_close: false }, { 'VPCS.engine': 'built-in' });
    const { server, path } = lab;
    await server.expect(201, 'POST', '/v2/computes', it.body());
    await node(lab, type, 'V', { vmx_path: '/V.vmx', linked_clone: false }, { compute_id: 'it' });
    const { message } = await server.expect(409, 'POST', `${path}/snapshots`, { name: 'S', running: true });
    assert.match(message, reason);
    assert.equal(
      it.calls.some((call) => /POST .*\/state$/.test(call)),
      asked,
    );
    assert.deepEqual(await server.expect(200, 'GET', `${path}/snapshots`), []);
  }
});

test('a node that is stopped while the others of a snapshot start stays stopped', async (t) => {
  const lab = await LabServer.withLab(t, { auto_close: false }, { 'VPCS.engine': 'built-in' });
  const { server, path } = lab;
  const names = Array.from({ length: 40 }, (_, index) => `PC${index}`);
  for (const name of names) await start(lab, await node(lab, 'vpcs', name, {}, { console_type: 'none' }));
  const snapshot = await server.expect(201, 'POST', `${path}/snapshots`, { name: 'S', running: true });
  const heard = await server.record(`${path}/notifications/ws`);
  const restored = server.expect(201, 'POST', `${path}/snapshots/${snapshot.snapshot_id}/restore`);
  await until(
    () => heard.some(({ action, event }) => action === 'node.updated' && event.status === 'started'),
    'a start',
  );
  const last = await found(lab, 'PC39');
  assert.equal(last.status, 'stopped');
  await server.expect(200, 'POST', `${path}/nodes/${last.node_id}/stop`);
  await restored;
  assert.equal((await found(lab, 'PC38')).status, 'started');
  assert.equal((await found(lab, 'PC39')).status, 'stopped');
});
