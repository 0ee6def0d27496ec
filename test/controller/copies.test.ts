// Files that say of themselves that they are a project which is another file's: copied folders, second topologies, hidden names, folders
// of the server's own. The one that is known from before stays what it was.
import assert from 'node:assert/strict';
import { cp, mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Store } from '../../src/store/store.ts';
import type { Body } from '../body.ts';
import { LabServer } from './lab-server.ts';

/** A server with a closed lab of one hub; `folder` is the folder of all projects. */
async function started(t: TestContext): Promise<{ server: LabServer; lab: Body; folder: string; file: string }> {
  const server = await LabServer.start(t);
  const lab = await server.project('original', { auto_close: false });
  await server.hub(lab, 'H1');
  await server.expect(204, 'POST', `/v2/projects/${lab.project_id}/close`);
  return { server, lab, folder: join(lab.path, '..'), file: join(lab.path, lab.filename) };
}

async function again(server: LabServer): Promise<Body[]> {
  await server.stop();
  await server.start();
  return server.expect(200, 'GET', '/v2/projects');
}

/** The project is what it was, and opens. */
async function isItself(server: LabServer, lab: Body): Promise<void> {
  const { path, filename, name, damaged } = await server.expect(200, 'GET', `/v2/projects/${lab.project_id}`);
  assert.deepEqual([path, filename, name, damaged], [lab.path, lab.filename, lab.name, undefined]);
  await server.expect(201, 'POST', `/v2/projects/${lab.project_id}/open`);
  assert.equal((await server.expect(200, 'GET', `/v2/projects/${lab.project_id}/nodes`)).length, 1);
}

test('a copy of a folder, before or behind the original by its name, is listed with the reason', async (t) => {
  const { server, lab, folder } = await started(t);
  for (const name of ['.0', '0 copy', 'zz copy', 'copy\nof it']) {
    await cp(lab.path, join(folder, name), { recursive: true });
  }
  const list = await again(server);
  assert.equal(list.length, 5);
  const copies = list.filter(({ project_id: id }) => id !== lab.project_id);
  for (const { damaged, status, path, name } of copies) {
    assert.match(damaged, new RegExp(`^${path}/original.gns3: it is a copy of the project in ${lab.path}/`));
    assert.deepEqual([status, name], ['closed', 'original']);
  }
  await isItself(server, lab);
  const [copy] = copies;
  assert.equal((await server.call('POST', `/v2/projects/${copy.project_id}/open`)).status, 409);
  await server.expect(204, 'DELETE', `/v2/projects/${copy.project_id}`);
  assert.equal((await again(server)).length, 4);
  await isItself(server, lab);
  await server.expect(204, 'DELETE', `/v2/projects/${lab.project_id}`);
  // Without the original the first copy is the project.
  const rest = await again(server);
  assert.equal(rest.filter(({ damaged }) => damaged === undefined).length, 1);
});

test('a second topology in a folder does not take the project over, and cannot be deleted with its folder', async (t) => {
  const { server, lab, file } = await started(t);
  const text = await readFile(file, 'utf8');
  await writeFile(join(lab.path, '0 same.gns3'), text.replace('"H1"', '"H2"'));
  const other = '12345678-1234-4234-8234-123456789abc';
  await writeFile(join(lab.path, '0 other.gns3'), text.replaceAll(lab.project_id, other));
  const list = await again(server);
  const reasons = list.map(({ damaged }) => damaged?.replace(/^.*: it is/, 'it is').replace(/ the project in.*/, ''));
  assert.deepEqual(reasons.sort(), ['it is a copy of', 'it is in the folder of', undefined]);
  await isItself(server, lab);
  for (const { project_id: id } of list.filter(({ damaged }) => damaged !== undefined)) {
    assert.equal((await server.call('DELETE', `/v2/projects/${id}`)).status, 409);
  }
  await isItself(server, lab);
});

test('a damaged original is not replaced by its copy', async (t) => {
  const { server, lab, folder, file } = await started(t);
  await cp(lab.path, join(folder, '0 copy'), { recursive: true });
  await writeFile(file, '{');
  const list = await again(server);
  const original = list.find(({ project_id: id }) => id === lab.project_id);
  assert.equal(original.path, lab.path);
  assert.match(original.damaged, /cannot be loaded/);
  assert.match(list.find(({ path }) => path === join(folder, '0 copy')).damaged, /is a copy of/);
});

test('a lab whose name begins with a dot is found without a database, and what other systems leave is not', async (t) => {
  const { server, folder } = await started(t);
  const hidden = await server.project('.hidden lab', { auto_close: false });
  await server.hub(hidden, 'H1');
  await writeFile(join(hidden.path, '._.hidden lab.gns3'), 'resources');
  await server.stop();
  await rename(join(server.state, 'labwire.db'), join(server.state, 'lost.db'));
  await rename(hidden.path, join(folder, '.moved'));
  await server.start();
  const list: Body[] = await server.expect(200, 'GET', '/v2/projects');
  assert.deepEqual(list.map(({ name, damaged }) => [name, damaged]).sort(), [
    ['.hidden lab', undefined],
    ['original', undefined],
  ]);
  await isItself(server, { ...hidden, path: join(folder, '.moved') });
});

