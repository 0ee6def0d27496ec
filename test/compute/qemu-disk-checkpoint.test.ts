// Copies of a machine's disks: what they have, and disks that are made of them.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, readdir, readFile, rename, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { join, relative } from 'node:path';
import { type TestContext, test } from 'node:test';
import { isOfCheckpoint } from '../../src/api/disk-checkpoint.ts';
import { changesOfRunning } from '../../src/compute/emulators/qemu/disk-changes.ts';
import { takeCheckpoint } from '../../src/compute/emulators/qemu/disk-checkpoint.ts';
import { DiskTool } from '../../src/compute/emulators/qemu/disk-tool.ts';
import { Qmp } from '../../src/compute/emulators/qemu/qmp.ts';
import { IMAGE_MEMBERS, type Images } from '../../src/compute/emulators/qemu/settings.ts';
import { findProgram } from '../../src/host/processes/program-path.ts';
import { runProgram } from '../../src/host/processes/run-program.ts';
import { eventually } from '../eventually.ts';
import { failure, fill, scratchDirectory, scratchFileSystem } from '../store/scratch.ts';
import { machines, noQemu, qemuImg, SMALL } from './qemu-support.ts';

const skip = noQemu || ((await findProgram('qemu-io')) === undefined ? 'qemu-io is not installed' : false);
const CHUNK = 256 * 1024;

async function io(disk: string, ...commands: string[]): Promise<void> {
  const words = commands.flatMap((command) => ['-c', command]);
  const { code, output, errors } = await runProgram('/usr/bin/qemu-io', ['-f', 'qcow2', ...words, disk]);
  assert.equal(code, 0, errors);
  assert.doesNotMatch(output, /failed|Pattern verification/);
}

/** As `machines`, with what makes machines whose disk begins as the image of this name. */
async function machinesOf(t: TestContext, image: string) {
  const made = await machines(t);
  const { lab, project, directory, images } = made;
  const create = async (name: string): Promise<{ path: string; disk: string; own: string }> => {
    const body = { ...SMALL, name, hda_disk_image: image, hda_disk_interface: 'ide' };
    const { node_id } = await lab.expect(201, 'POST', `${project}/qemu/nodes`, body);
    const own = join(directory, 'project-files/qemu', node_id);
    return { path: `${project}/qemu/nodes/${node_id}`, disk: join(own, 'hda_disk.qcow2'), own };
  };
  return { ...made, base: join(images, image), create };
}

test('a copy has each changed part once, and gives the same disk again, or none if it is damaged', {
  skip,
}, async (t) => {
  const { lab, directory, images, base, create } = await machinesOf(t, 'base.img');
  await writeFile(base, Buffer.alloc(10 * CHUNK + 512, 7));
  const started = async ({ path }: { path: string }): Promise<void> => {
    await lab.expect(200, 'POST', `${path}/start`);
    await lab.expect(204, 'POST', `${path}/stop`);
  };
  const checkpoint = (node: { path: string }, status = 204) => lab.expect(status, 'POST', `${node.path}/checkpoint`);
  const one = await create('One');
  // Without disks there is nothing to copy.
  await checkpoint(one);
  await started(one);
  // Two equal parts, zeros over the image, less than a part, the end of the disk, which is no whole part.
  const at = (index: number): string => String(index * CHUNK);
  await io(
    one.disk,
    ...[1, 5].map((index) => `write -P 65 ${at(index)} ${CHUNK}`),
    `write -z ${at(3)} ${CHUNK}`,
    `write -P 66 ${Number(at(7)) + 4096} 512`,
    `write -P 67 ${at(10)} 512`,
  );
  await checkpoint(one);
  const folder = join(one.own, 'disk-checkpoint');
  const manifest = async () => JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8'));
  const { hda } = (await manifest()).disks;
  assert.deepEqual(Object.keys(hda.chunks), ['1', '3', '5', '7', '10']);
  assert.deepEqual([hda.chunks[5], hda.chunks[3]], [hda.chunks[1], '0']);
  const parts = new Set(Object.values(hda.chunks).filter((name) => name !== '0'));
  assert.deepEqual((await readdir(folder)).sort(), [...parts, 'manifest.json'].sort());

  // What the disk has no more is removed.
  await io(one.disk, `write -P 68 ${at(7)} ${CHUNK}`);
  await checkpoint(one);
  assert.equal((await readdir(folder)).length, 4);
  assert.ok(!(await readdir(folder)).includes(hda.chunks[7]));

  const two = await create('Two');
  await cp(folder, join(two.own, 'restored-disks'), { recursive: true });
  await started(two);
  await qemuImg('compare', one.disk, two.disk);
  assert.ok(!(await readdir(two.own)).includes('restored-disks'));

  const three = await create('Three');
  const restored = join(three.own, 'restored-disks');
  await cp(folder, restored, { recursive: true });
  // The controller copies it until the node starts.
  for (const name of await readdir(restored))
    assert.ok(isOfCheckpoint(relative(directory, join(restored, name))), name);
  await truncate(join(restored, hda.chunks[1]), 10);
  await started(three);
  // As new, not half of it.
  await qemuImg('compare', '-f', 'qcow2', '-F', 'raw', three.disk, join(images, 'base.img'));

  // An interrupted copy is none.
  await writeFile(join(folder, 'unfinished'), '');
  const four = await create('Four');
  await cp(folder, join(four.own, 'restored-disks'), { recursive: true });
  await started(four);
  await lab.told('log.warning', ({ message }) =>
    /Four.*copy of its disks cannot be used: manifest\.json is missing/.test(message),
  );
  await qemuImg('compare', '-f', 'qcow2', '-F', 'raw', four.disk, join(images, 'base.img'));
  await checkpoint(one);
  assert.ok(!(await readdir(folder)).includes('unfinished'));
  await rm(folder, { recursive: true });
});

