import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { constants, existsSync } from 'node:fs';
import { chmod, mkdir, open, readdir, readFile, rename, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { type ClientRequest, request } from 'node:http';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { HttpServer } from '../../src/http/app/server.ts';
import { eventually } from '../eventually.ts';
import { remountReadOnly, scratchDirectory, scratchFileSystem } from '../store/scratch.ts';
import { type Lab, type Settings, startLab } from './support.ts';

const IOU_64 = Buffer.from('7f454c4602010100', 'hex');
const IOU_32 = Buffer.from('7f454c4601010100', 'hex');
const IOS = Buffer.from('7f454c4601020100', 'hex');

/** A lab, and the path of a file below its images path. */
async function started(
  t: TestContext,
  settings: Settings = {},
): Promise<{ lab: Lab; at: (...parts: string[]) => string }> {
  const lab = await startLab(t, settings);
  return { lab, at: (...parts) => join(lab.config.Server.images_path, ...parts) };
}

async function put(path: string, content: string | Buffer): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content);
}

async function upload(lab: Lab, path: string, body: Buffer | string | ReadableStream<Uint8Array>): Promise<number> {
  const content = Buffer.isBuffer(body) ? new Uint8Array(body) : body;
  return (await lab.app.request(`/v2/compute/${path}`, { method: 'POST', body: content })).status;
}

async function names(lab: Lab, emulator: string): Promise<string[]> {
  const entries: { filename: string }[] = await lab.expect(200, 'GET', `/${emulator}/images`);
  return entries.map(({ filename }) => filename);
}

test('an image comes back as it was uploaded, runs as a program, and is listed with its checksum, which also stands beside it', async (t) => {
  const { lab, at } = await started(t);
  assert.equal(await upload(lab, 'iou/images/x.bin', IOU_64), 204);
  const { status, body, headers } = await lab.request('GET', '/iou/images/x.bin');
  assert.deepEqual([status, body], [200, IOU_64.toString()]);
  assert.equal(headers.get('content-length'), '8');
  assert.equal(headers.get('last-modified'), (await stat(at('IOU/x.bin'))).mtime.toUTCString());
  assert.equal(headers.get('content-type'), 'application/octet-stream');
  for (const [range, part, answer] of [
    ['bytes=2-', IOU_64.subarray(2), 'bytes 2-7/8'],
    ['bytes=0-0', IOU_64.subarray(0, 1), 'bytes 0-0/8'],
    ['bytes=6-99', IOU_64.subarray(6), 'bytes 6-7/8'],
    ['bytes=8-', IOU_64, null],
    ['bytes=5-4', IOU_64, null],
    ['bytes=-3', IOU_64, null],
    ['lines=1-2', IOU_64, null],
  ] as const) {
    const response = await lab.app.request('/v2/compute/iou/images/x.bin', { headers: { Range: range } });
    assert.deepEqual([response.status, response.headers.get('content-range')], [answer ? 206 : 200, answer], range);
    assert.deepEqual(Buffer.from(await response.arrayBuffer()), part, range);
  }
  assert.deepEqual(await lab.expect(200, 'GET', '/iou/images'), [
    { filename: 'x.bin', path: 'x.bin', md5sum: hash('md5', IOU_64), filesize: 8 },
  ]);
  assert.equal((await stat(at('IOU/x.bin'))).mode & 0o777, 0o700);
  assert.equal(await readFile(at('IOU/x.bin.md5sum'), 'latin1'), hash('md5', IOU_64));
  assert.equal((await lab.request('GET', '/iou/images/x.bin.md5sum')).body, hash('md5', IOU_64));
});

test('an image is listed for the emulator that it is for', async (t) => {
  const { lab } = await started(t);
  const files = { iou64: IOU_64, iou32: IOU_32, ios: IOS, disk: Buffer.from('QFI\xfb00003', 'latin1') };
  for (const emulator of ['iou', 'qemu', 'dynamips']) {
    for (const [name, content] of Object.entries(files)) await upload(lab, `${emulator}/images/${name}`, content);
    await upload(lab, `${emulator}/images/tiny`, 'tiny');
    await upload(lab, `${emulator}/images/empty`, '');
  }
  assert.deepEqual(await names(lab, 'iou'), ['iou32', 'iou64']);
  assert.deepEqual(await names(lab, 'dynamips'), ['ios']);
  assert.deepEqual(await names(lab, 'qemu'), ['disk']);
  const usable: { filename: string }[] = await lab.expect(200, 'GET', '/qemu/images?unlisted=yes');
  assert.deepEqual(
    usable.map(({ filename }) => filename),
    ['disk', 'ios', 'iou32', 'iou64'],
  );
});

