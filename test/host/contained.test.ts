import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { chmod, link, mkdir, readdir, readFile, readlink, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { openContainedForRead, removeContained, writeContained } from '../../src/host/files/contained-files.ts';
import { listContained } from '../../src/host/files/contained-tree.ts';
import { failure, scratchDirectory } from '../store/scratch.ts';

const CANARY = 'CANARY: must never be read or written';

interface Tree {
  /** The directory that nothing may leave. */
  root: string;
  /** Everything around it, as it was made: path -> kind and content. */
  outside(): Record<string, string>;
}

/**
 * A project directory among things that must never be touched. Beside the root lie `canary.txt`, `secret/canary.txt`
 * and `project-evil/canary.txt` (whose name begins like the root's).
 */
async function tree(t: TestContext): Promise<Tree> {
  const around = await scratchDirectory(t);
  const root = join(around, 'project');
  await mkdir(join(root, 'dir/sub'), { recursive: true });
  await mkdir(join(around, 'secret'));
  await mkdir(join(around, 'project-evil'));
  for (const path of ['canary.txt', 'secret/canary.txt', 'project-evil/canary.txt']) {
    await writeFile(join(around, path), CANARY);
  }
  execFileSync('mkfifo', [join(around, 'secret/fifo')]);
  await writeFile(join(root, 'hello.txt'), 'hello');
  await writeFile(join(root, 'dir/inside.txt'), 'inside');
  await writeFile(join(root, 'dir/sub/deep.txt'), 'deep');
  return { root, outside: () => snapshot(around, 'project') };
}

function snapshot(directory: string, except: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of readdirSync(directory)) {
    if (name === except) continue;
    const path = join(directory, name);
    const status = lstatSync(path);
    found[path] = status.isFile() ? readFileSync(path, 'utf8') : `mode ${status.mode.toString(8)}`;
    if (status.isDirectory()) Object.assign(found, snapshot(path, ''));
  }
  return found;
}

/** Links that lead out of the root in every way, by name. */
async function plantLinks({ root }: Tree): Promise<string[]> {
  const around = join(root, '..');
  const links: Record<string, string> = {
    'link-relative': '../canary.txt',
    'link-absolute': join(around, 'canary.txt'),
    'link-sibling': '../project-evil/canary.txt',
    'link-chain': 'link-relative',
    'link-loop': 'link-loop',
    'link-loop-a': 'link-loop-b',
    'link-loop-b': 'link-loop-a',
    'link-dangling': '../new.txt',
    'link-dangling-deep': '../secret/new/new.txt',
    'link-fifo': '../secret/fifo',
    'link-null': '/dev/null',
    'link-zero': '/dev/zero',
    'link-environ': '/proc/self/environ',
    'link-stdin': '/proc/self/fd/0',
    'link-mem': '/proc/self/mem',
    'dir/link-up': '../../canary.txt',
    'dir/link-long': `${'../dir/'.repeat(30)}../../canary.txt`,
    'to-outside': '../secret',
    'to-parent': '..',
    'to-sibling': '../project-evil',
    'to-slash': '/',
    'to-proc-root': '/proc/self/root',
    'to-proc-cwd': '/proc/self/cwd',
    'to-dev': '/dev',
    'to-chain': 'to-outside',
    'dir/to-outside': '../../secret',
    'to-dangling': '../nowhere',
  };
  for (const [name, target] of Object.entries(links)) await symlink(target, join(root, name));
  const through = [
    'to-outside/canary.txt',
    'to-outside/new.txt',
    'to-outside/new/new.txt',
    'to-outside/fifo',
    'to-parent/canary.txt',
    'to-parent/new.txt',
    'to-parent/secret/canary.txt',
    'to-sibling/canary.txt',
    'to-sibling/new.txt',
    'to-chain/canary.txt',
    'to-chain/new.txt',
    'dir/to-outside/canary.txt',
    'dir/to-outside/new.txt',
    'dir/../dir/to-outside/canary.txt',
    'to-dangling/new.txt',
    'to-dangling/new/new.txt',
    'link-relative/x',
    'link-loop/x',
    `to-slash${around}/canary.txt`,
    `to-slash${around}/new.txt`,
    `to-proc-root${around}/canary.txt`,
    'to-slash/etc/passwd',
    'to-proc-root/etc/passwd',
    'to-proc-cwd/package.json',
    'to-dev/null',
    'to-dev/shm/labwire-test-new',
    'to-slash/tmp/labwire-test-new',
    `to-parent/project/to-parent/canary.txt`,
    `to-parent/project/to-parent/new.txt`,
  ];
  return [...Object.keys(links), ...through];
}