test('disks with more than is copied are refused, with the size, and the machine is not touched', {
  skip,
}, async (t) => {
  const { lab, base, create } = await machinesOf(t, 'base.img');
  await writeFile(base, Buffer.alloc(512, 7));
  await truncate(base, 2 ** 30);
  const { path, disk } = await create('Large');
  await lab.expect(200, 'POST', `${path}/start`);
  await lab.expect(204, 'POST', `${path}/stop`);
  await io(disk, 'write -P 1 0 600M');
  const { message } = await lab.expect(507, 'POST', `${path}/checkpoint`);
  assert.match(message, /changed by 60\d MiB/);
});

test('a running machine with its first copy is still saved in a snapshot, and copied again after it', {
  skip,
}, async (t) => {
  const { lab, base, create } = await machinesOf(t, 'base.qcow2');
  await qemuImg('create', '-q', '-f', 'qcow2', base, '16M');
  const { path, own } = await create('Runs');
  await lab.expect(200, 'POST', `${path}/start`);
  await lab.expect(204, 'POST', `${path}/checkpoint`);
  await lab.expect(204, 'POST', `${path}/state`);
  const saved = await qemuImg('snapshot', '-U', '-l', join(own, 'hda_disk.qcow2'));
  assert.match(saved.output, /LABWIRE_RUNNING/);
  await lab.expect(204, 'DELETE', `${path}/state`);
  // Both at once: the second one waits for the first.
  await Promise.all([1, 2].map(() => lab.expect(204, 'POST', `${path}/checkpoint`)));
  assert.deepEqual(await readdir(join(own, 'disk-checkpoint')), ['manifest.json']);
  await lab.expect(204, 'POST', `${path}/stop`);
});

test('a host without space for a copy takes none, and takes it when there is space again', { skip }, async (t) => {
  const disk = await scratchFileSystem(t, '64m');
  if (disk === undefined) return;
  const [image, directory] = [join(disk, 'base.img'), join(disk, 'node')];
  await mkdir(directory);
  await writeFile(image, '');
  await truncate(image, 80 * 2 ** 30);
  const own = join(directory, 'hda_disk.qcow2');
  await qemuImg('create', '-q', '-f', 'qcow2', '-b', image, '-F', 'raw', own);
  await io(own, `write -P 65 0 ${8 * CHUNK}`);
  const none = { shown: '', path: '', md5sum: null };
  const images = Object.fromEntries(IMAGE_MEMBERS.map((member) => [member, none])) as Images;
  images.hda_disk_image = { ...none, path: image };
  const options = {
    directory,
    tool: await DiskTool.beside('/usr/bin/qemu-system-x86_64'),
    images,
    qmp: undefined,
    signal: new AbortController().signal,
  };
  const ballast = join(disk, 'ballast');
  fill(ballast);
  await assert.rejects(takeCheckpoint(options), failure('out-of-space', /only \d MB are free; make room/));
  assert.deepEqual(await readdir(directory), ['hda_disk.qcow2']);
  await rm(ballast);
  await takeCheckpoint(options);
  assert.equal((await readdir(join(directory, 'disk-checkpoint'))).length, 2);

  // Zeros take no space, but each place some of the server's memory.
  const gibibytes = Array.from({ length: 66 }, (_, index) => `write -z ${index}G 1G`);
  await io(own, ...gibibytes);
  await assert.rejects(takeCheckpoint(options), failure('out-of-space', /hda has changed at more than 262144 places/));
});