test('images are found in all folders, the first of a name wins, and folders below the images path are not entered', async (t) => {
  const additional = await scratchDirectory(t);
  const { lab, at } = await started(t, { additional_images_path: `/nonexistent;${additional}` });
  await put(at('QEMU/own'), 'own image');
  await put(at('QEMU/both'), 'the first of both');
  await put(at('QEMU/below/hidden-from-list'), 'deep image');
  await put(at('general'), 'general image');
  await put(join(additional, 'a/b/extra'), 'extra image');
  await put(join(additional, 'a/both'), 'the second');
  await put(join(additional, '.dotted'), 'dotted name');
  assert.deepEqual(await lab.expect(200, 'GET', '/qemu/images'), [
    { filename: 'both', path: 'both', md5sum: hash('md5', 'the first of both'), filesize: 17 },
    { filename: 'extra', path: join(additional, 'a/b/extra'), md5sum: hash('md5', 'extra image'), filesize: 11 },
    { filename: 'general', path: at('general'), md5sum: hash('md5', 'general image'), filesize: 13 },
    { filename: 'own', path: 'own', md5sum: hash('md5', 'own image'), filesize: 9 },
  ]);
  assert.equal((await lab.request('GET', '/qemu/images/hidden-from-list')).body, 'deep image');
  assert.equal((await lab.request('GET', '/qemu/images/extra')).body, 'extra image');
  assert.equal((await lab.request('GET', '/qemu/images/both')).body, 'the first of both');
});

test('without any folder there are no images, and the first upload makes its folder', async (t) => {
  const { lab, at } = await started(t);
  assert.deepEqual(await names(lab, 'dynamips'), []);
  assert.equal(existsSync(at()), false);
  assert.equal(await upload(lab, 'dynamips/images/sub/folder/c7200.image', IOS), 204);
  assert.deepEqual(await readdir(at('IOS/sub/folder')), ['c7200.image', 'c7200.image.md5sum']);
});

for (const [emulator, status] of [
  ['iou', 404],
  ['qemu', 409],
  ['dynamips', 409],
] as const) {
  test(`a missing ${emulator} image is ${status} and says which one, as a controller needs it to send it`, async (t) => {
    const { lab } = await started(t);
    const answer = await lab.request('GET', `/${emulator}/images/nope.bin`);
    const { message, ...rest } = answer.body;
    assert.deepEqual([answer.status, rest], [status, { exception: 'ImageMissingError', image: 'nope.bin', status }]);
    assert.match(message, /nope\.bin/);
  });
}

for (const spelled of [
  '../escape',
  '..%2fescape',
  '%2e%2e/escape',
  '%2E%2E%2F%2e%2e%2fescape',
  'a/../../escape',
  'a%2f..%2f..%2fescape',
  '/etc/hostname',
  '%2fetc%2fhostname',
  '..',
  '.',
  'a%00b',
  'a%5c..%5cescape',
  'out/secret',
  'link',
]) {
  test(`no image is read or written outside of the folder as ${spelled}`, async (t) => {
    const { lab, at } = await started(t);
    const outside = await scratchDirectory(t);
    await put(join(outside, 'secret'), 'secret text');
    await mkdir(at('IOU'), { recursive: true });
    await symlink(outside, at('IOU/out'));
    await symlink(join(outside, 'secret'), at('IOU/link'));
    for (const method of ['GET', 'POST']) {
      const answer = await lab.request(method, `/iou/images/${spelled}`, method === 'POST' ? 'evil' : undefined);
      // Images are looked up by comparing names, so that a strange one is only unknown.
      const unknown = method === 'GET' && ['link', 'a%00b', 'a%5c..%5cescape'].includes(spelled);
      assert.equal(answer.status, unknown ? 404 : 403, `${method}: ${JSON.stringify(answer.body)}`);
      assert.doesNotMatch(JSON.stringify(answer.body), /secret text/);
    }
    assert.deepEqual(await readdir(at()), ['IOU']);
    assert.deepEqual((await readdir(at('IOU'))).sort(), ['link', 'out']);
    assert.deepEqual(await readdir(outside), ['secret']);
    assert.equal(await readFile(join(outside, 'secret'), 'utf8'), 'secret text');
  });
}

