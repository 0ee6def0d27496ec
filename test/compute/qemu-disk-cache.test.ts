// What a disk keeps of a guest's writes when QEMU is killed, by its cache mode, with the real QEMU.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { Typist } from '../guest/guest.ts';
import { scratchFileSystem } from '../store/scratch.ts';
import { BUSY, bootSector, disk, machineOf, machines, noQemu, qemuImg, SMALL } from './qemu-support.ts';

const skip = noQemu;

/** Writes the boot sector to the fifth sector of a drive (BIOS interrupt 13h), without a flush; stays there when that fails. */
const write = (drive: number) => [
  ...[0xb8, 0x01, 0x03, 0xb9, 0x05, 0x00, 0xba, 0x80 + drive, 0x00],
  ...[0xbb, 0x00, 0x7c, 0xcd, 0x13, 0x72, 0xfe],
];
/** Says `written` at the serial port. A halt would not do: QEMU flushes the disks of a machine that stands still. */
const TELL = [0xba, 0xf8, 0x03, ...[...'written'].flatMap((letter) => [0xb0, letter.charCodeAt(0), 0xee]), ...BUSY];
const WRITTEN_AT = 4 * 512;

test('writethrough and directsync keep writes without a flush when QEMU is killed', { skip }, async (t) => {
  const { lab, project, directory, images, instance } = await machines(t);
  const code = [...write(1), ...write(2), ...TELL];
  await bootSector(images, 'writer.img', ...code);
  await disk(images, 'b.qcow2', 'c.qcow2');
  const node = await lab.node(project, 'qemu', {
    ...SMALL,
    ...{ hda_disk_image: 'writer.img', hda_disk_interface: 'ide' },
    ...{ hdb_disk_image: 'b.qcow2', hdb_disk_interface: 'ide', hdb_disk_cache: 'writethrough' },
    ...{ hdc_disk_image: 'c.qcow2', hdc_disk_interface: 'ide', hdc_disk_cache: 'none' },
  });
  const changed = await lab.expect(200, 'PUT', node, { hdc_disk_cache: 'directsync' });
  const { hda_disk_cache, hdb_disk_cache, hdc_disk_cache } = changed;
  assert.deepEqual(
    { hda_disk_cache, hdb_disk_cache, hdc_disk_cache },
    {
      hda_disk_cache: undefined,
      hdb_disk_cache: 'writethrough',
      hdc_disk_cache: 'directsync',
    },
  );
  const { console } = await lab.expect(200, 'POST', `${node}/start`);
  await new Typist(t, console).until(/written/);
  process.kill(machineOf(instance), 'SIGKILL');
  await lab.told('log.error', ({ message }) => /ended unexpectedly by SIGKILL/.test(message));
  for (const drive of ['hdb', 'hdc']) {
    const copy = join(directory, 'project-files/qemu', node.split('/').at(-1)!, `${drive}_disk.qcow2`);
    await qemuImg('convert', '-O', 'raw', copy, `${copy}.raw`);
    const written = (await readFile(`${copy}.raw`)).subarray(WRITTEN_AT, WRITTEN_AT + code.length);
    assert.deepEqual([...written], code, drive);
  }
});

test('a mode with direct I/O is refused where the file system has none, with the mode to use', { skip }, async (t) => {
  const folder = await scratchFileSystem(t, '64m', 'ramfs');
  if (folder === undefined) return;
  const { lab, project } = await machines(t, { additional_images_path: folder });
  await disk(folder, 'a.qcow2');
  const hda = { hda_disk_image: 'a.qcow2', hda_disk_interface: 'ide' };
  const node = await lab.node(project, 'qemu', { ...SMALL, ...hda, hda_disk_cache: 'directsync' });
  const { message } = await lab.expect(409, 'POST', `${node}/start`);
  const why = 'needs direct I/O, which the file system of .*a\\.qcow2 does not support';
  assert.match(message, new RegExp(`^hda_disk_cache: "directsync" ${why}\\. Use "writethrough"\\.$`));
  await lab.expect(200, 'PUT', node, { hda_disk_cache: 'writethrough' });
  const { command_line } = await lab.expect(200, 'POST', `${node}/start`);
  assert.match(command_line, /cache=writethrough/);
  await lab.expect(400, 'PUT', node, { hda_disk_cache: 'fast' });
  await lab.expect(200, 'PUT', node, { hda_disk_cache: '' });
  await lab.expect(204, 'POST', `${node}/reload`);
  assert.doesNotMatch((await lab.expect(200, 'GET', node)).command_line, /cache=/);
});
