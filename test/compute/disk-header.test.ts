import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdir, readdir, readFile, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { diskTools } from '../../src/compute/emulators/qemu/programs.ts';
import { linkDiskFiles } from '../../src/compute/images/disk-files.ts';
import { scratchDirectory } from '../store/scratch.ts';
import { startLab } from './support.ts';

const [tool] = await diskTools();
const skip = tool === undefined && 'qemu-img is not installed';
const qemu_img = tool?.path ?? '';

/** Fields at their places in a head of one kilobyte; text is in the place that is given. */
function head(magic: string, ...fields: [at: number, bits: 32 | 64 | 'text', value: number | string][]): Buffer {
  const bytes = Buffer.alloc(1024);
  bytes.write(magic, 'latin1');
  const little = magic !== 'QFI\xfb';
  for (const [at, bits, value] of fields) {
    if (bits === 'text') bytes.write(String(value), at);
    else if (bits === 32) little ? bytes.writeUInt32LE(Number(value), at) : bytes.writeUInt32BE(Number(value), at);
    else little ? bytes.writeBigUInt64LE(BigInt(value), at) : bytes.writeBigUInt64BE(BigInt(value), at);
  }
  return bytes;
}

function qcow(version: number, backing: string, ...more: Parameters<typeof head>[1][]): Buffer {
  const name: Parameters<typeof head>[1][] =
    backing === ''
      ? []
      : [
          [8, 64, 512],
          [16, 32, Buffer.byteLength(backing)],
          [512, 'text', backing],
        ];
  return head('QFI\xfb', [4, 32, version], [20, 32, 16], [100, 32, 104], ...name, ...more);
}

function qed(backing: string, features = 1): Buffer {
  return head('QED\0', [16, 64, features], [56, 32, 200], [60, 32, Buffer.byteLength(backing)], [200, 'text', backing]);
}

const descriptor = (...lines: string[]): string =>
  ['# Disk DescriptorFile', 'version=1', 'createType="monolithicFlat"', ...lines, ''].join('\n');

async function folder(t: TestContext): Promise<{ images: string; judge: (name: string) => Promise<string[]> }> {
  const top = await scratchDirectory(t);
  const images = join(top, 'images');
  await mkdir(images);
  await writeFile(join(top, 'outside'), 'outside');
  await writeFile(join(images, 'base'), 'a disk');
  let judged = 0;
  const judge = async (name: string): Promise<string[]> => {
    const into = join(top, `judged-${judged++}`);
    await mkdir(into);
    await linkDiskFiles(images, name, into);
    return (await readdir(into)).sort();
  };
  return { images, judge };
}

const ELSEWHERE = [
  '/etc/hostname',
  '../outside',
  './base',
  'below/base',
  'nbd://127.0.0.1:1',
  'json:{"driver":"raw"}',
  'file:base',
  'nbd:unix:x',
  'fat:rw:.',
  '..',
  '.',
  '.base',
  'a\nb',
  'a\u0001',
];
const NAMING: [kind: string, image: (name: string) => Buffer | string][] = [
  ['qcow', (name) => qcow(1, name)],
  ['qcow2, version 2', (name) => qcow(2, name)],
  ['qcow2, version 3', (name) => qcow(3, name)],
  ['QED', (name) => qed(name)],
  ['VMDK, an extent', (name) => descriptor(`RW 8 FLAT "${name}" 0`)],
  ['VMDK, an extent behind blank lines', (name) => `\n#x\n \nversion=2\nrdonly\t8  SPARSE "${name}"\n`],
  ['VMDK, a parent', (name) => descriptor(`parentFileNameHint="${name}"`)],
  [
    'VMDK, a parent in a sparse file',
    (name) => head('KDMV', [12, 64, 8], [600, 'text', `parentFileNameHint="${name}"`]),
  ],
  [
    'VMDK, an extent in a sparse file',
    (name) => head('KDMV', [28, 64, 1], [512, 'text', descriptor(`RW 8 FLAT "${name}"`)]),
  ],
  ['VMDK, a parent in a file of ESX', (name) => head('COWD', [700, 'text', `parentFileNameHint="${name}"`])],
];