for (const name of ['sub/x.bin', '.hidden', 'x.bin/']) {
  test(`an image is not downloaded as ${name}, which is not its plain name`, async (t) => {
    const { lab, at } = await started(t);
    await put(at('IOU/sub/x.bin'), IOU_64);
    await put(at('IOU/.hidden'), IOU_64);
    assert.equal((await lab.request('GET', `/iou/images/${name}`)).status, 403);
  });
}

test('a folder is never replaced by an image of its name', async (t) => {
  const { lab, at } = await started(t);
  await put(at('IOU/sub/x.bin'), IOU_64);
  assert.equal(await upload(lab, 'iou/images/sub', IOU_32), 409);
  assert.deepEqual((await readdir(at('IOU'))).sort(), ['sub']);
});

test('a checksum beside an image is believed, but not one that is older than the image or is none', async (t) => {
  const { lab, at } = await started(t);
  const old = new Date(1_000_000_000_000);
  for (const name of ['believed', 'older', 'other']) await put(at('QEMU', name), `content of ${name}`);
  await put(at('QEMU/believed.md5sum'), 'D41D8CD98F00B204E9800998ECF8427E');
  await put(at('QEMU/older.md5sum'), 'd41d8cd98f00b204e9800998ecf8427e');
  await utimes(at('QEMU/older.md5sum'), old, old);
  await put(at('QEMU/other.md5sum'), `${hash('md5', 'content of other')}  other\n`);
  const entries: { filename: string; md5sum: string }[] = await lab.expect(200, 'GET', '/qemu/images');
  assert.deepEqual(
    entries.map(({ md5sum }) => md5sum),
    ['d41d8cd98f00b204e9800998ecf8427e', hash('md5', 'content of older'), hash('md5', 'content of other')],
  );
  assert.equal(await readFile(at('QEMU/older.md5sum'), 'latin1'), hash('md5', 'content of older'));
  assert.equal(await readFile(at('QEMU/other.md5sum'), 'latin1'), hash('md5', 'content of other'));
});

test('an image that another program replaces is listed with its new checksum', async (t) => {
  const { lab, at } = await started(t);
  await upload(lab, 'qemu/images/disk', 'first content');
  assert.equal((await lab.expect(200, 'GET', '/qemu/images'))[0].md5sum, hash('md5', 'first content'));
  await put(at('QEMU/fresh'), 'other content');
  await rename(at('QEMU/fresh'), at('QEMU/disk'));
  const later = new Date(Date.now() + 5000);
  await utimes(at('QEMU/disk'), later, later);
  assert.equal((await lab.expect(200, 'GET', '/qemu/images'))[0].md5sum, hash('md5', 'other content'));
});

test('images of a folder that cannot be written are listed with their checksums', async (t) => {
  const place = await scratchFileSystem(t, '1M');
  if (place === undefined) return;
  const { lab } = await started(t, { additional_images_path: place });
  await put(join(place, 'disk'), 'content on a read-only disk');
  remountReadOnly(place);
  for (let time = 0; time < 2; time++) {
    assert.equal((await lab.expect(200, 'GET', '/qemu/images'))[0].md5sum, hash('md5', 'content on a read-only disk'));
  }
  assert.deepEqual(await readdir(place), ['disk']);
});

test('the thread that serves clients is free while a large image is summed up', async (t) => {
  const { lab, at } = await started(t);
  await mkdir(at('QEMU'), { recursive: true });
  const big = await open(at('QEMU/big'), constants.O_CREAT | constants.O_WRONLY);
  await big.write('disk image', 0);
  await big.truncate(512 * 1024 * 1024);
  await big.close();
  const before = performance.eventLoopUtilization();
  assert.deepEqual(await names(lab, 'qemu'), ['big']);
  const { utilization } = performance.eventLoopUtilization(before);
  assert.ok(utilization < 0.5, `busy for ${Math.round(utilization * 100)} % of the time`);
});

test('images uploaded at the same time under one name do not mix: one of them is there, with its checksum', async (t) => {
  const { lab, at } = await started(t);
  const contents = Array.from({ length: 8 }, (_, n) => Buffer.alloc(300_000 + n, n));
  const statuses = await Promise.all(contents.map((content) => upload(lab, 'qemu/images/disk', content)));
  assert.deepEqual(new Set(statuses), new Set([204]));
  const stored = await readFile(at('QEMU/disk'));
  assert.ok(contents.some((content) => content.equals(stored)));
  assert.equal(await readFile(at('QEMU/disk.md5sum'), 'latin1'), hash('md5', stored));
  assert.equal((await lab.expect(200, 'GET', '/qemu/images'))[0].md5sum, hash('md5', stored));
  assert.deepEqual((await readdir(at('QEMU'))).sort(), ['disk', 'disk.md5sum']);
});