/** Spellings (percent-decoded once, as a route hands them over) that try to climb, or are no path of a file at all. */
function spellings(root: string): string[] {
  const climbs = [
    '..',
    './..',
    '././..',
    './/..',
    'dir/../..',
    'dir//../..',
    'dir/./../..',
    'dir/sub/../../..',
    'dir/../dir/../..',
    'missing/../..',
    'missing/../../project/..',
    'hello.txt/../..',
    '../project/..',
    'dir/sub/../../../project/..',
    '../..',
    '../../..',
  ];
  const targets = ['canary.txt', 'secret/canary.txt', 'new.txt', 'project-evil/canary.txt'];
  const other = [
    ...[
      '',
      '.',
      './',
      './.',
      '..',
      '../',
      './../',
      'dir/..',
      'dir/../',
      'dir/.././.',
      'dir/../..',
      '../project',
      '//',
      '/',
    ],
    ...[
      '/canary.txt',
      '//canary.txt',
      '/etc/passwd',
      '//etc/passwd',
      '///etc/passwd',
      '/../etc/passwd',
      '/./etc/passwd',
    ],
    ...[join(root, 'hello.txt'), join(root, '../canary.txt'), `/${join(root, 'hello.txt')}`, '/proc/self/environ'],
    ...['~/canary.txt', '~root/.profile', '$HOME/canary.txt', 'file:///etc/passwd', 'C:\\canary.txt', 'C:/canary.txt'],
    ...[
      '..\\canary.txt',
      'dir\\..\\..\\canary.txt',
      '\\canary.txt',
      '..\\/canary.txt',
      '.\\./canary.txt',
      '\\\\host\\share',
    ],
    ...['%2e%2e/canary.txt', '%2e%2e%2fcanary.txt', '..%2fcanary.txt', '..%5ccanary.txt', '%252e%252e/canary.txt'],
    ...[
      '\uff0e\uff0e/canary.txt',
      '\u2025/canary.txt',
      '..\u2215canary.txt',
      '..\u2044canary.txt',
      '..\uff0fcanary.txt',
    ],
    ...[
      '..\u0000/canary.txt',
      '../canary.txt\u0000',
      'hello.txt\u0000',
      '\u0000',
      'hello.txt\u0000/../../canary.txt',
      'dir/\u0000',
    ],
    ...[
      '.. /canary.txt',
      ' ../canary.txt',
      '.../canary.txt',
      '..;/canary.txt',
      '..\n/canary.txt',
      '\t../canary.txt',
      '..\r',
    ],
    ...[
      'x'.repeat(256),
      `${'x'.repeat(300)}/y`,
      'x/'.repeat(2100),
      `${'../'.repeat(1500)}etc/passwd`,
      '../'.repeat(5000),
    ],
    ...[`${'a/'.repeat(101)}b`, `${'dir/../'.repeat(500)}../canary.txt`],
    ...['hello.txt/below', 'hello.txt/below/further', '\ud800', 'dir/\udfff/../../../canary.txt'],
  ];
  return [...climbs.flatMap((climb) => targets.map((target) => `${climb}/${target}`)), ...other];
}

/** Descriptors that this process has open. */
async function openDescriptors(): Promise<string[]> {
  const names = await readdir('/proc/self/fd');
  const open = await Promise.all(names.map((name) => readlink(`/proc/self/fd/${name}`).catch(() => '')));
  return open.filter((place) => place.includes('labwire-test-'));
}