for (const [kind, image] of NAMING) {
  test(`an image may name another one of its folder, and nothing else: ${kind}`, async (t) => {
    const { images, judge } = await folder(t);
    await writeFile(join(images, 'top'), image('base'));
    assert.deepEqual(await judge('top'), ['base', 'top']);
    for (const name of ELSEWHERE.filter((one) => !(kind.startsWith('VMDK, an extent') && one.includes('\n')))) {
      // In a descriptor a quote would end the name.
      const named = kind.startsWith('VMDK') ? name.replaceAll('"', "'") : name;
      await writeFile(join(images, 'hostile'), image(named));
      await assert.rejects(judge('hostile'), { code: 'conflict', message: /is not the plain name of an image/ }, named);
      // As the base of another one, too.
      await writeFile(join(images, 'above'), qcow(3, 'hostile'));
      await assert.rejects(judge('above'), { code: 'conflict', message: /is not the plain name/ }, named);
    }
    await writeFile(join(images, 'top'), image('missing'));
    await assert.rejects(judge('top'), { code: 'conflict', message: /missing: there is no such file/ });
  });
}

test('data in another file are refused, and so is a backing file of another format than is said', async (t) => {
  const { images, judge } = await folder(t);
  const files: [Buffer, RegExp][] = [
    [qcow(3, '', [72, 64, 4]), /data are in another file/],
    [qcow(3, '', [104, 32, 0x44415441], [108, 32, 4], [112, 'text', 'base']), /data are in another file/],
    [qcow(3, 'base', [104, 32, 0xe2792aca], [108, 32, 4], [112, 'text', 'vmdk']), /not in the format "vmdk"/],
    [qcow(3, 'base', [104, 32, 0xe2792aca], [108, 32, 3], [112, 'text', 'nbd']), /not in the format "nbd"/],
    [qcow(3, 'base', [104, 32, 1], [108, 32, 0xffffffff]), /damaged/],
    [qcow(2, 'base', [16, 32, 5000]), /damaged/],
    [qcow(9, 'base'), /damaged/],
    [head('KDMV', [28, 64, 2 ** 60], [36, 64, 1]), /damaged/],
  ];
  for (const [content, reason] of files) {
    await writeFile(join(images, 'top'), content);
    await assert.rejects(judge('top'), { code: 'conflict', message: reason });
  }
  await writeFile(join(images, 'top'), qcow(3, 'base', [104, 32, 0xe2792aca], [108, 32, 3], [112, 'text', 'raw']));
  assert.deepEqual(await judge('top'), ['base', 'top']);
  await writeFile(join(images, 'alone'), qed('/etc/hostname', 0));
  assert.deepEqual(await judge('alone'), ['alone']);
});

test('images in a circle, long chains, pipes and links that lead outside end with a reason', async (t) => {
  const { images, judge } = await folder(t);
  await writeFile(join(images, 'one'), qcow(3, 'two'));
  await writeFile(join(images, 'two'), qcow(3, 'one'));
  assert.deepEqual(await judge('one'), ['one', 'two']);
  for (let number = 0; number < 80; number += 1) await writeFile(join(images, `c${number}`), qcow(3, `c${number + 1}`));
  await assert.rejects(judge('c0'), /more than 64 files/);
  execFileSync('mkfifo', [join(images, 'pipe')]);
  await symlink('../outside', join(images, 'link'));
  for (const name of ['pipe', 'link']) {
    await writeFile(join(images, 'top'), qcow(3, name));
    await assert.rejects(judge('top'), { code: 'conflict', message: /backing file cannot be used/ });
    await assert.rejects(judge(name), { code: 'forbidden' });
  }
  await symlink('base', join(images, 'inner'));
  await writeFile(join(images, 'top'), qcow(3, 'inner'));
  assert.deepEqual(await judge('top'), ['inner', 'top']);
});

