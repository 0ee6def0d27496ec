// A guest of Linux that starts by UEFI and has a TPM, with the real firmware of Debian and the real swtpm; the processor is emulated.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { findProgram } from '../../src/host/processes/program-path.ts';
import { copyGuest, guestSettings, noGuest, Typist } from '../guest/guest.ts';
import { disk, machines, noQemu, SMALL } from './qemu-support.ts';
import { programsOf } from './support.ts';

const noFirmware = existsSync('/usr/share/OVMF/OVMF_CODE_4M.fd') ? false : 'ovmf is not installed';
const skip =
  noQemu || noGuest || noFirmware || ((await findProgram('swtpm')) === undefined ? 'swtpm is not installed' : false);

test('a machine with UEFI gets its own variables, which stay', { skip: noQemu || noFirmware }, async (t) => {
  const { lab, project, directory } = await machines(t);
  const node = await lab.node(project, 'qemu', { ...SMALL, uefi: true });
  const own = join(directory, 'project-files/qemu', node.split('/').at(-1)!);
  const { size } = statSync('/usr/share/OVMF/OVMF_VARS_4M.fd');
  let inode: number | undefined;
  for (let start = 0; start < 2; start++) {
    await lab.expect(200, 'POST', `${node}/start`);
    await lab.expect(204, 'POST', `${node}/stop`);
    assert.deepEqual(readdirSync(own).sort(), ['OVMF_VARS_4M.fd', 'qemu.log']);
    const found = statSync(join(own, 'OVMF_VARS_4M.fd'));
    assert.deepEqual([found.size, found.ino], [size, inode ?? found.ino]);
    inode = found.ino;
  }
});

test('a guest is started by UEFI, finds its TPM, and goes on where its state was kept', { skip }, async (t) => {
  const { lab, project, images, directory, instance } = await machines(t);
  await copyGuest(images);
  await disk(images, 'empty.qcow2');
  const body = {
    ...{ ...SMALL, ...guestSettings(''), ram: 256, uefi: true, tpm: true, adapters: 0 },
    hda_disk_image: 'empty.qcow2',
  };
  const node = await lab.node(project, 'qemu', body);
  const { console } = await lab.expect(200, 'POST', `${node}/start`);
  const typist = new Typist(t, console);
  await typist.until(/guest is ready/);
  assert.match(await typist.run('ls /sys/firmware/efi'), /fw_platform_size/);
  assert.match(await typist.run('ls /sys/firmware/acpi/tables'), /TPM2/);
  assert.equal(programsOf(instance).length, 2, 'QEMU and swtpm');
  await typist.run('kept=in-a-variable');
  await lab.expect(204, 'POST', `${node}/state`);
  await lab.expect(204, 'POST', `${node}/stop`);
  await lab.expect(204, 'POST', `${node}/state/start`);
  const next = new Typist(t, console);
  assert.match(await next.run('echo $kept'), /in-a-variable/);
  assert.equal(programsOf(instance).length, 2, 'QEMU and swtpm, again');
  await lab.expect(204, 'POST', `${node}/stop`);
  assert.deepEqual(programsOf(instance), []);
  const own = readdirSync(join(directory, 'project-files/qemu', node.split('/').at(-1)!)).sort();
  assert.deepEqual(own, ['OVMF_VARS_4M.fd', 'hda_disk.qcow2', 'qemu.log', 'swtpm.log', 'tpm']);
});
