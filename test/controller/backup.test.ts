// A backup that is made while a server works: a start from it has all that was acknowledged before it began.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { copyFile, lstat, mkdir, readdir, readFile, readlink, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { backUp } from '../../src/store/backup.ts';
import { CLUSTER_DATABASE } from '../../src/store/state-paths.ts';
import { Store } from '../../src/store/store.ts';
import { scratchDirectory } from '../store/scratch.ts';
import { LabServer } from './lab-server.ts';

const plan = (server: LabServer, target: string) => ({
  state: server.state,
  projects: join(server.state, 'projects'),
  target,
});

/** A new state directory with its database. */
async function newState(t: TestContext): Promise<string> {
  const state = await scratchDirectory(t);
  await using _store = await Store.open({ stateDirectory: state });
  return state;
}

test('a backup of a server at work has every change that was acknowledged before it began', async (t) => {
  const { server, project, path } = await LabServer.withLab(t, { auto_close: false });
  const hub = await server.hub(project, 'H1');
  const moveTo = (x: number) => server.expect(200, 'PUT', `${path}/nodes/${hub.node_id}`, { x });
  await moveTo(1);
  // The lab's file has it after a second of quiet; this one it has not.
  await moveTo(2);
  let x = 2;
  let stopped = false;
  const atWork = (async () => {
    while (!stopped) await moveTo(++x);
  })();
  const before = x;
  const target = join(await scratchDirectory(t), 'backup');
  const report = await backUp(plan(server, target));
  stopped = true;
  await atWork;
  assert.ok(report.files > 0 && report.bytes > 0);
  assert.deepEqual(
    (await readdir(target)).filter((name) => /^(lock|reserve|supervisor|labwire\.db-wal)$/.test(name)),
    [],
  );

  await server.stop();
  await rm(server.state, { recursive: true });
  await rename(target, server.state);
  await server.start();
  // It answers when the lab is open again.
  await server.expect(200, 'GET', `${path}/stats`);
  const restored = await server.expect(200, 'GET', `${path}/nodes/${hub.node_id}`);
  assert.ok(restored.x >= before && restored.x <= x, `${restored.x} is not from ${before} to ${x}`);
});

test('files keep their times, rights and links; what is half written, pipes and sockets stay behind', async (t) => {
  const { server, project } = await LabServer.withLab(t, { auto_close: false });
  const folder = join('projects', project.project_id, 'project-files');
  const [here, target] = [join(server.state, folder), join(await scratchDirectory(t), 'backup')];
  await mkdir(here, { recursive: true });
  await writeFile(join(here, 'disk'), 'content', { mode: 0o640 });
  await symlink('disk', join(here, 'link'));
  execFileSync('mkfifo', [join(here, 'pipe')]);
  await mkdir(join(server.state, 'projects', '.labwire-staging-x'));
  await backUp(plan(server, target));
  const there = join(target, folder);
  assert.deepEqual((await readdir(there)).sort(), ['disk', 'link']);
  assert.equal(await readlink(join(there, 'link')), 'disk');
  const [was, is] = [await lstat(join(here, 'disk')), await lstat(join(there, 'disk'))];
  assert.deepEqual([is.mode, Math.round(is.mtimeMs), is.size], [was.mode, Math.round(was.mtimeMs), was.size]);
  assert.ok(!(await readdir(join(target, 'projects'))).includes('.labwire-staging-x'));
});

test('projects that are kept elsewhere are copied, too', async (t) => {
  const server = await LabServer.start(t);
  const elsewhere = await scratchDirectory(t);
  await mkdir(join(elsewhere, 'one'), { recursive: true });
  await writeFile(join(elsewhere, 'one', 'lab.gns3'), '{}');
  const target = join(await scratchDirectory(t), 'backup');
  await backUp({ state: server.state, projects: elsewhere, target });
  assert.equal(await readFile(join(target, 'projects', 'one', 'lab.gns3'), 'utf8'), '{}');
});

test('a backup by root belongs to the owner of the state, its databases too', {
  skip: process.getuid?.() !== 0 && 'only root can give files away',
}, async (t) => {
  const state = await newState(t);
  await mkdir(join(state, dirname(CLUSTER_DATABASE)), { recursive: true });
  await copyFile(join(state, 'labwire.db'), join(state, CLUSTER_DATABASE));
  execFileSync('chown', ['-R', '65534:65533', state]);
  const target = join(await scratchDirectory(t), 'backup');
  await backUp({ state, projects: join(state, 'projects'), target });
  assert.equal((await lstat(join(target, CLUSTER_DATABASE))).mode & 0o777, 0o600);
  assert.equal(
    execFileSync('find', [target, '!', '(', '-uid', '65534', '-gid', '65533', ')'], { encoding: 'utf8' }),
    '',
  );
});

test('a backup that cannot be made is refused with the reason, and leaves nothing behind', async (t) => {
  const server = await LabServer.start(t);
  const place = await scratchDirectory(t);
  const taken = join(place, 'taken');
  await mkdir(taken);
  const refused: [string, Partial<ReturnType<typeof plan>>, RegExp][] = [
    ['is there already', { target: taken }, /taken is there already; choose/],
    ['within the state', { target: join(server.state, 'backup') }, /is within .*, which is copied/],
    ['no state', { state: join(place, 'nothing'), target: join(place, 'b') }, /there is no labwire\.db in .*--state/],
    ['no folder for it', { target: join(place, 'missing', 'b') }, /missing/],
  ];
  for (const [what, change, message] of refused)
    await assert.rejects(backUp({ ...plan(server, join(place, 'b')), ...change }), message, what);
  assert.deepEqual(await readdir(place), ['taken']);
  assert.deepEqual(
    (await readdir(dirname(join(server.state, 'x')))).filter((name) => name.includes('backup')),
    [],
  );
});
