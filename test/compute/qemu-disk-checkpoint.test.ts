// Copies of a machine's disks: what they have, and disks that are made of them.
import assert from 'node:assert/strict';
import { cp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { findProgram } from '../../src/host/processes/program-path.ts';
import { runProgram } from '../../src/host/processes/run-program.ts';
import { machines, noQemu, qemuImg, SMALL } from './qemu-support.ts';

const skip = noQemu || ((await findProgram('qemu-io')) === undefined ? 'qemu-io is not installed' : false);
const CHUNK = 256 * 1024;

async function io(disk: string, ...commands: string[]): Promise<void> {
  const words = commands.flatMap((command) => ['-c', command]);
  const { code, output, errors } = await runProgram('/usr/bin/qemu-io', ['-f', 'qcow2', ...words, disk]);
  assert.equal(code, 0, errors);
  assert.doesNotMatch(output, /failed|Pattern verification/);
}

test('a copy has each changed part once, and gives the same disk again, or none if it is damaged', {
  skip,
}, async (t) => {
  const { lab, project, directory, images } = await machines(t);
  await writeFile(join(images, 'base.img'), Buffer.alloc(10 * CHUNK + 512, 7));
  const body = { ...SMALL, hda_disk_image: 'base.img', hda_disk_interface: 'ide' };
  const create = async (name: string): Promise<{ path: string; disk: string; own: string }> => {
    const { node_id } = await lab.expect(201, 'POST', `${project}/qemu/nodes`, { ...body, name });
    const own = join(directory, 'project-files/qemu', node_id);
    return { path: `${project}/qemu/nodes/${node_id}`, disk: join(own, 'hda_disk.qcow2'), own };
  };
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
  await truncate(join(restored, hda.chunks[1]), 10);
  await started(three);
  // As new, not half of it.
  await qemuImg('compare', '-f', 'qcow2', '-F', 'raw', three.disk, join(images, 'base.img'));

  // An interrupted copy is none.
  await writeFile(join(folder, 'unfinished'), '');
  const four = await create('Four');
  await cp(folder, join(four.own, 'restored-disks'), { recursive: true });
  await started(four);
  await qemuImg('compare', '-f', 'qcow2', '-F', 'raw', four.disk, join(images, 'base.img'));
  await checkpoint(one);
  assert.ok(!(await readdir(folder)).includes('unfinished'));
  await rm(folder, { recursive: true });
});

test('disks with more than is copied are refused, with the size, and the machine is not touched', {
  skip,
}, async (t) => {
  const { lab, project, directory, images } = await machines(t);
  await writeFile(join(images, 'base.img'), Buffer.alloc(512, 7));
  await truncate(join(images, 'base.img'), 2 ** 30);
  const body = { ...SMALL, name: 'Large', hda_disk_image: 'base.img', hda_disk_interface: 'ide' };
  const { node_id } = await lab.expect(201, 'POST', `${project}/qemu/nodes`, body);
  const path = `${project}/qemu/nodes/${node_id}`;
  await lab.expect(200, 'POST', `${path}/start`);
  await lab.expect(204, 'POST', `${path}/stop`);
  await io(join(directory, 'project-files/qemu', node_id, 'hda_disk.qcow2'), 'write -P 1 0 600M');
  const { message } = await lab.expect(507, 'POST', `${path}/checkpoint`);
  assert.match(message, /changed by 60\d MiB/);
});

test('a running machine with its first copy is still saved in a snapshot, and copied again after it', {
  skip,
}, async (t) => {
  const { lab, project, directory, images } = await machines(t);
  await qemuImg('create', '-q', '-f', 'qcow2', join(images, 'base.qcow2'), '16M');
  const body = { ...SMALL, name: 'Runs', hda_disk_image: 'base.qcow2', hda_disk_interface: 'ide' };
  const { node_id } = await lab.expect(201, 'POST', `${project}/qemu/nodes`, body);
  const path = `${project}/qemu/nodes/${node_id}`;
  const own = join(directory, 'project-files/qemu', node_id);
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
