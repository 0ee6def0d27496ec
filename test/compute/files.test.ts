import assert from 'node:assert/strict';
import { createHash, hash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { link, mkdir, readdir, readFile, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { scratchDirectory, scratchFileSystem } from '../store/scratch.ts';
import { type Lab, type Settings, startLab } from './support.ts';

/** A lab with one project: its path below `/v2/compute`, and its directory. */
async function started(
  t: TestContext,
  settings: Settings = {},
): Promise<{ lab: Lab; path: string; directory: string }> {
  const lab = await startLab(t, settings);
  const path = await lab.project();
  return { lab, path, directory: lab.directoryOf(path) };
}

test('a file comes back as it was written, with its length, its time and its type, and is listed with its checksum', async (t) => {
  const { lab, path, directory } = await started(t);
  const written = await lab.request('POST', `${path}/files/a/b/note.txt`, 'hällo\n');
  assert.deepEqual([written.status, written.body], [200, '']);
  await utimes(join(directory, 'a/b/note.txt'), 1_000_000_000, 1_000_000_000);
  const { status, body, headers } = await lab.request('GET', `${path}/files/a/b/note.txt`);
  assert.deepEqual([status, body], [200, 'hällo\n']);
  assert.equal(headers.get('content-length'), '7');
  assert.equal(headers.get('last-modified'), 'Sun, 09 Sep 2001 01:46:40 GMT');
  assert.match(headers.get('content-type') ?? '', /^text\/plain/);
  await lab.expect(200, 'POST', `${path}/files/empty`);
  assert.equal((await lab.request('GET', `${path}/files/empty`)).body, '');
  assert.deepEqual(await lab.expect(200, 'GET', `${path}/files`), [
    { path: 'a/b/note.txt', md5sum: hash('md5', 'hällo\n') },
    { path: 'empty', md5sum: hash('md5', '') },
  ]);
});

test('a file is answered with the media type of its name', async (t) => {
  const { lab, path } = await started(t);
  const types: Record<string, string> = {
    'capture.pcap': 'application/vnd.tcpdump.pcap',
    'config.TXT': 'text/plain; charset=utf-8',
    'data.json': 'application/json',
    'symbol.svg': 'image/svg+xml',
    'picture.png': 'image/png',
    'archive.zip': 'application/zip',
    'vm.qcow2': 'application/octet-stream',
    'startup.vpc': 'application/octet-stream',
    'no-extension': 'application/octet-stream',
    png: 'application/octet-stream',
  };
  for (const [name, type] of Object.entries(types)) {
    await lab.request('POST', `${path}/files/a/${name}`, '1');
    const { headers } = await lab.request('GET', `${path}/files/a/${name}`);
    assert.equal(headers.get('content-type'), type, name);
  }
});

test('a page that a user put into a project cannot act with the rights of this server', async (t) => {
  const { lab, path } = await started(t);
  await lab.request('POST', `${path}/files/page.html`, '<script>fetch("/v2/projects")</script>');
  const { headers } = await lab.request('GET', `${path}/files/page.html`);
  assert.match(headers.get('content-type') ?? '', /^text\/html/);
  assert.equal(headers.get('content-security-policy'), 'sandbox');
  assert.equal(headers.get('x-content-type-options'), 'nosniff');
});

for (const spelled of [
  '../escape',
  '..%2fescape',
  '%2e%2e/escape',
  '%2E%2E%2Fescape',
  'dir/../../escape',
  'dir%2f..%2f..%2fescape',
  '/etc/hostname',
  '%2fetc%2fhostname',
  '..',
  '.',
  'a%00b',
  'out/secret',
  'out.txt',
  '..%5cescape',
]) {
  test(`nothing outside of the project is read or written as ${spelled}`, async (t) => {
    const { lab, path, directory } = await started(t);
    const outside = await scratchDirectory(t);
    await writeFile(join(outside, 'secret'), 'secret');
    await mkdir(join(directory, 'dir'));
    await symlink(outside, join(directory, 'out'));
    await symlink(join(outside, 'secret'), join(directory, 'out.txt'));
    const before = await readdir(lab.config.Server.projects_path);
    for (const [method, body] of [
      ['GET', undefined],
      ['POST', 'evil'],
    ] as const) {
      const answer = await lab.request(method, `${path}/files/${spelled}`, body);
      assert.equal(answer.status, 403, `${method}: ${JSON.stringify(answer.body)}`);
      assert.doesNotMatch(JSON.stringify(answer.body), new RegExp(outside));
    }
    assert.deepEqual(await readdir(lab.config.Server.projects_path), before);
    assert.deepEqual(await readdir(outside), ['secret']);
    assert.equal(await readFile(join(outside, 'secret'), 'utf8'), 'secret');
  });
}

for (const [what, spelled, get, post] of [
  ['a missing file', 'missing', 404, 200],
  ['a missing file in a missing directory', 'no/such', 404, 200],
  ['a directory', 'dir', 409, 409],
  ['a path below a file', 'file/below', 404, 409],
  ['the empty path', '', 404, 404],
  ['a climb that stays inside', 'dir/../file', 200, 200],
] as const) {
  test(`${what} is answered with ${get} to reading and ${post} to writing`, async (t) => {
    const { lab, path, directory } = await started(t);
    await mkdir(join(directory, 'dir'));
    await writeFile(join(directory, 'file'), 'x');
    assert.equal((await lab.request('GET', `${path}/files/${spelled}`)).status, get);
    assert.equal((await lab.request('POST', `${path}/files/${spelled}`, 'y')).status, post);
  });
}

test('the list leaves out memory images and unfinished uploads, does not leave the project, and reads what hard links lead to', async (t) => {
  const { lab, path, directory } = await started(t);
  await mkdir(join(directory, 'sub'));
  for (const name of ['kept', 'x.ghost', 'sub/y.ghost', '.big.0123456789ab.labwire-tmp']) {
    await writeFile(join(directory, name), name);
  }
  await symlink('/etc', join(directory, 'etc'));
  await symlink('/etc/hostname', join(directory, 'hostname'));
  await link(join(directory, 'kept'), join(directory, 'sub/hard'));
  const files = await lab.expect(200, 'GET', `${path}/files`);
  assert.deepEqual(files, [
    { path: 'kept', md5sum: hash('md5', 'kept') },
    { path: 'sub/hard', md5sum: hash('md5', 'kept') },
  ]);
});

test('a thousand files are listed with the right checksums', async (t) => {
  const { lab, path, directory } = await started(t);
  await Promise.all(Array.from({ length: 1000 }, (_, n) => writeFile(join(directory, `f${n}`), `content ${n}`)));
  const files: { path: string; md5sum: string }[] = await lab.expect(200, 'GET', `${path}/files`);
  assert.equal(files.length, 1000);
  for (const file of files) assert.equal(file.md5sum, hash('md5', `content ${file.path.slice(1)}`), file.path);
});

test('files are listed with size and time of change for those who ask for details', async (t) => {
  const { lab, path, directory } = await started(t);
  await writeFile(join(directory, 'notes'), 'seven b');
  await utimes(join(directory, 'notes'), 1_000, 1_000);
  assert.deepEqual(await lab.expect(200, 'GET', `${path}/files?details=yes`), [
    { path: 'notes', size: 7, modified: 1_000_000 },
  ]);
});

test('an upload far larger than what may be in memory arrives whole, and a shorter one leaves nothing of it', async (t) => {
  const { lab, path, directory } = await started(t);
  const piece = randomBytes(1024 * 1024);
  let left = 300;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (left-- > 0) controller.enqueue(piece);
      else controller.close();
    },
  });
  const before = process.memoryUsage().rss;
  const response = await lab.app.request(`/v2/compute${path}/files/big`, { method: 'POST', body });
  assert.equal(response.status, 200);
  const after = process.memoryUsage().rss;
  assert.ok(after - before < 200 * 1024 * 1024, `${after - before} bytes more are resident`);
  const download = await lab.app.request(`/v2/compute${path}/files/big`);
  assert.equal(download.headers.get('content-length'), String(300 * piece.length));
  let received = 0;
  const hash = createHash('md5');
  for await (const chunk of download.body!) {
    received += chunk.length;
    hash.update(chunk);
  }
  assert.equal(received, 300 * piece.length);
  const [listed] = await lab.expect(200, 'GET', `${path}/files`);
  assert.equal(hash.digest('hex'), listed.md5sum);
  await lab.expect(200, 'POST', `${path}/files/big`, 'short');
  assert.equal(await readFile(join(directory, 'big'), 'utf8'), 'short');
});

