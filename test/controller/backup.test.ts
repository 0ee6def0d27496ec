// A backup that is made while a server works: a start from it has all that was acknowledged before it began.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { copyFile, lstat, mkdir, readdir, readFile, readlink, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { type TestContext, test } from 'node:test';
import { exists } from '../../src/host/files/exists.ts';
import { isBelow, relativeBelow } from '../../src/host/files/relative-path.ts';
import { removeTree } from '../../src/host/files/remove-tree.ts';
import { backUp } from '../../src/store/backup.ts';
import type { ProjectRecord } from '../../src/store/projects.ts';
import { CLUSTER_DATABASE } from '../../src/store/state-paths.ts';
import { Store } from '../../src/store/store.ts';
import { failure, makeDeepFolder, scratchDirectory } from '../store/scratch.ts';
import { LabServer } from './lab-server.ts';

const plan = (server: LabServer, target: string) => ({
  state: server.state,
  projects: join(server.state, 'projects'),
  target,
});

/** A state directory, by default a new one, whose database has these labs of `projects`. */
async function stateWith(t: TestContext, at?: string, projects = '', labs: string[] = []): Promise<string> {
  const state = at ?? (await scratchDirectory(t));
  await using store = await Store.open({ stateDirectory: state });
  for (const name of labs) {
    const record = { project_id: randomUUID(), name, path: join(projects, name), filename: `${name}.gns3` };
    await store.projects.put(record as ProjectRecord);
  }
  return state;
}

/** Where the labs of a state directory are, for a server on it. */
async function pathsIn(state: string): Promise<string[]> {
  await using store = await Store.open({ stateDirectory: state });
  return (await store.projects.list()).map(({ path }) => path);
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
  const state = await stateWith(t);
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

test('a projects directory that is a link is copied from where it leads, and the copy has its own labs', async (t) => {
  const places: [string, string, (disk: string) => string][] = [
    ['the projects of the state, absolute', 'state/projects', (disk) => join(disk, 'labs')],
    ['the projects of the state, relative', 'state/projects', () => '../labs'],
    ['elsewhere', 'elsewhere', (disk) => join(disk, 'labs')],
    ['to a folder in the state', 'state/projects', (disk) => join(disk, 'state/kept')],
    ['from elsewhere to a folder in the state', 'elsewhere', (disk) => join(disk, 'state/kept')],
  ];
  for (const [what, link, targetOf] of places) {
    const disk = await scratchDirectory(t);
    const [state, projects, target] = [join(disk, 'state'), join(disk, link), join(disk, 'backup')];
    await mkdir(state);
    await symlink(targetOf(disk), projects);
    const labs = resolve(dirname(projects), targetOf(disk));
    await mkdir(join(labs, 'one'), { recursive: true });
    await writeFile(join(labs, 'one', 'one.gns3'), '{}');
    await stateWith(t, state, projects, ['one']);
    const before = await readdir(disk, { recursive: true });
    await backUp({ state, projects, target });
    assert.deepEqual(
      (await readdir(disk, { recursive: true })).filter((name) => name !== 'backup' && !isBelow('backup', name)).sort(),
      before.sort(),
      `${what}: the original is unchanged`,
    );
    assert.ok((await lstat(join(target, 'projects'))).isDirectory(), what);
    assert.deepEqual(await pathsIn(target), [join(target, 'projects/one')], what);
    assert.equal(await readFile(join(target, 'projects/one/one.gns3'), 'utf8'), '{}', what);
    assert.equal(await exists(join(target, 'kept')), false, what);
  }
});

test('labs kept elsewhere join those of the state in the copy, unless two would be one', async (t) => {
  const place = await scratchDirectory(t);
  const [state, projects] = [join(place, 'state'), join(place, 'labs')];
  for (const folder of [join(state, 'projects/old'), join(projects, 'new')]) await mkdir(folder, { recursive: true });
  await stateWith(t, state, projects, ['new']);
  await backUp({ state, projects, target: join(place, 'a') });
  assert.deepEqual((await readdir(join(place, 'a/projects'))).sort(), ['new', 'old']);
  const refused = (message: RegExp) =>
    assert.rejects(backUp({ state, projects, target: join(place, 'b') }), failure('conflict', message));
  await mkdir(join(projects, 'old'));
  await refused(/state\/projects\/old and .*\/labs\/old would be one .* move one of them away/);
  await rename(join(state, 'projects'), join(place, 'other'));
  await symlink(join(place, 'other'), join(state, 'projects'));
  await refused(/state\/projects is not a directory.* move it away/);
  assert.deepEqual((await readdir(place)).sort(), ['a', 'labs', 'other', 'state']);
  assert.deepEqual(await readdir(join(place, 'other')), ['old']);
});

test('a file whose path is too long is left out of the backup, which names it', async (t) => {
  const state = await stateWith(t);
  const [lab, target] = [join(state, 'projects/one'), join(await scratchDirectory(t), 'backup')];
  await mkdir(lab, { recursive: true });
  await writeFile(join(lab, 'one.gns3'), '{}');
  await makeDeepFolder(join(lab, 'deep'));
  const { files, leftOut } = await backUp({ state, projects: join(state, 'projects'), target });
  assert.equal(await readFile(join(target, 'projects/one/one.gns3'), 'utf8'), '{}');
  assert.ok(files > 0);
  assert.equal(leftOut.length, 1);
  assert.match(relativeBelow(join(lab, 'deep'), leftOut[0]!)!, /^(d{250}\/){14,}d{250}$/);
  // Before the hooks, which cannot.
  for (const folder of [state, target]) await removeTree(folder);
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
