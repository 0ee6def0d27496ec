// A disk of the host that becomes full while a machine writes, with the real QEMU and a guest.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { copyGuest, guestSettings, noGuest, Typist } from '../guest/guest.ts';
import { scratchFileSystem } from '../store/scratch.ts';
import { machines, noQemu, qemuImg, SMALL } from './qemu-support.ts';

const skip = noQemu || noGuest;

/** What a guest takes on a busy host. */
const GUEST_MS = 90_000;

test('a machine whose disk finds no space stands still, is reported, and goes on when there is room', {
  skip,
}, async (t) => {
  const projects_path = await scratchFileSystem(t, '64m');
  if (projects_path === undefined) return;
  const { lab, project, images } = await machines(t, { projects_path });
  await copyGuest(images);
  await qemuImg('create', '-q', '-f', 'qcow2', join(images, 'large.qcow2'), '200M');
  const disk = { hda_disk_image: 'large.qcow2', hda_disk_interface: 'virtio' };
  const node = await lab.node(project, 'qemu', { ...SMALL, ...guestSettings(''), ...disk, adapters: 0 });
  const { console } = await lab.expect(200, 'POST', `${node}/start`);
  const typist = new Typist(t, console);
  await typist.until(/guest is ready/);
  const ballast = join(projects_path, 'ballast');
  execFileSync('sh', ['-c', 'dd if=/dev/zero of="$0" bs=4k 2>/dev/null; true', ballast]);
  typist.socket.write(`dd if=/dev/zero of=/dev/vda bs=64k count=200 && sync && echo wri''tten $?\r`);
  const { message } = await lab.told('log.error', (event) => /stands still/.test(event.message), GUEST_MS);
  assert.match(message, /^N1 stands still, as there is no space for hda in .*; make room, and it goes on by itself\.$/);
  assert.equal((await lab.expect(200, 'GET', node)).status, 'started');
  await rm(ballast);
  await lab.told('log.info', (event) => /N1 goes on/.test(event.message), GUEST_MS);
  await typist.until(/written 0/);
});

test('memory for which there is no space is not kept; the figures are reported, and the machine goes on', {
  skip: noQemu,
}, async (t) => {
  const projects_path = await scratchFileSystem(t, '32m');
  if (projects_path === undefined) return;
  const { lab, project, images } = await machines(t, { projects_path });
  await qemuImg('create', '-q', '-f', 'qcow2', join(images, 'disk.qcow2'), '1M');
  const node = await lab.node(project, 'qemu', { ...SMALL, hda_disk_image: 'disk.qcow2', hda_disk_interface: 'ide' });
  await lab.expect(200, 'POST', `${node}/start`);
  const ballast = join(projects_path, 'ballast');
  execFileSync('dd', ['if=/dev/zero', `of=${ballast}`, 'bs=1M', 'count=24'], { stdio: 'ignore' });
  const { message } = await lab.expect(409, 'POST', `${node}/state`);
  assert.match(
    message,
    /^N1 cannot keep its memory: it may take 16 MB in .*, but only [567] MB are free; make room\.$/,
  );
  assert.equal((await lab.expect(200, 'GET', node)).status, 'started');
  await lab.expect(200, 'PUT', node, { on_close: 'save_vm_state' });
  await lab.expect(204, 'POST', `${node}/stop`);
  const warned = await lab.told('log.warning', (event) => /has not saved its state/.test(event.message));
  assert.match(warned.message, /it may take 16 MB in .*, but only [567] MB are free; make room$/);
});

test('a start that finds no space is refused, and one that finds little is warned of', { skip: noQemu }, async (t) => {
  const projects_path = await scratchFileSystem(t, '32m');
  if (projects_path === undefined) return;
  const { lab, project, images } = await machines(t, { projects_path });
  await qemuImg('create', '-q', '-f', 'qcow2', join(images, 'large.qcow2'), '3G');
  const node = await lab.node(project, 'qemu', { ...SMALL, hda_disk_image: 'large.qcow2', hda_disk_interface: 'ide' });
  const ballast = join(projects_path, 'ballast');
  execFileSync('dd', ['if=/dev/zero', `of=${ballast}`, 'bs=1M', 'count=30'], { stdio: 'ignore' });
  const { message, exception } = await lab.expect(409, 'POST', `${node}/start`);
  assert.equal(exception, 'QemuError');
  assert.match(message, /^N1 needs 4 MB in .* to start, but only [12] MB are free; make room\.$/);
  await rm(ballast);
  await lab.expect(200, 'POST', `${node}/start`);
  const warned = await lab.told('log.warning', (event) => /may grow/.test(event.message));
  assert.match(warned.message, /^N1: its disks may grow by 30\d\d MB, but only \d+ MB are free in /);
});
