import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { Agent, type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { kvmDeviceError, kvmProblem } from '../../src/compute/emulators/qemu/kvm-probe.ts';
import { diskTools, emulators } from '../../src/compute/emulators/qemu/programs.ts';
import { findProgram } from '../../src/host/processes/program-path.ts';
import { HttpServer } from '../../src/http/app/server.ts';
import type { Body } from '../body.ts';
import { scratchDirectory } from '../store/scratch.ts';
import { SMALL } from './qemu-support.ts';
import { type Lab, type Settings, startLab } from './support.ts';

const [tool] = await diskTools();
const skip = tool === undefined && 'qemu-img is not installed';
const qemu_img = tool?.path ?? '';

async function started(t: TestContext, settings: Settings = {}): Promise<{ lab: Lab; folder: string }> {
  const lab = await startLab(t, settings);
  return { lab, folder: join(lab.config.Server.images_path, 'QEMU') };
}

function information(path: string): Body {
  return JSON.parse(execFileSync(qemu_img, ['info', '--output=json', path], { encoding: 'utf8' }));
}

test('the capabilities tell which guests KVM runs here, if any', async (t) => {
  const { lab } = await started(t);
  const { kvm } = await lab.expect(200, 'GET', '/qemu/capabilities');
  const own = process.arch === 'x64' ? ['x86_64', 'i386'] : ['aarch64'];
  assert.ok(Array.isArray(kvm));
  const emulator = process.arch === 'x64' ? await findProgram('qemu-system-x86_64') : undefined;
  // On some hosts the device is there, but no guest runs under it.
  const problem = (await kvmDeviceError()) ?? (emulator && (await kvmProblem(emulator)));
  assert.deepEqual(kvm, problem === undefined ? own : []);
});

test('emulators are listed once, with their versions, and for the platforms that are asked for', async (t) => {
  const path = await findProgram('qemu-system-x86_64');
  if (path === undefined) return t.skip('qemu-system-x86_64 is not installed');
  const all = await emulators();
  assert.equal(all.filter((binary) => binary.path.endsWith('/qemu-system-x86_64')).length, 1);
  assert.match(all.find((binary) => binary.path === path)?.version ?? '', /^\d+\.\d+/);
  assert.deepEqual(
    (await emulators(['x86_64'])).filter((binary) => !/x86_64|kvm/.test(binary.path)),
    [],
  );
  assert.deepEqual(
    await emulators(['tricore', 'moxie']).then((found) => found.filter(({ path: p }) => /x86/.test(p))),
    [],
  );
  const { lab } = await started(t);
  assert.deepEqual(await lab.expect(200, 'GET', '/qemu/binaries'), all);
  // A client makes nodes of what is listed.
  const project = await lab.project();
  for (const { path: qemu_path } of all) await lab.node(project, 'qemu', { qemu_path });
});

test('a client that names platforms in the body of its GET, as those of the release do, gets these', async (t) => {
  if ((await findProgram('qemu-system-x86_64')) === undefined) return t.skip('qemu-system-x86_64 is not installed');
  const { lab } = await started(t);
  const server = new HttpServer(lab.app, { host: '127.0.0.1', port: 0 });
  const { port } = await server.start();
  t.after(() => server.stop(0));
  const agent = new Agent({ keepAlive: true });
  t.after(() => agent.destroy());
  const ask = async (body: string): Promise<[number | undefined, Body]> => {
    const headers = { 'Content-Length': body.length };
    const sent = request({ port, path: '/v2/compute/qemu/binaries', headers, agent });
    sent.end(body);
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    return [answer.statusCode, JSON.parse((await answer.toArray()).join(''))];
  };
  assert.deepEqual(await ask('{"archs": ["tricore"]}'), [200, await emulators(['tricore'])]);
  assert.deepEqual(await ask('{"archs": ["x86_64"]}'), [200, await emulators(['x86_64'])]);
  assert.deepEqual(await ask(''), [200, await emulators()]);
  assert.equal((await ask('{"archs": ["pdp11"]}'))[0], 400);
  assert.equal((await ask('{"archs"'))[0], 400);
  assert.deepEqual(await ask('{}'), [200, await emulators()]);
});

test('a disk image is made as asked, listed, and extended', { skip }, async (t) => {
  const { lab, folder } = await started(t);
  assert.deepEqual(await lab.expect(200, 'GET', '/qemu/img-binaries'), await diskTools());
  const wanted = {
    qemu_img,
    path: 'disk.qcow2',
    format: 'qcow2',
    size: 64,
    cluster_size: 131072,
    lazy_refcounts: 'on',
  };
  assert.equal(await lab.expect(201, 'POST', '/qemu/img', wanted), '');
  const made = information(join(folder, 'disk.qcow2'));
  assert.deepEqual(
    [made.format, made['virtual-size'], made['cluster-size'], made['format-specific'].data['lazy-refcounts']],
    ['qcow2', 64 * 1024 * 1024, 131072, true],
  );
  const [before] = await lab.expect(200, 'GET', '/qemu/images');
  assert.equal(before.filename, 'disk.qcow2');
  await lab.expect(201, 'PUT', '/qemu/img', { qemu_img: 'qemu-img', path: 'disk.qcow2', extend: 10 });
  assert.equal(information(join(folder, 'disk.qcow2'))['virtual-size'], 74 * 1024 * 1024);
  await lab.expect(201, 'PUT', '/qemu/img', { qemu_img, path: 'disk.qcow2' });
  const [after] = await lab.expect(200, 'GET', '/qemu/images');
  assert.notEqual(after.md5sum, before.md5sum);
});

test('an image of several files is put in its place as a whole', { skip }, async (t) => {
  const { lab, folder } = await started(t);
  const wanted = { qemu_img, path: 'split.vmdk', format: 'vmdk', size: 4096, subformat: 'twoGbMaxExtentSparse' };
  await lab.expect(201, 'POST', '/qemu/img', wanted);
  assert.deepEqual(await readdir(folder), ['split-s001.vmdk', 'split-s002.vmdk', 'split.vmdk']);
  assert.equal(information(join(folder, 'split.vmdk'))['virtual-size'], 4096 * 1024 * 1024);
});

test('an existing file is not replaced, nor one of an image that has several', { skip }, async (t) => {
  const { lab, folder } = await started(t);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'disk.raw'), 'mine');
  await writeFile(join(folder, 'split-s002.vmdk'), 'mine');
  for (const wanted of [
    { path: 'disk.raw', format: 'raw', size: 1 },
    { path: 'split.vmdk', format: 'vmdk', size: 4096, subformat: 'twoGbMaxExtentSparse' },
  ]) {
    const { message } = await lab.expect(409, 'POST', '/qemu/img', { qemu_img, ...wanted });
    assert.match(message, /there is a file .* already/);
  }
  assert.deepEqual((await readdir(folder)).sort(), ['disk.raw', 'split-s002.vmdk']);
  assert.equal(await readFile(join(folder, 'disk.raw'), 'utf8'), 'mine');
});