test('a descriptor that is made to be slow to read is read at once', async (t) => {
  const { images, judge } = await folder(t);
  const fillings = ['\0', 'x', '1', ' ', '\n', '"', 'RW 8 ', 'RW 8 FLAT\n', 'parentFileNameHint'];
  for (const filling of fillings) {
    await writeFile(join(images, 'long'), descriptor('').padEnd(1024 * 1024, filling));
    await judge('long').catch((error) => assert.equal(error.code, 'conflict'));
  }
  await writeFile(join(images, 'spread'), descriptor(`RW${' '.repeat(5000)}\n8FLAT\n"/etc/hostname`));
  await assert.rejects(judge('spread'), /is not the plain name/);
});

test('extending an image neither touches a file of the host nor calls an address', { skip }, async (t) => {
  const lab = await startLab(t);
  const victim = join(lab.directory, 'victim');
  const images = join(lab.config.Server.images_path, 'QEMU');
  await mkdir(images, { recursive: true });
  let calls = 0;
  const server = createServer((socket) => {
    calls += 1;
    socket.destroy();
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  t.after(() => server.close());
  const { port } = server.address() as { port: number };
  const at = (name: string): string => join(images, name);
  execFileSync(qemu_img, [
    'create',
    '-q',
    '-f',
    'qcow2',
    '-o',
    `data_file=${victim},data_file_raw=on`,
    at('data'),
    '1M',
  ]);
  await truncate(victim, 8 * 1024 * 1024);
  for (const [name, backing] of [
    ['network', `nbd://127.0.0.1:${port}/x`],
    ['described', `json:{"driver":"nbd","host":"127.0.0.1","port":"${port}"}`],
    ['host', victim],
  ] as const) {
    execFileSync(qemu_img, ['create', '-q', '-f', 'qcow2', '-u', '-F', 'raw', '-b', backing, at(name), '1M']);
  }
  for (const name of ['data', 'network', 'described', 'host']) {
    const before = await readFile(at(name));
    const { message, exception } = await lab.expect(409, 'PUT', '/qemu/img', { qemu_img, path: name, extend: 1 });
    assert.match(message, new RegExp(`^path: ${name}: its`));
    assert.equal(exception, 'QemuError');
    assert.ok(before.equals(await readFile(at(name))), name);
  }
  assert.equal((await stat(victim)).size, 8 * 1024 * 1024);
  assert.equal(calls, 0);

  execFileSync(qemu_img, ['create', '-q', '-f', 'qcow2', at('base'), '1M']);
  execFileSync(qemu_img, ['create', '-q', '-f', 'qcow2', '-F', 'qcow2', '-b', 'base', at('clone')], { cwd: images });
  for (const name of ['clone', 'base']) await lab.expect(201, 'PUT', '/qemu/img', { qemu_img, path: name, extend: 3 });
  for (const name of ['clone', 'base']) {
    const told = JSON.parse(execFileSync(qemu_img, ['info', '--output=json', at(name)], { encoding: 'utf8' }));
    assert.equal(told['virtual-size'], 4 * 1024 * 1024, name);
  }
  assert.deepEqual((await readdir(images)).sort(), ['base', 'clone', 'data', 'described', 'host', 'network']);
});

test('names that the server keeps for itself are refused for images', async (t) => {
  const lab = await startLab(t);
  const image = { qemu_img: 'qemu-img', format: 'raw', size: 1 };
  for (const name of ['disk.md5sum', '.disk.0123456789ab.labwire-tmp']) {
    await lab.expect(403, 'POST', '/qemu/img', { ...image, path: name });
    await lab.expect(403, 'PUT', '/qemu/img', { qemu_img: 'qemu-img', path: name, extend: 1 });
    assert.equal((await lab.request('POST', `/qemu/images/${name}`, 'x')).status, 403, name);
  }
  for (const name of ['a\nRW 1 FLAT "b" 0', 'a"b', 'a\u007f']) {
    await lab.expect(400, 'POST', '/qemu/img', { ...image, path: name });
  }
});
