import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { appendFile, mkdir, rename, rm, stat, symlink, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { cannotUnshare } from '../host/missing.ts';
import { scratchDirectory } from '../store/scratch.ts';
import { type Lab, startLab } from './support.ts';

const LIMIT = '/proc/sys/user/max_inotify_watches';

async function started(t: TestContext): Promise<{ lab: Lab; path: string; id: string; directory: string }> {
  const lab = await startLab(t);
  const path = await lab.project();
  const id = path.slice('/projects/'.length);
  return { lab, path, id, directory: join(lab.config.Server.projects_path, id) };
}

/** What was told about files, as `created a.txt`. */
function told(lab: Lab): string[] {
  return lab.messages
    .filter(({ action }) => action.startsWith('file.'))
    .map(({ action, event }) => `${action.slice('file.'.length)} ${(event as { path: string }).path}`);
}

test('a file that any program adds, changes or removes is reported with its path, size and time', async (t) => {
  const { lab, id, directory } = await started(t);
  const file = join(directory, 'note.txt');
  await writeFile(file, 'one');
  assert.deepEqual(await lab.told('file.created'), {
    project_id: id,
    path: 'note.txt',
    size: 3,
    mtime: (await stat(file)).mtimeMs / 1000,
  });
  await appendFile(file, ' two');
  assert.equal((await lab.told('file.updated')).size, 7);
  await unlink(file);
  assert.deepEqual(await lab.told('file.deleted'), { project_id: id, path: 'note.txt', size: null, mtime: null });
  assert.equal(lab.messages.find(({ action }) => action === 'file.deleted')?.projectId, id);
});

test('an upload is reported once, whether the file is new or replaced; an unfinished one is not reported', async (t) => {
  const { lab, path } = await started(t);
  await lab.expect(200, 'POST', `${path}/files/deep/er/a.bin`, 'x');
  await lab.told('file.created');
  await lab.expect(200, 'POST', `${path}/files/deep/er/a.bin`, 'longer');
  assert.equal((await lab.told('file.updated')).size, 6);
  await lab.expect(200, 'POST', `${path}/files/deep/er/last`, 'x');
  await lab.told('file.created', (file) => file.path === 'deep/er/last');
  assert.deepEqual(told(lab), ['created deep/er/a.bin', 'updated deep/er/a.bin', 'created deep/er/last']);
});

test('a file that is moved is reported at both places, a directory that goes is reported by its files', async (t) => {
  const { lab, directory } = await started(t);
  await mkdir(join(directory, 'a/b'), { recursive: true });
  await writeFile(join(directory, 'a/b/f'), 'x');
  await lab.told('file.created', ({ path }) => path === 'a/b/f');
  await rename(join(directory, 'a/b/f'), join(directory, 'g'));
  await lab.told('file.created', ({ path }) => path === 'g');
  await lab.told('file.deleted', ({ path }) => path === 'a/b/f');
  await writeFile(join(directory, 'a/b/h'), 'x');
  await lab.told('file.created', ({ path }) => path === 'a/b/h');
  await rm(join(directory, 'a'), { recursive: true });
  await lab.told('file.deleted', ({ path }) => path === 'a/b/h');
});

test('the topology and a capture that grows are not reported; that a capture appears and goes is', async (t) => {
  const { lab, directory } = await started(t);
  await writeFile(join(directory, 'lab.gns3'), '{}');
  await writeFile(join(directory, 'lab.gns3.backup'), '{}');
  const capture = join(directory, 'project-files/captures/c.pcap');
  await mkdir(join(capture, '..'), { recursive: true });
  await writeFile(capture, '');
  await lab.told('file.created');
  for (let n = 0; n < 20; n += 1) {
    await appendFile(capture, 'frame');
    await sleep(10);
  }
  await unlink(capture);
  await lab.told('file.deleted');
  await writeFile(join(directory, 'sub.gns3'), '{}');
  await writeFile(join(directory, 'last'), 'x');
  await lab.told('file.created', ({ path }) => path === 'last');
  const captured = 'project-files/captures/c.pcap';
  assert.deepEqual(told(lab), [`created ${captured}`, `deleted ${captured}`, 'created last']);
});

test('a file that is written all the time is reported now and then, at the end with its last size', async (t) => {
  const { lab, directory } = await started(t);
  const file = join(directory, 'log');
  await writeFile(file, '');
  await lab.told('file.created');
  const begin = performance.now();
  for (let n = 0; n < 60; n += 1) {
    await appendFile(file, 'line\n');
    await sleep(20);
  }
  await lab.told('file.updated', ({ size }) => size === 300);
  const updates = told(lab).filter((line) => line === 'updated log').length;
  const seconds = (performance.now() - begin) / 1000;
  assert.ok(updates <= 2 + seconds, `${updates} updates in ${seconds} s`);
});

test('links are reported, never followed', async (t) => {
  const { lab, directory } = await started(t);
  const outside = await scratchDirectory(t);
  await symlink(outside, join(directory, 'out'));
  await lab.told('file.created', ({ path }) => path === 'out');
  await writeFile(join(outside, 'secret'), 'x');
  await writeFile(join(directory, 'last'), 'x');
  await lab.told('file.created', ({ path }) => path === 'last');
  assert.deepEqual(told(lab), ['created out', 'created last']);
});

test('after closing nothing is reported any more', async (t) => {
  const { lab, path, directory } = await started(t);
  await lab.expect(204, 'POST', `${path}/close`);
  await writeFile(join(directory, 'late'), 'x');
  await sleep(200);
  assert.deepEqual(told(lab), []);
});

test('a watch limit that is reached is one warning with the fix, not the end', {
  skip: cannotUnshare('user namespaces', '--user', '--map-root-user', 'sh', '-c', `echo 5 > ${LIMIT}`),
}, () => {
  // Within a user namespace of its own the limit can be set without touching anybody else's.
  const script = `
    const { DirectoryWatcher } = await import(${JSON.stringify(join(import.meta.dirname, '../../src/compute/projects/watcher.ts'))});
    const { mkdtempSync, mkdirSync, rmSync, writeFileSync } = await import('node:fs');
    const directory = mkdtempSync('/tmp/labwire-watch-');
    for (let n = 0; n < 20; n += 1) mkdirSync(directory + '/' + n);
    const problems = [];
    const watcher = new DirectoryWatcher(directory, { file() {}, problem: (message) => problems.push(message) });
    await watcher.start();
    for (let n = 20; n < 40; n += 1) { mkdirSync(directory + '/' + n); writeFileSync(directory + '/' + n + '/f', 'x'); }
    while (problems.length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    await watcher.stop();
    rmSync(directory, { recursive: true });
    console.log(JSON.stringify(problems));`;
  const command = `echo 5 > ${LIMIT} && exec "$0" --input-type=module -e "$1"`;
  const arguments_ = ['--user', '--map-root-user', 'sh', '-c', command, process.execPath, script];
  const { status, stdout, stderr } = spawnSync('unshare', arguments_, { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  const problems: string[] = JSON.parse(stdout.trim().split('\n').at(-1)!);
  assert.equal(problems.length, 1, stdout);
  assert.match(problems[0]!, /fs\.inotify\.max_user_watches/);
});