test('an upload to a full disk is refused, and the image before it stays', async (t) => {
  const place = await scratchFileSystem(t, '2M');
  if (place === undefined) return;
  const { lab, at } = await started(t);
  await mkdir(at(), { recursive: true });
  await symlink(place, at('QEMU'));
  assert.equal(await upload(lab, 'qemu/images/disk', 'old content'), 204);
  assert.equal(await upload(lab, 'qemu/images/disk', Buffer.alloc(4_000_000)), 507);
  assert.equal((await lab.request('GET', '/qemu/images/disk')).body, 'old content');
  assert.deepEqual((await readdir(place)).sort(), ['disk', 'disk.md5sum']);
});

test('what a killed daemon has left of an upload goes at the next start', async (t) => {
  const state = await scratchDirectory(t);
  const leftover = join(state, 'images/IOU/sub/.x.bin.0123456789ab.labwire-tmp');
  await put(leftover, 'half an image');
  await put(join(state, 'images/IOU/sub/x.bin'), IOU_64);
  const lab = await startLab(t, {}, state);
  await eventually('the end of the leftover', () => !existsSync(leftover));
  assert.equal((await lab.request('GET', '/iou/images/x.bin')).status, 200);
});

/** The lab on a real socket; answers the beginning of an upload. */
async function listening(t: TestContext, lab: Lab): Promise<(path: string, length?: number) => ClientRequest> {
  const server = new HttpServer(lab.app, { host: '127.0.0.1', port: 0 });
  const { port } = await server.start();
  t.after(() => server.stop(0));
  return (path, length) => {
    const headers = length === undefined ? {} : { 'Content-Length': length };
    return request({ port, path: `/v2/compute/${path}`, method: 'POST', headers });
  };
}

for (const [how, length] of [
  ['with its length announced', 1_000_000],
  ['in chunks', undefined],
] as const) {
  test(`of an upload ${how} that is cut off nothing stays, and the image before it does`, async (t) => {
    const { lab, at } = await started(t);
    await upload(lab, 'qemu/images/disk', 'old content');
    const begin = await listening(t, lab);
    for (const path of ['qemu/images/disk', 'qemu/images/new/folder/disk']) {
      const sent = begin(path, length);
      sent.on('error', () => {});
      sent.write(Buffer.alloc(200_000));
      const folder = at(path.replace('qemu/images', 'QEMU'), '..');
      await eventually('the temporary file', async () =>
        (await readdir(folder).catch(() => [])).some((name) => name.endsWith('-tmp')),
      );
      sent.destroy();
      await eventually(
        'the end of the temporary file',
        async () => !(await readdir(folder).catch(() => [])).some((name) => name.endsWith('-tmp')),
      );
    }
    await eventually('two files', async () => (await readdir(at('QEMU'))).length === 2);
    assert.deepEqual((await readdir(at('QEMU'))).sort(), ['disk', 'disk.md5sum']);
    assert.equal((await lab.request('GET', '/qemu/images/disk')).body, 'old content');
  });
}

test('an image that arrives a few bytes at a time is there when it is whole, and not before', async (t) => {
  const { lab } = await started(t);
  const begin = await listening(t, lab);
  const slow = begin('qemu/images/slow');
  const answered = new Promise<number | undefined>((resolve, reject) => {
    slow.on('response', (response) => resolve(response.resume().statusCode));
    slow.on('error', reject);
  });
  for (let piece = 0; piece < 20; piece++) {
    slow.write(`piece ${piece}\n`);
    await sleep(20);
    assert.deepEqual(await names(lab, 'qemu'), []);
    assert.equal((await lab.request('GET', '/qemu/images/slow')).status, 409);
  }
  slow.end();
  assert.equal(await answered, 204);
  assert.deepEqual(await names(lab, 'qemu'), ['slow']);
});

test('an image that may not be read is left out of the list and refused by itself', async (t) => {
  if (process.getuid?.() === 0) return t.skip('root may read everything');
  const { lab, at } = await started(t);
  await upload(lab, 'qemu/images/disk', 'disk image');
  await upload(lab, 'qemu/images/locked', 'locked image');
  await chmod(at('QEMU/locked'), 0);
  assert.deepEqual(await names(lab, 'qemu'), ['disk']);
  assert.equal((await lab.request('GET', '/qemu/images/locked')).status, 403);
});