test('what qemu-img has against an image is said, and nothing stays', { skip }, async (t) => {
  const { lab, folder } = await started(t);
  const wanted = { qemu_img, path: 'disk.raw', format: 'raw', size: 1, lazy_refcounts: 'on' };
  const { message, exception } = await lab.expect(409, 'POST', '/qemu/img', wanted);
  assert.match(message, /lazy_refcounts/);
  assert.equal(exception, 'QemuError');
  assert.ok(!message.includes(lab.directory), message);
  assert.deepEqual(await readdir(folder), []);
  await lab.expect(409, 'PUT', '/qemu/img', { qemu_img, path: 'disk.raw', extend: 1 });
});

test('no other program is run than qemu-img, whatever a client names', async (t) => {
  const { lab } = await started(t);
  const directory = await scratchDirectory(t);
  const mark = join(directory, 'mark');
  for (const name of ['qemu-img', 'other']) {
    await writeFile(join(directory, name), `#!/bin/sh\ntouch ${mark}\n`);
    await chmod(join(directory, name), 0o755);
    const body = { qemu_img: join(directory, name), path: 'x.qcow2', format: 'qcow2', size: 1 };
    assert.match((await lab.expect(409, 'POST', '/qemu/img', body)).message, /img-binaries/);
  }
  assert.ok(!(await readdir(directory)).includes('mark'));
});