async function readText(root: string, path: string): Promise<string> {
  const { handle } = await openContainedForRead(root, path);
  try {
    return await handle.readFile('utf8');
  } finally {
    await handle.close();
  }
}

const foreseen = ['forbidden', 'not-found', 'conflict'];

function mustBeForeseen(error: unknown, path: string): void {
  const code = (error as { code?: string }).code ?? '';
  assert.ok((error as Error).name === 'Failure' && foreseen.includes(code), `${JSON.stringify(path)}: ${error}`);
}

test('no spelling and no link leads to a file outside of the project, be it to read, to write or to remove it', async (t) => {
  const place = await tree(t);
  const links = await plantLinks(place);
  const corpus = [...spellings(place.root), ...links];
  assert.ok(corpus.length > 150);
  const before = place.outside();
  for (const path of corpus) {
    await readText(place.root, path).then(
      (text) => assert.fail(`${JSON.stringify(path)} was read: ${text.slice(0, 80)}`),
      (error) => (error instanceof assert.AssertionError ? assert.fail(error) : mustBeForeseen(error, path)),
    );
  }
  for (const path of corpus) {
    for (const createParents of [false, true]) {
      // Some of them are nothing but odd names, which may be written inside.
      await writeContained(place.root, path, 'evil', { createParents }).catch((error) => mustBeForeseen(error, path));
    }
  }
  assert.deepEqual(place.outside(), before);
  for (const path of corpus) await removeContained(place.root, path).catch((error) => mustBeForeseen(error, path));
  assert.deepEqual(place.outside(), before);
  for await (const { path } of listContained(place.root)) assert.notEqual(await readText(place.root, path), CANARY);
  assert.deepEqual(await openDescriptors(), []);
  await assert.rejects(stat('/dev/shm/labwire-test-new'));
  await assert.rejects(stat('/tmp/labwire-test-new'));
});

test('what climbs out, is absolute, empty or malformed is forbidden, whether or not it exists', async (t) => {
  const { root } = await tree(t);
  const forbidden = [
    '..',
    '.',
    '',
    '../x',
    'dir/../..',
    '../project/hello.txt',
    '/etc/passwd',
    '//etc/passwd',
    'a\0b',
    '..\\x',
  ];
  for (const path of forbidden) {
    await assert.rejects(openContainedForRead(root, path), failure('forbidden'), path);
    await assert.rejects(writeContained(root, path, 'x', { createParents: true }), failure('forbidden'), path);
    await assert.rejects(removeContained(root, path), failure('forbidden'), path);
  }
});

test('what a link leads to outside is refused in the same words, whether it is there or not', async (t) => {
  const { root } = await tree(t);
  const outside = join(root, '../secret');
  await symlink(join(outside, 'canary.txt'), join(root, 'there'));
  await symlink(join(outside, 'nothing'), join(root, 'gone'));
  await symlink('../outside-of-it/../nothing', join(root, 'gone-too'));
  await symlink('gone', join(root, 'chain'));
  await symlink(outside, join(root, 'folder'));
  await symlink(join(outside, 'nothing'), join(root, 'no-folder'));
  await symlink('nothing', join(root, 'dangling'));
  const told = async (path: string, ask: (path: string) => Promise<unknown>): Promise<string> => {
    const error = await ask(path).then(
      () => assert.fail(`${path} was not refused`),
      (thrown: Error & { code?: string }) => thrown,
    );
    return `${error.code} ${error.message.replaceAll(path, '<path>')}`;
  };
  const paths = [
    'there',
    'gone',
    'gone-too',
    'chain',
    'folder/canary.txt',
    'folder/nothing',
    'no-folder/x',
    'there/x',
    'gone/x',
  ];
  const asks: [string[], (path: string) => Promise<unknown>][] = [
    [paths, (path) => openContainedForRead(root, path)],
    [paths, (path) => writeContained(root, path, 'x', { createParents: false })],
    [paths, (path) => writeContained(root, path, 'x', { createParents: true })],
    [paths.filter((path) => path.includes('/')), (path) => removeContained(root, path)],
  ];
  for (const [asked, ask] of asks) {
    const answers = await Promise.all(asked.map((path) => told(path, ask)));
    assert.deepEqual([...new Set(answers)], ['forbidden <path>: it leads outside of the directory']);
  }
  // A link to nothing inside is a file that is not there.
  assert.match(await told('dangling', asks[0]![1]), /^not-found /);
});