test("folders of the server's own are no projects, nor can anything be given such a name", async (t) => {
  const { server, lab, folder } = await started(t);
  const staging = join(folder, '.labwire-staging-abcdef');
  await cp(lab.path, staging, { recursive: true });
  // It is no exchange of ours: what its note says must not be done.
  await mkdir(join(staging, 'before'));
  await writeFile(join(staging, 'before/taken'), 'x');
  await writeFile(join(staging, 'lab.gns3'), '{}');
  const note = { path: server.state, filename: 'labwire.db', added: ['labwire.lock'] };
  await writeFile(join(staging, 'exchange.json'), JSON.stringify(note));
  await rm(join(lab.path, 'nothing'), { force: true });
  const list = await again(server);
  assert.deepEqual(
    list.map(({ project_id: id }) => id),
    [lab.project_id],
  );
  await isItself(server, lab);
  await assert.rejects(readFile(join(server.state, 'taken')));
  const files = `/v2/projects/${lab.project_id}/files`;
  for (const name of ['.labwire-staging-x/exchange.json', 'docs/.labwire-staging-x', '.x.0123456789ab.labwire-tmp']) {
    const answer = await server.request(`${files}/${name}`, { method: 'POST', body: 'x' });
    assert.equal(answer.status, 403, name);
  }
  for (const path of ['.labwire-staging-x', join(folder, '.labwire-staging-x/lab'), 'a/.labwire-staging-x']) {
    assert.equal(
      (await server.call('POST', '/v2/projects', { name: path.replaceAll('/', ' '), path })).status,
      403,
      path,
    );
    const compute = { name: 'n', project_id: '12345678-1234-4234-8234-123456789abc', path: join(folder, path) };
    assert.equal((await server.call('POST', '/v2/compute/projects', compute)).status, 403, path);
  }
});

test('no project is made in the folder of another one, around it, or through a link to it, on either half', async (t) => {
  const { server, lab, folder } = await started(t);
  const id = '12345678-1234-4234-8234-123456789abc';
  await symlink(lab.path, join(server.state, 'link'));
  const places = [
    lab.path,
    join(lab.path, 'project-files'),
    join(server.state, 'link'),
    join(server.state, 'link/deeper'),
    join(folder, `${lab.project_id}/../${lab.project_id}/x`),
  ];
  for (const [index, path] of places.entries()) {
    const body = { name: `lab ${index}`, project_id: id, path };
    assert.equal((await server.call('POST', '/v2/projects', body)).status, 409, `controller ${path}`);
    const moved = await server.project(`moved ${index}`);
    await server.expect(204, 'POST', `/v2/projects/${moved.project_id}/close`);
    assert.equal((await server.call('PUT', `/v2/projects/${moved.project_id}`, { path })).status, 409, `PUT ${path}`);
    const query = `?path=${encodeURIComponent(path)}`;
    const archive = await server.request(`/v2/projects/${id}/import${query}`, { method: 'POST', body: 'no archive' });
    assert.equal(archive.status, 409);
    const copy = await server.call('POST', `/v2/projects/${moved.project_id}/duplicate`, { name: 'copy', path });
    assert.equal(copy.status, 409);
    assert.equal((await server.call('POST', '/v2/compute/projects', body)).status, 409, `compute ${path}`);
    assert.equal((await server.call('POST', '/v2/projects/load', { path: join(path, '0.gns3') })).status, 409);
  }
  for (const path of [folder, server.state, '/']) {
    for (const half of ['', '/compute']) {
      const { status } = await server.call('POST', `/v2${half}/projects`, { name: 'all', project_id: id, path });
      assert.equal(status, 403, `${half} ${path}`);
    }
  }
  await isItself(server, lab);
});

test('a closed project is moved with its files, and is there at the next start', async (t) => {
  const { server, lab, folder } = await started(t);
  await writeFile(join(lab.path, 'notes'), 'mine');
  const target = join(server.state, 'elsewhere/deeper');
  const path = `/v2/projects/${lab.project_id}`;
  for (const place of [target, join(folder, 'near'), 'by name', lab.path]) {
    const { path: now } = await server.expect(200, 'PUT', path, { path: place });
    assert.equal(now, resolve(folder, place));
    assert.equal(await readFile(join(now, 'notes'), 'utf8'), 'mine');
    assert.equal((await again(server)).length, 1);
    await isItself(server, { ...lab, path: now });
    assert.equal((await server.call('PUT', path, { path: 'while it is open' })).status, 409);
    await server.expect(204, 'POST', `${path}/close`);
  }
  await mkdir(join(folder, 'taken/by something'), { recursive: true });
  assert.equal((await server.call('PUT', path, { path: 'taken' })).status, 409);
  assert.equal((await server.call('PUT', path, { path: join(lab.path, 'inner') })).status, 409);
  await isItself(server, lab);
});

test('a project whose move was cut off is at one of both places, whole', async (t) => {
  const { server, lab } = await started(t);
  const target = join(server.state, 'elsewhere');
  const moving = async () => {
    await server.stop();
    await using store = await Store.open({ stateDirectory: server.state });
    const record = (await store.projects.get(lab.project_id))!;
    await store.projects.put({ ...record, path: target, moving_from: lab.path });
  };
  await moving();
  await server.start();
  await isItself(server, lab);
  await server.expect(204, 'POST', `/v2/projects/${lab.project_id}/close`);
  await moving();
  await cp(lab.path, target, { recursive: true });
  await server.start();
  assert.equal((await server.expect(200, 'GET', '/v2/projects')).length, 1);
  await isItself(server, { ...lab, path: target });
  await assert.rejects(readFile(join(lab.path, lab.filename)));
});