test('disks are made, extended, used and deleted in the folder of a stopped machine', { skip }, async (t) => {
  const { lab, folder } = await started(t);
  const node = await lab.node(await lab.project(), 'qemu', { ...SMALL, adapters: 0 });
  const { node_directory: directory } = await lab.expect(200, 'GET', node);
  const disk = (name: string) => `${node}/disks/${encodeURIComponent(name)}`;
  const image = { format: 'qcow2', size: 8 };
  await lab.expect(204, 'POST', disk('own.qcow2'), image);
  const again = await lab.expect(409, 'POST', disk('own.qcow2'), image);
  assert.match(again.message, /^disk_name: there is a file own\.qcow2 already/);
  await lab.expect(204, 'PUT', disk('own.qcow2'), { extend: 8 });
  assert.equal(information(join(directory, 'own.qcow2'))['virtual-size'], 16 * 1024 * 1024);
  await lab.expect(409, 'PUT', disk('other.qcow2'), { extend: 8 });
  await lab.expect(204, 'POST', disk('flat.vmdk'), { format: 'vmdk', size: 1, subformat: 'monolithicFlat' });
  await lab.expect(204, 'DELETE', disk('flat.vmdk'));
  assert.deepEqual(await readdir(directory), ['own.qcow2']);
  // A name never leads out of the folder.
  await lab.expect(204, 'POST', disk('../../out.qcow2'), image);
  await lab.expect(400, 'POST', disk('..'), image);
  assert.deepEqual(await readdir(directory), ['out.qcow2', 'own.qcow2']);
  await assert.rejects(stat(folder));

  await lab.expect(200, 'PUT', node, { hda_disk_image: 'own.qcow2' });
  await lab.expect(200, 'POST', `${node}/start`);
  const refused = await lab.expect(409, 'DELETE', disk('own.qcow2'));
  assert.match(refused.message, /is running; stop it before its disks change/);
  await lab.expect(204, 'POST', `${node}/stop`);
  await lab.expect(204, 'DELETE', disk('own.qcow2'));
  await lab.expect(409, 'DELETE', disk('own.qcow2'));
});

test('an image lies below the images path by any spelling, and elsewhere only in local mode', { skip }, async (t) => {
  const elsewhere = await scratchDirectory(t);
  const { lab, folder } = await started(t);
  const image = { qemu_img, format: 'raw', size: 1 };
  await lab.expect(403, 'POST', '/qemu/img', { ...image, path: join(elsewhere, 'disk') });
  await lab.expect(403, 'PUT', '/qemu/img', { qemu_img, path: join(elsewhere, 'disk'), extend: 1 });
  await lab.expect(400, 'POST', '/qemu/img', { ...image, path: 'a/..' });
  await lab.expect(201, 'POST', '/qemu/img', { ...image, path: '../../disk' });
  assert.deepEqual(await readdir(folder), ['disk']);
  const { lab: local } = await started(t, { local: true });
  await local.expect(201, 'POST', '/qemu/img', { ...image, path: join(elsewhere, 'disk') });
  await local.expect(404, 'POST', '/qemu/img', { ...image, path: join(elsewhere, 'no/such/folder/disk') });
  assert.deepEqual(await readdir(elsewhere), ['disk']);
});

for (const body of [
  {},
  { qemu_img: 'qemu-img', path: 'x', format: 'qcow2' },
  { qemu_img: 'qemu-img', path: 'x', format: 'iso', size: 1 },
  { qemu_img: 'qemu-img', path: 'x', format: 'raw', size: 0 },
  { qemu_img: 'qemu-img', path: 'x', format: 'raw', size: 1, backing_file: '/etc/shadow' },
  { qemu_img: 'qemu-img', path: 'x', format: 'raw', size: 1, subformat: 'fixed,backing_file=/etc/shadow' },
]) {
  test(`a disk image is refused that is described as ${JSON.stringify(body)}`, async (t) => {
    const { lab, folder } = await started(t);
    assert.equal((await lab.expect(400, 'POST', '/qemu/img', body)).status, 400);
    await assert.rejects(stat(folder));
  });
}