test('links that lead outside are forbidden, even if nothing is there yet', async (t) => {
  const place = await tree(t);
  await plantLinks(place);
  for (const path of [
    'link-relative',
    'link-absolute',
    'link-sibling',
    'link-chain',
    'to-outside/canary.txt',
    'link-loop',
    'link-null',
  ]) {
    await assert.rejects(openContainedForRead(place.root, path), failure('forbidden'), path);
  }
  for (const path of [
    'link-relative',
    'link-dangling',
    'link-loop',
    'to-outside/new.txt',
    'to-dangling/new.txt',
    'link-null',
  ]) {
    await assert.rejects(writeContained(place.root, path, 'x', { createParents: true }), failure('forbidden'), path);
  }
});

test('dot segments that stay inside and links that stay inside work', async (t) => {
  const { root } = await tree(t);
  await symlink('dir/inside.txt', join(root, 'link'));
  await symlink(join(root, 'dir'), join(root, 'link-to-dir'));
  await symlink('.', join(root, 'link-to-root'));
  for (const [path, text] of Object.entries({
    'hello.txt': 'hello',
    './hello.txt': 'hello',
    'dir/../hello.txt': 'hello',
    'missing/../hello.txt': 'hello',
    'dir//inside.txt': 'inside',
    'dir/inside.txt/': 'inside',
    link: 'inside',
    'link-to-dir/inside.txt': 'inside',
    'link-to-root/link-to-root/link': 'inside',
  })) {
    assert.equal(await readText(root, path), text, path);
  }
  await writeContained(root, 'link', 'through the link', { createParents: false });
  assert.equal(await readFile(join(root, 'dir/inside.txt'), 'utf8'), 'through the link');
  assert.ok(lstatSync(join(root, 'link')).isSymbolicLink());
  await writeContained(root, 'link-to-dir/sub/new.txt', 'new', { createParents: false });
  assert.equal(await readFile(join(root, 'dir/sub/new.txt'), 'utf8'), 'new');
  await removeContained(root, 'link');
  assert.equal(await readFile(join(root, 'dir/inside.txt'), 'utf8'), 'through the link');
});

test('each kind of thing that is no regular file is distinguished, and none of them blocks', async (t) => {
  const { root } = await tree(t);
  execFileSync('mkfifo', [join(root, 'fifo')]);
  const server = createServer().listen(join(root, 'socket'));
  t.after(() => server.close());
  for (const path of ['fifo', 'socket']) {
    await assert.rejects(openContainedForRead(root, path), failure('forbidden', /device, pipe or socket/), path);
    await assert.rejects(
      writeContained(root, path, 'x', { createParents: false }),
      failure('forbidden', /device/),
      path,
    );
  }
  await assert.rejects(openContainedForRead(root, 'dir'), failure('conflict', /dir: it is a directory/));
  await assert.rejects(
    writeContained(root, 'dir', 'x', { createParents: true }),
    failure('conflict', /it is a directory/),
  );
  await assert.rejects(removeContained(root, 'dir'), failure('conflict', /it is a directory/));
  await assert.rejects(openContainedForRead(root, 'missing.txt'), failure('not-found'));
  await assert.rejects(openContainedForRead(root, 'hello.txt/below'), failure('not-found'));
  await assert.rejects(
    writeContained(root, 'hello.txt/below', 'x', { createParents: true }),
    failure('conflict', /is a file/),
  );
  await assert.rejects(openContainedForRead(join(root, 'gone'), 'x'), failure('not-found'));
  assert.equal(await readFile(join(root, 'hello.txt'), 'utf8'), 'hello');
});

