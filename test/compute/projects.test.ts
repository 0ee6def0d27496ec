import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { remountReadOnly, scratchDirectory, scratchFileSystem } from '../store/scratch.ts';
import { startLab } from './support.ts';

test('a project is opened, read, changed, listed in the order of opening, closed with its files kept, and deleted with them', async (t) => {
  const lab = await startLab(t);
  const [first, second] = ['ffffffff-0000-4000-8000-000000000000', '00000000-0000-4000-8000-000000000000'];
  const made = await lab.expect(201, 'POST', '/projects', { name: 'one', project_id: first });
  assert.deepEqual(made, { name: 'one', project_id: first, variables: null });
  await lab.project(second);
  assert.deepEqual(
    (await lab.expect(200, 'GET', '/projects')).map((project: { project_id: string }) => project.project_id),
    [first, second],
  );

  const variables = [{ name: 'A', value: 'x' }];
  assert.deepEqual(
    (await lab.expect(200, 'PUT', `/projects/${first}`, { variables, name: 'other' })).variables,
    variables,
  );
  assert.equal((await lab.expect(200, 'GET', `/projects/${first}`)).name, 'one', 'a name is never changed');
  assert.equal((await lab.expect(200, 'PUT', `/projects/${first}`, {})).variables, null, 'absent variables are reset');

  const directory = join(lab.config.Server.projects_path, first);
  await writeFile(join(directory, 'kept'), 'x');
  await mkdir(join(directory, 'tmp'));
  await lab.expect(204, 'POST', `/projects/${first}/close`);
  assert.deepEqual(await readdir(directory), ['kept'], 'only tmp is swept');
  await lab.expect(404, 'GET', `/projects/${first}`);
  await lab.expect(404, 'POST', `/projects/${first}/close`);

  await lab.project(first);
  await lab.expect(204, 'DELETE', `/projects/${first}`);
  assert.equal(existsSync(directory), false);
  await lab.expect(404, 'DELETE', `/projects/${first}`);
});

test('a known identifier opens the same project again, even when two requests come at once', async (t) => {
  const lab = await startLab(t);
  const body = { name: 'same', project_id: randomUUID() };
  const answers = await Promise.all(
    [1, 2, 3].map((n) => lab.request('POST', '/projects', { ...body, name: `same ${n}` })),
  );
  assert.deepEqual(new Set(answers.map(({ body: { name } }) => name)).size, 1);
  assert.equal((await lab.expect(200, 'GET', '/projects')).length, 1);
});

test('closing and opening a project at the same time leaves it open, with its watcher and its ports intact', async (t) => {
  const lab = await startLab(t);
  const id = randomUUID();
  const path = await lab.project(id);
  await lab.node(path, 'vpcs');
  await Promise.all([
    lab.request('POST', `${path}/close`),
    lab.request('POST', '/projects', { name: 'again', project_id: id }),
  ]);
  await lab.project(id);
  await lab.node(path, 'vpcs');
  assert.equal((await lab.expect(200, 'GET', '/network/ports')).console_ports.length, 1);
});

for (const [what, path] of [
  ['beside the projects', (projects: string) => join(projects, '../elsewhere/deep')],
  ['by climbing', (projects: string) => `${projects}/../climbed`],
  ['beside the projects, with their name as a beginning', (projects: string) => `${projects}-more`],
  ['in the place of all projects', (projects: string) => projects],
  ['above all projects', (projects: string) => join(projects, '..')],
  ['by a link', (projects: string) => join(projects, 'link/inside')],
] as const) {
  test(`a remote controller cannot make a project ${what}: 403, and nothing is made`, async (t) => {
    const lab = await startLab(t);
    const projects = lab.config.Server.projects_path;
    const outside = await scratchDirectory(t);
    await symlink(outside, join(projects, 'link'));
    const before = await readdir(lab.directory);
    const wanted = path(projects);
    const { status, body } = await lab.request('POST', '/projects', {
      name: 'x',
      project_id: randomUUID(),
      path: wanted,
    });
    assert.equal(status, 403, JSON.stringify(body));
    assert.match(body.message, /^path: /);
    assert.deepEqual(await readdir(lab.directory), before);
    assert.deepEqual(await readdir(outside), []);
    assert.deepEqual(await lab.expect(200, 'GET', '/projects'), []);
  });
}

