// What users and hosts get wrong about QEMU machines, with the real QEMU: each is refused with a reason, and leaves nothing behind.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { chmod, mkdir, open, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Body } from '../body.ts';
import { disk, type Machines, machineOf, machines, noQemu, qemuImg, SMALL } from './qemu-support.ts';
import { programsOf } from './support.ts';

const skip = noQemu;

interface Row {
  what: string;
  /** Makes the image `bad.img`. */
  make?: (images: string) => Promise<unknown>;
  body?: object;
  /** When it is noticed. */
  at: 'creation' | 'start';
  says: RegExp;
  exception?: string;
}

const image = { hda_disk_image: 'bad.img', hda_disk_interface: 'ide' };
const whole = (folder: string): Promise<void> => disk(folder, 'bad.img');
const path = (folder: string): string => join(folder, 'bad.img');
const cut = (folder: string, bytes: number): Promise<void> => whole(folder).then(() => truncate(path(folder), bytes));

const ROWS: Row[] = [
  { what: 'no such image', body: image, at: 'creation', says: /has no image bad\.img/, exception: 'ImageMissingError' },
  { what: 'a directory', make: (at) => mkdir(path(at)), body: image, at: 'creation', says: /directory/ },
  {
    what: 'a link out of the folders',
    make: (at) => symlink('/etc/hostname', path(at)),
    body: image,
    at: 'creation',
    says: /link|leads/,
  },
  {
    what: 'a path elsewhere',
    body: { hda_disk_image: '/etc/hostname' },
    at: 'creation',
    says: /hda_disk_image/,
    exception: 'NodeError',
  },
  { what: 'less memory than none', body: { ram: -1 }, at: 'start', says: /ram: -1 MiB/ },
  { what: 'an empty file', make: (at) => writeFile(path(at), ''), body: image, at: 'start', says: /bad\.img is empty/ },
  {
    what: 'a header that is cut',
    make: (at) => cut(at, 40),
    body: image,
    at: 'start',
    says: /bad\.img/,
  },
  {
    what: 'an image built upon a file of the host',
    make: (at) => qemuImg('create', '-q', '-f', 'qcow2', '-b', '/etc/hostname', '-F', 'raw', path(at)),
    body: image,
    at: 'start',
    says: /bad\.img: its backing file "\/etc\/hostname" is not the plain name of an image in the same folder/,
  },
  {
    what: 'an image built upon one that is built upon a file of the host',
    make: async (at) => {
      await qemuImg('create', '-q', '-f', 'qcow2', '-b', '/etc/hostname', '-F', 'raw', join(at, 'inner.qcow2'));
      await qemuImg('create', '-q', '-f', 'qcow2', '-b', 'inner.qcow2', '-F', 'qcow2', path(at));
    },
    body: image,
    at: 'start',
    says: /inner\.qcow2: its backing file "\/etc\/hostname" is not the plain name/,
  },
  {
    what: 'a CD built upon an image whose data are in a file of the host',
    make: async (at) => {
      const options = `data_file=${join(at, '..', 'data')},data_file_raw=on`;
      await qemuImg('create', '-q', '-f', 'qcow2', '-o', options, join(at, 'inner.qcow2'), '1M');
      await qemuImg('create', '-q', '-f', 'qcow2', '-b', 'inner.qcow2', '-F', 'qcow2', path(at));
    },
    body: { cdrom_image: 'bad.img' },
    at: 'start',
    says: /inner\.qcow2: its data are in another file/,
  },
  {
    what: 'an image that nobody may read',
    make: (at) => whole(at).then(() => chmod(path(at), 0)),
    body: image,
    at: 'creation',
    says: /bad\.img|permission/i,
  },
  {
    what: 'a kernel that is none',
    make: (at) => writeFile(path(at), 'text'),
    body: { kernel_image: 'bad.img' },
    at: 'start',
    says: /kernel|QEMU of/,
  },
  { what: 'no program for the platform', body: { platform: 'sparc64' }, at: 'creation', says: /qemu-system-sparc64/ },
  { what: 'another program', body: { qemu_path: '/bin/true' }, at: 'creation', says: /no emulator/ },
  {
    what: 'an option that opens files',
    body: { options: `${SMALL.options} -drive file=/etc/passwd` },
    at: 'start',
    says: /-drive/,
  },
  { what: 'a quote that is not closed', body: { options: `${SMALL.options} "` }, at: 'start', says: /not closed/ },
  { what: 'an adapter that does not exist', body: { adapter_type: 'no-such, card' }, at: 'start', says: /no-such/ },
  { what: 'BIOS and UEFI', make: whole, body: { bios_image: 'bad.img', uefi: true }, at: 'start', says: /uefi/ },
  {
    what: 'a CD in the place of a disk',
    make: whole,
    body: { cdrom_image: 'bad.img', hdc_disk_image: 'bad.img' },
    at: 'start',
    says: /hdc/,
  },
];