test('a written file replaces the old one as a whole and keeps its permissions; parents are made only if asked for', async (t) => {
  const { root } = await tree(t);
  await chmod(join(root, 'hello.txt'), 0o751);
  await writeContained(root, 'hello.txt', Buffer.from([0, 255, 10]), { createParents: false });
  assert.deepEqual([...(await readFile(join(root, 'hello.txt')))], [0, 255, 10]);
  assert.equal((await stat(join(root, 'hello.txt'))).mode & 0o777, 0o751);
  await assert.rejects(writeContained(root, 'new/a/b.txt', 'x', { createParents: false }), failure('not-found'));
  await assert.rejects(stat(join(root, 'new')));
  await writeContained(root, 'new/a/b.txt', new Blob(['streamed']).stream(), { createParents: true });
  assert.equal(await readFile(join(root, 'new/a/b.txt'), 'utf8'), 'streamed');
});

test('a path that is too long to copy and remove everywhere is not written', async (t) => {
  const { root } = await tree(t);
  const long = [...Array.from({ length: 12 }, () => 'd'.repeat(240)), 'e'.repeat(108)].join('/');
  assert.equal(long.length, 3_000);
  await assert.rejects(
    writeContained(root, `${long}e`, 'x', { createParents: true }),
    failure('forbidden', /^path: 3001 bytes long; use at most 3000/),
  );
  assert.deepEqual((await readdir(root)).sort(), ['dir', 'hello.txt']);
  await writeContained(root, `dir/../${long}`, 'x', { createParents: true });
  assert.equal(await readFile(join(root, long), 'utf8'), 'x');
});

test('an upload that breaks off leaves nothing behind, not even the folders made for it', async (t) => {
  const { root } = await tree(t);
  const broken = async function* () {
    yield Buffer.alloc(100_000);
    throw new Error('the client went away');
  };
  await assert.rejects(writeContained(root, 'new/a/file.bin', broken(), { createParents: true }), /went away/);
  await assert.rejects(writeContained(root, 'dir/more/file.bin', broken(), { createParents: true }), /went away/);
  await assert.rejects(writeContained(root, 'hello.txt', broken(), { createParents: true }), /went away/);
  assert.deepEqual((await readdir(root, { recursive: true })).sort(), [
    'dir',
    'dir/inside.txt',
    'dir/sub',
    'dir/sub/deep.txt',
    'hello.txt',
  ]);
  assert.equal(await readFile(join(root, 'hello.txt'), 'utf8'), 'hello');
  assert.deepEqual(await openDescriptors(), []);
});

test('uploads of one file at the same time end in one of them, never in a mixture', async (t) => {
  const { root } = await tree(t);
  const uploads = Array.from({ length: 20 }, (_, index) => Buffer.alloc(50_000, index));
  await Promise.all(uploads.map((data) => writeContained(root, 'both/file.bin', data, { createParents: true })));
  const found = await readFile(join(root, 'both/file.bin'));
  assert.ok(uploads.some((data) => data.equals(found)));
  assert.deepEqual(await readdir(join(root, 'both')), ['file.bin']);
});

