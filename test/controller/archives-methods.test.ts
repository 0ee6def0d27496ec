// Archives by every method of compression that releases 3.0 write, sound and broken.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { readdir, readFile, readlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { zstdCompressSync } from 'node:zlib';
import { DEFAULT_SEARCH_PATH } from '../../src/host/processes/program-path.ts';
import { BZIP2, DEFLATE, END_MARKER, LZMA, STORE, ZSTD } from '../../src/store/archive/methods.ts';
import type { Body } from '../body.ts';
import { cannotUnshare } from '../host/missing.ts';
import { seededIntegers } from '../seeded.ts';
import { Daemon } from '../system/daemon.ts';
import { FROM_SOURCE } from '../system/executable.ts';
import { entriesOf, testedByUnzip, unzipped, type ZipEntry, zip } from './archives-zip.ts';
import { LabServer, until } from './lab-server.ts';

const LZMA_HEAD = Buffer.from([9, 20, 5, 0]);

function by(program: string, words: string[], content: Buffer): Buffer {
  return execFileSync(program, words, { input: content, maxBuffer: 2 ** 28 });
}

/** As a zip file has it: xz writes the size (8 bytes) behind the properties, and an end marker. */
function lzma(content: Buffer): Buffer {
  const alone = by('xz', ['--format=lzma', '--stdout'], content);
  return Buffer.concat([LZMA_HEAD, alone.subarray(0, 5), alone.subarray(13)]);
}

const METHODS: Record<string, { method: number; flags: number; pack: (content: Buffer) => Buffer }> = {
  zstd: { method: ZSTD, flags: 0, pack: (content) => zstdCompressSync(content) },
  bzip2: { method: BZIP2, flags: 0, pack: (content) => by('bzip2', ['--stdout'], content) },
  lzma: { method: LZMA, flags: END_MARKER, pack: lzma },
};

function packed(
  how: keyof typeof METHODS,
  name: string,
  data: string | Buffer,
  more: Partial<ZipEntry> = {},
): ZipEntry {
  const { method, flags, pack } = METHODS[how]!;
  return { name, data, method, flags, packed: pack(Buffer.from(data)), ...more };
}

function topology(project_id = randomUUID() as string): string {
  const node = {
    ...{ node_id: randomUUID(), name: 'Hub', node_type: 'ethernet_hub', compute_id: 'local', aux: null },
    properties: { compute_id: 'local', usage: '' },
  };
  const contents = { computes: [], drawings: [], links: [], nodes: [node] };
  return JSON.stringify({
    type: 'topology',
    revision: 10,
    version: '3.0.6',
    project_id,
    name: 'l',
    topology: contents,
  });
}

async function sent(server: LabServer, archive: Buffer): Promise<{ id: string; status: number; answer: Body }> {
  const id = randomUUID();
  const body = new Uint8Array(archive);
  const response = await server.request(`/v2/projects/${id}/import`, { method: 'POST', body });
  return { id, status: response.status, answer: await response.json() };
}

/** The programs that this process has started. */
async function childNames(): Promise<string[]> {
  const children = await readFile(`/proc/self/task/${process.pid}/children`, 'utf8');
  const names = children
    .trim()
    .split(' ')
    .map((pid) => readFile(`/proc/${pid}/comm`, 'utf8').catch(() => ''));
  return (await Promise.all(names)).map((name) => name.trim());
}

async function openFiles(): Promise<string[]> {
  const names = await readdir('/proc/self/fd');
  return Promise.all(names.map((name) => readlink(`/proc/self/fd/${name}`).catch(() => '')));
}

/** Text and noise, of several blocks of each method. */
const LARGE = Buffer.concat([
  Buffer.alloc(2_000_000, 'a line of text\n'),
  randomBytes(1_200_000),
  Buffer.alloc(3_000_000),
]);