test('a disk that names other files is neither copied nor started', { skip }, async (t) => {
  const { lab, images, base, create } = await machinesOf(t, 'base.qcow2');
  await qemuImg('create', '-q', '-f', 'qcow2', base, '1M');
  const { path, own } = await create('Reads');
  const secret = join(images, '..', 'secret');
  await writeFile(secret, Buffer.alloc(1024 * 1024, 65));
  await mkdir(own, { recursive: true });
  const disk = join(own, 'hda_disk.qcow2');
  await qemuImg('create', '-q', '-f', 'qcow2', '-o', `data_file=${secret},data_file_raw=on`, disk, '1M');
  await writeFile(secret, Buffer.alloc(1024 * 1024, 65));
  for (const verb of ['checkpoint', 'start']) {
    const { message } = await lab.expect(409, 'POST', `${path}/${verb}`);
    assert.match(message, /its data are in another file/);
  }
  await qemuImg('create', '-q', '-f', 'qcow2', '-b', secret, '-F', 'raw', disk);
  const { message } = await lab.expect(409, 'POST', `${path}/checkpoint`);
  assert.match(message, /on another image than the node's until the next start/);
  assert.deepEqual((await readdir(own)).sort(), ['disk-checkpoint', 'hda_disk.qcow2']);
});

test('a copy that cannot be used now stays for the next start', { skip }, async (t) => {
  const { lab, directory, images, base, create } = await machinesOf(t, 'base.img');
  await writeFile(base, Buffer.alloc(2 * CHUNK, 7));
  const { path, own } = await create('One');
  await lab.expect(200, 'POST', `${path}/start`);
  await lab.expect(204, 'POST', `${path}/stop`);
  await io(join(own, 'hda_disk.qcow2'), `write -P 65 0 ${CHUNK}`);
  await lab.expect(204, 'POST', `${path}/checkpoint`);
  await rename(join(own, 'disk-checkpoint'), join(own, 'restored-disks'));
  await rename(join(own, 'hda_disk.qcow2'), join(directory, 'before.qcow2'));
  await rename(base, join(images, 'away.img'));
  await lab.expect(409, 'POST', `${path}/start`);
  await rename(join(images, 'away.img'), base);
  await lab.expect(200, 'POST', `${path}/start`);
  await lab.expect(204, 'POST', `${path}/stop`);
  await qemuImg('compare', join(directory, 'before.qcow2'), join(own, 'hda_disk.qcow2'));
});

test('a stop ends a copy; what it or a killed server has left in a machine is removed by the next one', {
  skip,
}, async (t) => {
  const directory = await scratchDirectory(t);
  const disk = join(directory, 'hda_disk.qcow2');
  const [left, socket] = [join(directory, 'left'), join(directory, 'qmp')];
  for (const path of [disk, left]) await qemuImg('create', '-q', '-f', 'qcow2', path, '1M');
  const listening = createServer().listen(socket);
  await once(listening, 'listening');
  const words = ['-machine', 'accel=tcg', '-m', '16', '-nodefaults', '-display', 'none', '-S'];
  const drive = [
    '-drive',
    `file=${disk},if=ide`,
    '-chardev',
    `socket,id=qmp,path=${socket}`,
    '-mon',
    'qmp,mode=control',
  ];
  const machine = spawn('/usr/bin/qemu-system-x86_64', [...words, ...drive], { stdio: 'ignore' });
  t.after(() => machine.kill('SIGKILL'));
  const [connection] = (await once(listening, 'connection')) as [Socket];
  listening.close();
  const qmp = await Qmp.open(connection);
  const file = { driver: 'file', filename: left };
  await qmp.run('blockdev-add', { driver: 'qcow2', 'node-name': 'labwire-changes-1234abcd-0', file });
  const tool = await DiskTool.beside('/usr/bin/qemu-system-x86_64');
  // A stop does not wait for a copy, which is then none.
  const stop = new AbortController();
  const stopped = changesOfRunning(qmp, { tool, directory, whole: true, signal: stop.signal });
  stop.abort(new Error('stopped'));
  await assert.rejects(stopped, /stopped/);
  assert.deepEqual(await qmp.run('query-jobs'), []);
  const { signal } = new AbortController();
  const changes = await changesOfRunning(qmp, { tool, directory, whole: true, signal });
  assert.equal(changes?.disks.length, 1);
  assert.doesNotMatch(JSON.stringify(await qmp.run('query-named-block-nodes', { flat: true })), /labwire-changes/);
  qmp.close();
});

test('a copy gives way to other actions at its node, and the next one has everything', { skip }, async (t) => {
  const { lab, base, create } = await machinesOf(t, 'base.qcow2');
  await qemuImg('create', '-q', '-f', 'qcow2', base, '256M');
  const { path, disk, own } = await create('Busy');
  await lab.expect(200, 'POST', `${path}/start`);
  await lab.expect(204, 'POST', `${path}/stop`);
  await io(disk, 'write -P 65 0 200M');
  const folder = join(own, 'disk-checkpoint');
  for (const [verb, status] of [
    ['start', 200],
    ['console/reset', 204],
    ['suspend', 204],
    ['stop', 204],
  ] as const) {
    await rm(join(folder, 'unfinished'), { force: true });
    const copy = lab.request('POST', `${path}/checkpoint`);
    await eventually('its begin', () => stat(join(folder, 'unfinished')).catch(() => undefined));
    await lab.expect(200, 'GET', path);
    await lab.expect(status, 'POST', `${path}/${verb}`);
    const answer = await copy;
    assert.equal(answer.status, 409, verb);
    assert.match(answer.body.message, /^The copy of Busy gave way to another action/);
  }
  await lab.expect(204, 'POST', `${path}/checkpoint`);
  const { disks } = JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8'));
  assert.equal(Object.keys(disks.hda.chunks).length, 800);
});