test('an upload that breaks off leaves the old file and nothing else', async (t) => {
  const { lab, path, directory } = await started(t);
  await lab.expect(200, 'POST', `${path}/files/kept`, 'old');
  for (const name of ['kept', 'new/deep']) {
    const gone = new AbortController();
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        controller.enqueue(Buffer.from('begun'));
        await new Promise((resolve) => setTimeout(resolve, 20));
        gone.abort();
        controller.error(new Error('the connection was reset'));
      },
    });
    const target = `/v2/compute${path}/files/${name}`;
    const response = await lab.app.request(target, { method: 'POST', body, signal: gone.signal });
    assert.equal(response.status, 408, await response.text());
  }
  assert.deepEqual(await readdir(directory), ['kept']);
  assert.equal(await readFile(join(directory, 'kept'), 'utf8'), 'old');
});

test('an upload onto a full disk is refused with 507, and the old file stays', async (t) => {
  const disk = await scratchFileSystem(t, '1M');
  if (disk === undefined) return;
  const { lab, path } = await started(t, { projects_path: join(disk, 'projects') });
  await lab.expect(200, 'POST', `${path}/files/kept`, 'old');
  const { status, body } = await lab.request('POST', `${path}/files/kept`, 'x'.repeat(2_000_000));
  assert.equal(status, 507);
  assert.match(body.message, /^kept: no space/);
  assert.equal((await lab.request('GET', `${path}/files/kept`)).body, 'old');
});

test('files of a project that is not open are not served, though they are there', async (t) => {
  const { lab, path, directory } = await started(t);
  await lab.expect(200, 'POST', `${path}/files/kept`, 'old');
  await lab.expect(204, 'POST', `${path}/close`);
  await lab.expect(404, 'GET', `${path}/files/kept`);
  await lab.expect(404, 'POST', `${path}/files/kept`, 'new');
  assert.ok(existsSync(join(directory, 'kept')));
});