for (const how of Object.keys(METHODS)) {
  test(`a lab of 3.0 comes out of an archive by ${how}, with its files and a snapshot`, async (t) => {
    const server = await LabServer.start(t);
    const text = topology();
    const snapshot = zip([packed(how, 'project.gns3', text), packed(how, 'notes', 'of then')]);
    const archive = zip([
      packed(how, 'project.gns3', text),
      packed(how, 'large', LARGE),
      packed(how, 'empty', ''),
      packed(how, 'snapshots/one_010120_000000.gns3project', snapshot),
    ]);
    const { status, answer } = await sent(server, archive);
    assert.equal(status, 201, JSON.stringify(answer));
    assert.ok((await readFile(join(answer.path, 'large'))).equals(LARGE));
    assert.equal(await readFile(join(answer.path, 'empty'), 'utf8'), '');
    // Releases 2.2 restore no snapshot of revision 10.
    const inside = await unzipped(join(answer.path, 'snapshots/one_010120_000000.gns3project'));
    const { revision, project_id: id } = JSON.parse(inside['project.gns3']!);
    assert.deepEqual([revision, id], [9, answer.project_id]);
    const path = `/v2/projects/${answer.project_id}`;
    await server.expect(201, 'POST', `${path}/open`);
    const [one] = await server.expect(200, 'GET', `${path}/snapshots`);
    await server.expect(201, 'POST', `${path}/snapshots/${one.snapshot_id}/restore`);
    assert.equal(await readFile(join(answer.path, 'notes'), 'utf8'), 'of then');
    const [hub] = await server.expect(200, 'GET', `${path}/nodes`);
    assert.equal(hub.name, 'Hub');
  });
}

test('archives are exported by the method and level that a client asks for, by Zstandard to clients of 3.0 by default', async (t) => {
  const { server, project } = await LabServer.withLab(t);
  await writeFile(join(project.path, 'large'), LARGE);
  await writeFile(join(project.path, 'empty'), '');
  const sizes = new Map<string, number>();
  for (const [route, method] of [
    ['v2', DEFLATE],
    ['v2/?compression=lzma', LZMA],
    ['v3', ZSTD],
    ['v3/?compression=zstd&compression_level=1', ZSTD],
    ['v3/?compression=zstd&compression_level=19', ZSTD],
    ['v3/?compression=none', STORE],
    ['v3/?compression=zip', DEFLATE],
    ['v3/?compression=zip&compression_level=0', DEFLATE],
    ['v3/?compression=bzip2', BZIP2],
    ['v3/?compression=bzip2&compression_level=1', BZIP2],
    ['v3/?compression=lzma', LZMA],
  ] as const) {
    const [dialect, query = ''] = route.split('/');
    const response = await server.request(`/${dialect}/projects/${project.project_id}/export${query}`);
    assert.equal(response.status, 200, route);
    const archive = Buffer.from(await response.arrayBuffer());
    sizes.set(route, archive.length);
    // No Python of today knows Zstandard in zip files.
    if (method !== ZSTD) assert.match(testedByUnzip(archive) ?? 'Done testing', /Done testing/, route);
    const entries = await entriesOf(archive);
    assert.deepEqual([...entries.keys()].sort(), ['empty', 'large', 'project.gns3'], route);
    for (const [name, entry] of entries) assert.equal(entry.method, method, `${route}: ${name}`);
    assert.ok(entries.get('large')!.content.equals(LARGE), route);
    assert.equal((await sent(server, archive)).status, 201, route);
  }
  const size = (query: string): number => sizes.get(`v3/?compression=${query}`)!;
  assert.ok(size('zip&compression_level=0') > LARGE.length);
  assert.ok(size('zstd&compression_level=1') !== size('zstd&compression_level=19'));
  assert.ok(size('bzip2') !== size('bzip2&compression_level=1'));
});

/** Programs of methods, with their packages. */
const PROGRAMS = [
  { method: 'bzip2', program: 'bzip2', debian: 'bzip2' },
  { method: 'lzma', program: 'xz', debian: 'xz-utils' },
];

test('an export by a method whose program is missing is refused with the package to install; the others work', {
  skip: cannotUnshare('mount namespaces', '--mount', 'true'),
}, async () => {
  const hidden = PROGRAMS.flatMap(({ program }) =>
    DEFAULT_SEARCH_PATH.split(':').map((folder) => join(folder, program)),
  );
  const hide = `for file in ${hidden.join(' ')}; do ! [ -e $file ] || mount --bind /dev/null $(readlink -f $file); done; exec "$@"`;
  await using daemon = new Daemon({ program: ['unshare', '--mount', 'sh', '-c', hide, 'sh', ...FROM_SOURCE] });
  await daemon.start();
  const { project_id: id } = await daemon.post('/v2/projects', { name: 'lab' });
  for (const dialect of ['v2', 'v3']) {
    const ask = (method: string) => daemon.ask('GET', `/${dialect}/projects/${id}/export?compression=${method}`);
    for (const { method, program, debian } of PROGRAMS) {
      const { status, text } = await ask(method);
      assert.equal(status, 409, `${dialect}: ${method}`);
      const sentence = `compression: ${method} needs the program ${program}, which is missing. Install it (apt install ${debian})`;
      assert.ok(JSON.parse(text).message.startsWith(sentence), text);
    }
    for (const method of ['none', 'zip', 'zstd'])
      assert.equal((await ask(method)).status, 200, `${dialect}: ${method}`);
  }
});

