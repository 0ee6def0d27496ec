// The configuration disk of QEMU machines, with the real QEMU and mtools. What a guest writes is written by mtools here.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { mkdir, open, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { findProgram } from '../../src/host/processes/program-path.ts';
import { DEFLATED } from '../../src/store/archive/compressors.ts';
import { ArchiveReader } from '../../src/store/archive/reader.ts';
import { packArchive } from '../../src/store/archive/writer.ts';
import { disk, machines, noQemu, SMALL } from './qemu-support.ts';

const skip = noQemu || ((await findProgram('mcopy')) === undefined ? 'mcopy is not installed' : false);

const MTOOLS = { encoding: 'utf8', env: { LC_ALL: 'C.UTF-8', MTOOLS_SKIP_CHECK: '1' } } as const;
/** The partition of `config.img` begins at sector 8. */
const volume = (image: string): string => `${image}@@4096`;

async function zip(path: string, files: Record<string, string>): Promise<void> {
  const archive = packArchive(DEFLATED, async (sink) => {
    for (const [name, content] of Object.entries(files)) await sink.addText(name, content);
  });
  await writeFile(path, archive);
}

async function filesIn(path: string): Promise<Record<string, string>> {
  await using handle = await open(path);
  const archive = await ArchiveReader.open(handle);
  const found: Record<string, string> = {};
  for (const entry of archive.entries.values()) found[entry.name] = `${await archive.bytes(entry)}`;
  return found;
}

test('the configuration of a machine is on a disk of its own, and kept when the machine stops', { skip }, async (t) => {
  const { lab, project, images, directory } = await machines(t);
  await disk(images, 'a.qcow2');
  const body = { ...SMALL, create_config_disk: true, hda_disk_image: 'a.qcow2', hda_disk_interface: 'ide' };
  const node = await lab.node(project, 'qemu', body);
  const own = join(directory, 'project-files/qemu', node.split('/').at(-1)!);
  const image = join(own, 'config.img');
  await mkdir(own, { recursive: true });
  const files = { 'startup.cfg': 'hostname R1\n', 'sub/deeper/Ünicode näme.txt': 'é' };
  await zip(join(own, 'config.zip'), files);
  const started = await lab.expect(200, 'POST', `${node}/start`);
  assert.equal(started.hdd_disk_interface, 'ide', 'as the first disk, and told to clients');
  assert.match(started.command_line, /config\.img,format=raw,if=ide,index=3/);
  assert.equal(execFileSync('mtype', ['-i', volume(image), '::/startup.cfg'], MTOOLS), files['startup.cfg']);
  execFileSync('mcopy', ['-i', volume(image), '-', '::/saved by guest.cfg'], { ...MTOOLS, input: 'hostname R2\n' });
  execFileSync('mcopy', ['-i', volume(image), '-', '::/config[1].txt'], { ...MTOOLS, input: 'a copy' });
  execFileSync('mdel', ['-i', volume(image), '::/startup.cfg'], MTOOLS);
  await lab.expect(204, 'POST', `${node}/stop`);
  const kept = { 'saved by guest.cfg': 'hostname R2\n', 'config[1].txt': 'a copy', 'sub/deeper/Ünicode näme.txt': 'é' };
  assert.deepEqual(await filesIn(join(own, 'config.zip')), kept);
  assert.deepEqual(readdirSync(own).sort(), ['config.img', 'config.zip', 'hda_disk.qcow2', 'qemu.log']);
  await rm(image);
  await lab.expect(200, 'POST', `${node}/start`);
  assert.match(execFileSync('mdir', ['-b', '-i', volume(image), '::/'], MTOOLS), /saved by guest/);
});

test('what a guest saved before an end that was not packed stays, until a new zip file is uploaded', {
  skip,
}, async (t) => {
  const { lab, project, directory } = await machines(t);
  const node = await lab.node(project, 'qemu', { ...SMALL, create_config_disk: true });
  const id = node.split('/').at(-1)!;
  const own = join(directory, 'project-files/qemu', id);
  const [image, archive] = [join(own, 'config.img'), join(own, 'config.zip')];
  await mkdir(own, { recursive: true });
  await zip(archive, { 'startup.cfg': 'hostname R1\n' });
  const before = await readFile(archive);
  await lab.expect(200, 'POST', `${node}/start`);
  await lab.expect(204, 'POST', `${node}/stop`);
  // As they are after a power failure of the host.
  await writeFile(archive, before);
  execFileSync('mcopy', ['-o', '-i', volume(image), '-', '::/startup.cfg'], { ...MTOOLS, input: 'hostname R2\n' });
  await lab.expect(200, 'POST', `${node}/start`);
  assert.equal(execFileSync('mtype', ['-i', volume(image), '::/startup.cfg'], MTOOLS), 'hostname R2\n');
  await lab.expect(204, 'POST', `${node}/stop`);
  assert.deepEqual(await filesIn(archive), { 'startup.cfg': 'hostname R2\n' });

  const file = `/v2/compute${project}/files/project-files/qemu/${id}/config.zip`;
  assert.equal((await lab.app.request(file, { method: 'POST', body: before })).status, 200);
  await lab.expect(200, 'POST', `${node}/start`);
  assert.equal(execFileSync('mtype', ['-i', volume(image), '::/startup.cfg'], MTOOLS), 'hostname R1\n');
});

test('a new node takes its configuration from a zip file in the place of the fourth disk', { skip }, async (t) => {
  const { lab, project, images, directory } = await machines(t);
  await zip(join(images, 'first.zip'), { 'day0.txt': 'hello' });
  const body = { ...SMALL, create_config_disk: true, hdd_disk_image: 'first.zip', hdd_disk_interface: 'virtio' };
  const node = await lab.node(project, 'qemu', body);
  const { command_line } = await lab.expect(200, 'POST', `${node}/start`);
  assert.match(command_line, /config\.img,format=raw,if=virtio,index=3/);
  await lab.expect(204, 'POST', `${node}/stop`);
  const own = join(directory, 'project-files/qemu', node.split('/').at(-1)!);
  assert.deepEqual(await filesIn(join(own, 'config.zip')), { 'day0.txt': 'hello' });
});

test('a machine starts without a configuration that cannot be read, and says so', { skip }, async (t) => {
  const { lab, project, directory } = await machines(t);
  const tooMuch = 'x'.repeat(2 * 1024 * 1024);
  for (const [index, spoil] of [
    async (path: string) => writeFile(path, 'no archive'),
    async (path: string) => zip(path, { 'large.txt': tooMuch }),
  ].entries()) {
    const node = await lab.node(project, 'qemu', { ...SMALL, create_config_disk: true });
    const own = join(directory, 'project-files/qemu', node.split('/').at(-1)!);
    await mkdir(own, { recursive: true });
    await spoil(join(own, 'config.zip'));
    const before = await readFile(join(own, 'config.zip'));
    lab.messages.splice(0);
    const { command_line } = await lab.expect(200, 'POST', `${node}/start`);
    assert.doesNotMatch(command_line, /config\.img/);
    assert.match((await lab.told('log.warning')).message, /create_config_disk: the machine has no configuration disk/);
    await lab.expect(204, 'POST', `${node}/stop`);
    assert.deepEqual(await readFile(join(own, 'config.zip')), before, `${index}: it is left as it is`);
    assert.deepEqual(readdirSync(own).sort(), ['config.zip', 'qemu.log']);
  }
});