test('in local mode a project may be anywhere but in the place of all the others', async (t) => {
  const lab = await startLab(t, { local: true });
  const outside = join(await scratchDirectory(t), 'a/b');
  await lab.expect(201, 'POST', '/projects', { name: 'x', path: outside });
  assert.ok(existsSync(outside));
  for (const path of ['/', lab.directory, lab.config.Server.projects_path]) {
    await lab.expect(403, 'POST', '/projects', { name: 'x', path });
  }
  assert.match(
    (await lab.expect(400, 'POST', '/projects', { name: 'x', path: 'relative' })).message,
    /path: .*absolute/,
  );
});

test('a project directory on a read-only disk is refused with the reason, and nothing stays open', async (t) => {
  const disk = await scratchFileSystem(t, '1M');
  if (disk === undefined) return;
  const lab = await startLab(t, { projects_path: join(disk, 'projects') });
  remountReadOnly(disk);
  const { status, body } = await lab.request('POST', '/projects', { name: 'x', project_id: randomUUID() });
  assert.equal(status, 409);
  assert.match(body.message, /read-only/);
  assert.deepEqual(await lab.expect(200, 'GET', '/projects'), []);
});

test('a file where the project directory would be is refused with the reason', async (t) => {
  const lab = await startLab(t);
  const id = randomUUID();
  await writeFile(join(lab.config.Server.projects_path, id), 'a file');
  const { status, body } = await lab.request('POST', '/projects', { name: 'x', project_id: id });
  assert.equal(status, 409, JSON.stringify(body));
  assert.match(body.message, new RegExp(id));
});

test('a nearly full disk is reported when a project is opened', async (t) => {
  const disk = await scratchFileSystem(t, '1M');
  if (disk === undefined) return;
  const lab = await startLab(t, { projects_path: join(disk, 'projects') });
  await writeFile(join(disk, 'ballast'), Buffer.alloc(970_000));
  await lab.project();
  assert.match((await lab.told('log.warning')).message, /9\d % full/);
});

for (const [what, body] of [
  ['no name', {}],
  ['an empty name', { name: '' }],
  ['an identifier without dashes', { name: 'a', project_id: '11111111222243338444555555555555' }],
  ['an unknown member', { name: 'a', colour: 'red' }],
  ['variables that are no list', { name: 'a', variables: {} }],
  ['a member of a controller with a wrong type', { name: 'a', zoom: '100' }],
  ['null', 'null'],
  ['a list', '[]'],
] as const) {
  test(`a project with ${what} is refused with 400 and the place`, async (t) => {
    const lab = await startLab(t);
    const answer = await lab.expect(400, 'POST', '/projects', body);
    assert.equal(answer.path, '/v2/compute/projects');
    assert.deepEqual(await lab.expect(200, 'GET', '/projects'), []);
  });
}

test('identifiers are read as UUIDs and looked up as they are spelled', async (t) => {
  const lab = await startLab(t);
  const id = 'abcdef01-2222-4333-8444-555555555555';
  await lab.project(id);
  for (const [spelled, status] of [
    [id, 200],
    [id.toUpperCase(), 404],
    [id.replaceAll('-', ''), 404],
    ['not-a-uuid', 400],
    [`${id}0`, 400],
    ['%2e%2e', 400],
  ] as const) {
    const { body } = await lab.request('GET', `/projects/${spelled}`);
    assert.equal(
      (await lab.request('GET', `/projects/${spelled}`)).status,
      status,
      `${spelled}: ${JSON.stringify(body)}`,
    );
    assert.equal((await lab.request('GET', `/projects/${spelled}/files`)).status, status, spelled);
  }
});