test('an export by any method that its client leaves ends, with its files and programs', async (t) => {
  const { server, project } = await LabServer.withLab(t);
  await writeFile(join(project.path, 'large'), randomBytes(16 * 2 ** 20));
  for (const compression of ['none', 'zip', 'zstd', 'bzip2', 'lzma']) {
    const path = `/v3/projects/${project.project_id}/export?compression=${compression}`;
    const reader = (await server.request(path)).body!.getReader();
    assert.ok((await reader.read()).value!.length > 0);
    await reader.cancel();
    const names = ['bzip2', 'xz'];
    const left = async (): Promise<boolean> => (await childNames()).some((name) => names.includes(name));
    await until(async () => !(await left()), `${compression}: its program runs on`);
    await until(
      async () => !(await openFiles()).includes(join(project.path, 'large')),
      `${compression}: a file is open`,
    );
  }
});

test('broken contents by each method are refused with the reason, and leave nothing', async (t) => {
  const server = await LabServer.start(t);
  const good = { name: 'project.gns3', data: topology() };
  const content = randomBytes(700_000);
  for (const [how, { method, flags, pack }] of Object.entries(METHODS)) {
    const whole = pack(content);
    const bad = Buffer.from(whole);
    bad.fill(0x55, 5_000, 6_000);
    const broken: [what: string, entry: Partial<ZipEntry>, reason: RegExp][] = [
      ['garbage', { packed: Buffer.from('garbage, and nothing else in here') }, /damaged/],
      ['nothing', { packed: Buffer.alloc(0) }, /damaged/],
      ['half of it', { packed: whole.subarray(0, whole.length / 2) }, /damaged/],
      ['other bytes in the middle', { packed: bad }, /damaged/],
      ['more than it says', { size: 100 }, /more than the archive says/],
      ['less than it says', { size: content.length + 1 }, /less than the archive says|checksum|end too early/],
      ['a wrong checksum', { crc: 5 }, /checksum/],
      ['a topology that is broken', { name: 'project.gns3', packed: whole.subarray(0, 50) }, /damaged/],
    ];
    for (const [what, entry, reason] of broken) {
      const other = entry.name === undefined ? [good] : [];
      const archive = zip([...other, { name: 'x', data: content, method, flags, packed: whole, ...entry }]);
      const { status, answer } = await sent(server, archive);
      assert.equal(status, 409, `${how}, ${what}: ${JSON.stringify(answer)}`);
      assert.match(answer.message, reason, `${how}, ${what}`);
    }
  }
  const dictionary = Buffer.from(METHODS['lzma']!.pack(content));
  dictionary.writeUInt32LE(2 ** 30, 5);
  const large = { name: 'x', method: LZMA, flags: END_MARKER, packed: dictionary, size: 2 ** 30 };
  const refused = await sent(server, zip([good, large]));
  assert.equal(refused.status, 409);
  assert.match(refused.answer.message, /dictionary .* larger than 64 MiB; export/);
  assert.deepEqual(await readdir(join(server.state, 'projects')), []);
});

test('archives by each method with any bytes changed are taken or refused, and never half taken', async (t) => {
  const server = await LabServer.start(t);
  const seed = Number(process.env['LABWIRE_TEST_SEED'] ?? Date.now() % 2 ** 31);
  t.diagnostic(`LABWIRE_TEST_SEED=${seed}`);
  const next = seededIntegers(seed);
  for (const how of Object.keys(METHODS)) {
    const archive = zip([packed(how, 'project.gns3', topology()), packed(how, 'x', 'content'.repeat(500))]);
    for (let round = 0; round < 60; round += 1) {
      const changed = Buffer.from(archive);
      for (let change = 0; change <= next(3); change += 1) changed[next(changed.length)] = next(256);
      const { id, status } = await sent(server, next(10) === 0 ? changed.subarray(0, next(changed.length)) : changed);
      assert.ok(status === 201 || status === 409, `${how}: ${status}`);
      const names = await readdir(join(server.state, 'projects'));
      assert.deepEqual(names, status === 201 ? [id] : []);
      if (status === 201) await server.expect(204, 'DELETE', `/v2/projects/${id}`);
    }
  }
});