test('names of unfinished uploads cannot be taken, and unfinished uploads are not listed', async (t) => {
  const { root } = await tree(t);
  const name = '.hello.txt.0123456789ab.labwire-tmp';
  await assert.rejects(
    writeContained(root, name, 'x', { createParents: false }),
    failure('forbidden', /the server's own/),
  );
  await writeFile(join(root, name), 'half');
  const listed: string[] = [];
  for await (const { path } of listContained(root)) listed.push(path);
  assert.deepEqual(listed.sort(), ['dir/inside.txt', 'dir/sub/deep.txt', 'hello.txt']);
});

test('the list has every regular file of the project and nothing else', async (t) => {
  const place = await tree(t);
  await plantLinks(place);
  const { root } = place;
  await symlink('dir', join(root, 'link-to-dir'));
  await symlink('dir/inside.txt', join(root, 'link-inside'));
  await symlink('.', join(root, 'dir/link-to-itself'));
  await link(join(root, 'hello.txt'), join(root, 'dir/hard-link.txt'));
  await mkdir(join(root, 'empty'));
  await writeFile(join(root, 'dir/ü \u{1f5a7}.txt'), 'unicode');
  execFileSync('mkfifo', [join(root, 'fifo')]);
  const sizes: Record<string, number> = {};
  for await (const { path, stat: status } of listContained(root)) sizes[path] = status.size;
  assert.deepEqual(sizes, {
    'hello.txt': 5,
    'link-inside': 6,
    'dir/inside.txt': 6,
    'dir/hard-link.txt': 5,
    'dir/ü \u{1f5a7}.txt': 7,
    'dir/sub/deep.txt': 4,
  });
  for await (const { path } of listContained(root)) {
    assert.ok(path);
    break; // who stops early leaves no descriptor open either
  }
  assert.deepEqual(await openDescriptors(), []);
});

/** A program that swaps a directory and a file for links and back, as fast as it can, until it is ended. */
const SWAPPER = `
const { lstatSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } = require('node:fs');
process.chdir(process.argv[1]);
process.stdout.write('ready');
for (;;) {
  try {
    for (const name of ['trap', 'real', 'new-link']) rmSync(name, { recursive: true, force: true });
    if (lstatSync('swap', { throwIfNoEntry: false })?.isSymbolicLink()) rmSync('swap');
    mkdirSync('swap', { recursive: true });
    writeFileSync('swap/canary.txt', 'inside');
    for (let turn = 0; turn < 1000; turn += 1) {
      symlinkSync('../secret', 'trap');
      renameSync('swap', 'real'); renameSync('trap', 'swap');
      rmSync('swap'); renameSync('real', 'swap');
      symlinkSync('../canary.txt', 'new-link'); renameSync('new-link', 'file.txt');
      writeFileSync('new-file', 'inside'); renameSync('new-file', 'file.txt');
    }
  } catch {
    // While swap is away a write that makes parents may take its place: set everything up again.
  }
}`;

test('a directory or file that is swapped for a link in the middle of a call never leads outside', async (t) => {
  const { root, outside } = await tree(t);
  await mkdir(join(root, 'swap'));
  await writeFile(join(root, 'swap/canary.txt'), 'inside');
  await writeFile(join(root, 'file.txt'), 'inside');
  const before = outside();
  const swapper = spawn(process.execPath, ['-e', SWAPPER, root], { stdio: ['ignore', 'pipe', 'inherit'] });
  await using _ended = {
    // Before the directory is removed, or that would never come to an end.
    async [Symbol.asyncDispose]() {
      const exit = once(swapper, 'exit');
      swapper.kill('SIGKILL');
      await exit;
    },
  };
  await once(swapper.stdout, 'data');

  const outcomes: Record<string, number> = { done: 0 };
  const attempt = async (call: Promise<unknown>) => {
    try {
      assert.notEqual(await call, CANARY);
      outcomes['done']! += 1;
    } catch (error) {
      if (error instanceof assert.AssertionError) throw error;
      mustBeForeseen(error, 'swap');
      const { code } = error as { code: string };
      outcomes[code] = (outcomes[code] ?? 0) + 1;
    }
  };
  const enough = () => outcomes['done']! >= 200 && (outcomes['forbidden'] ?? 0) >= 200;
  for (let round = 0; round < 20_000 && (round < 400 || !enough()); round += 1) {
    await Promise.all([
      attempt(readText(root, 'swap/canary.txt')),
      attempt(readText(root, 'file.txt')),
      attempt(writeContained(root, 'swap/new.txt', 'inside', { createParents: true })),
      attempt(writeContained(root, `swap/deep${round % 7}/new.txt`, 'inside', { createParents: true })),
      attempt(writeContained(root, 'file.txt', 'inside', { createParents: false })),
      attempt(removeContained(root, 'swap/new.txt')),
    ]);
    if (round % 20 === 0) {
      for await (const { path } of listContained(root)) await attempt(readText(root, path));
    }
  }
  assert.equal(swapper.exitCode, null);
  t.diagnostic(JSON.stringify(outcomes));
  assert.ok(enough(), 'the race was not met often enough to prove anything');
  assert.deepEqual(outside(), before);
});