async function attempt({ lab, project, images }: Machines, row: Row): Promise<void> {
  await row.make?.(images);
  const body = { name: 'N1', ...SMALL, ...row.body };
  const { status, body: made } = await lab.request('POST', `${project}/qemu/nodes`, body);
  if (row.at === 'creation') {
    assert.equal(status, 409, JSON.stringify(made));
    assert.match(made.message, row.says);
    if (row.exception) assert.equal(made.exception, row.exception);
    return;
  }
  assert.equal(status, 201, JSON.stringify(made));
  const node = `${project}/qemu/nodes/${made.node_id}`;
  const refused = await lab.expect(409, 'POST', `${node}/start`);
  assert.match(refused.message, row.says);
  assert.equal(refused.exception, row.exception ?? 'QemuError');
  assert.doesNotMatch(refused.message, /\bat .*\.ts:\d+/, 'no stack trace');
  assert.equal((await lab.expect(200, 'GET', node)).status, 'stopped');
}

for (const row of ROWS) {
  const needsUser = row.what.includes('nobody may read') && process.getuid!() === 0;
  test(`refused: ${row.what}`, { skip: skip || (needsUser ? 'root may read everything' : false) }, async (t) => {
    const rig = await machines(t);
    await attempt(rig, row);
    assert.deepEqual(programsOf(rig.instance), []);
    const { udp_ports } = await rig.lab.expect(200, 'GET', '/network/ports');
    assert.deepEqual(udp_ports, []);
  });
}

test('an image that is cut is reported to be damaged, and left as it is', { skip }, async (t) => {
  const { lab, project, images } = await machines(t);
  await cut(images, 70_000);
  const node = await lab.node(project, 'qemu', { ...SMALL, ...image });
  await lab.expect(200, 'POST', `${node}/start`);
  assert.match((await lab.told('log.warning')).message, /the image bad\.img is damaged .* It was left as it is\./);
  assert.equal((await stat(path(images))).size, 70_000);
});

/** Gives an image a cluster that no part of the disk is in. */
async function leak(file: string): Promise<void> {
  await using image = await open(file, 'r+');
  const number = async (at: number): Promise<number> =>
    Number((await image.read(Buffer.alloc(8), 0, 8, at)).buffer.readBigUInt64BE() & 0x00ff_ffff_ffff_ffffn);
  const firstTable = await number(40);
  await image.write(Buffer.alloc(8), 0, 8, await number(firstTable));
}

test('leaked clusters of an image are freed, and reported once if a running machine prevents that', {
  skip,
}, async (t) => {
  const { lab, project, images } = await machines(t);
  await writeFile(join(images, 'raw'), Buffer.alloc(65_536, 'x'));
  for (const name of ['free.img', 'bad.img'])
    await qemuImg('convert', '-f', 'raw', '-O', 'qcow2', join(images, 'raw'), join(images, name));
  const start = async (name: string): Promise<void> => {
    const node = await lab.node(project, 'qemu', { ...SMALL, ...image, hda_disk_image: name });
    await lab.expect(200, 'POST', `${node}/start`);
  };
  await leak(join(images, 'free.img'));
  await start('free.img');
  await start('bad.img');
  await leak(path(images));
  await start('bad.img');
  await start('bad.img');
  const warnings = lab.messages
    .filter(({ action }) => action === 'log.warning')
    .map(({ event }) => (event as Body).message);
  assert.deepEqual(warnings, [
    'N1: hda: the image free.img had leaked clusters, which were freed; nothing was lost.',
    'N1: hda: the image bad.img has leaked clusters, which only cost space. They cannot be freed while another machine uses it: run qemu-img check -r leaks when none does.',
  ]);
  await qemuImg('check', '-q', '-U', join(images, 'free.img'));
});

const NAMES = [
  'a,b',
  'two words',
  `it's`,
  '"quoted"',
  'a=b,c=d',
  '-drive',
  'é ü 日本 🙂',
  '$(id)',
  'a;b|c',
  '%vm-id%',
  'x'.repeat(200),
];

test('names of all kinds come to the machine as they are', { skip }, async (t) => {
  const { lab, project, instance } = await machines(t);
  for (const name of NAMES) {
    const options = `${SMALL.options} -smbios type=1,product=%vm-name%`;
    const node = await lab.node(project, 'qemu', { ...SMALL, name, options });
    const started = await lab.expect(200, 'POST', `${node}/start`);
    assert.equal(started.name, name);
    const words = readFileSync(`/proc/${machineOf(instance)}/cmdline`, 'utf8').split('\0');
    assert.equal(words[words.indexOf('-name') + 1]!.replace(/^guest=/, ''), name.replaceAll(',', ',,'));
    assert.ok(words.includes(`type=1,product=${name.replaceAll(',', ',,')}`), words.join(' '));
    await lab.expect(204, 'DELETE', node);
  }
});

test('a machine that wants more memory than the host has gets a warning, and an error when there is none', {
  skip,
}, async (t) => {
  const { lab, project, instance } = await machines(t);
  const node = await lab.node(project, 'qemu', { ...SMALL, ram: 900_000_000 });
  const { message } = await lab.expect(409, 'POST', `${node}/start`);
  assert.match(message, /QEMU of 'N1' ended at once/);
  assert.match((await lab.told('log.warning')).message, /N1 may use 900000000 MB of memory, but only \d+ MB are free/);
  assert.deepEqual(programsOf(instance), []);
});
