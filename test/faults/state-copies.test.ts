// Copies of a state directory, moved ones, and labs that are kept elsewhere: a lab is written by the server that it belongs to.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { backUp } from '../../src/store/backup.ts';
import { connect, settle } from '../../src/store/database.ts';
import { LabServer } from '../controller/lab-server.ts';
import { scratchDirectory } from '../store/scratch.ts';
import { rig } from './rig.ts';

/** A server on a directory that `make` makes from another one. */
async function serverOn(
  t: TestContext,
  make: (state: string) => Promise<unknown>,
  settings: Record<string, string> = {},
): Promise<LabServer> {
  const server = await LabServer.start(t, settings);
  await server.stop();
  await rm(server.state, { recursive: true });
  await make(server.state);
  await server.start();
  return server;
}

function backUpOf(server: LabServer, projects = join(server.state, 'projects')) {
  return (target: string) => backUp({ state: server.state, projects, target });
}

/** What earlier releases have written: absolute paths, and nothing of where the directory was. */
async function asFormerly(state: string, original: string): Promise<void> {
  const database = await connect(join(state, 'labwire.db'));
  await settle((done) =>
    database.exec(
      `UPDATE project SET body = json_set(body, '$.path', '${original}/' || (body ->> '$.path'));
       DELETE FROM setting WHERE name = 'place'`,
      done,
    ),
  );
  await settle((done) => database.close(done));
}

/** A lab with a hub at `x`, which its database has and its file has not. */
async function labAt(server: LabServer, x: number, more: object = {}) {
  const project = await server.project('lab', { auto_close: false, ...more });
  const { node_id: id } = await server.hub(project, 'H1');
  const hub = `/v2/projects/${project.project_id}/nodes/${id}`;
  const moveTo = (on: LabServer, to: number) => on.expect(200, 'PUT', hub, { x: to });
  await moveTo(server, x);
  return { project, hub, moveTo, file: join(project.path, 'lab.gns3') };
}

const copies = {
  'a backup': async (original: LabServer, state: string) => backUpOf(original)(state),
  // Ends with 1 when a file goes away under it, as those do that are renamed once they are written; the rest is copied.
  'a copy of a directory in use': async (original: LabServer, state: string) => {
    const { status, stderr } = spawnSync('cp', ['-a', original.state, state], { encoding: 'utf8' });
    assert.ok(status === 0 || /: No such file or directory$/m.test(stderr), stderr);
  },
  'a backup by an earlier release': async (original: LabServer, state: string) => {
    await backUpOf(original)(state);
    await asFormerly(state, original.state);
  },
};

rig(
  {
    name: 'state-copies',
    promise: 'a server on a copy of a state directory leaves the labs of the original alone',
  },
  async (t) => {
    for (const [name, copy] of Object.entries(copies)) {
      const original = await LabServer.start(t);
      const { project, hub, moveTo, file } = await labAt(original, 1);
      const other = await serverOn(t, (state) => copy(original, state));
      const { path } = await other.expect(200, 'GET', `/v2/projects/${project.project_id}`);
      assert.equal(path, join(other.state, 'projects', project.project_id));
      assert.notEqual(await identityIn(other), await identityIn(original), name);

      // Both are changed; each file says what its own server was told.
      await other.expect(201, 'POST', `/v2/projects/${project.project_id}/open`);
      await Promise.all([moveTo(original, 2), moveTo(other, 3)]);
      await other.expect(204, 'POST', `/v2/projects/${project.project_id}/close`);
      await original.stop();
      assert.equal(hubIn(await readFile(file, 'utf8')).x, 2);
      assert.equal(hubIn(await readFile(join(path, 'lab.gns3'), 'utf8')).x, 3);
      await original.start();
      await original.expect(201, 'POST', `/v2/projects/${project.project_id}/open`);
      assert.equal((await original.expect(200, 'GET', hub)).x, 2);
    }
    return [
      { what: 'copies', value: Object.keys(copies).join(', ') },
      { what: 'labs changed by both servers at once', value: Object.keys(copies).length },
      { what: 'files with changes of the other server', value: 0 },
    ];
  },
);

async function identityIn(server: LabServer): Promise<string> {
  return readFile(join(server.state, 'instance'), 'utf8');
}

function hubIn(file: string): { x: number } {
  return JSON.parse(file).topology.nodes[0];
}

test('a state directory that is renamed keeps its labs open, and its identity', async (t) => {
  const server = await LabServer.start(t);
  const { project, hub } = await labAt(server, 7);
  for (const written of [async () => {}, (state: string) => asFormerly(state, '/nonexistent/labwire')]) {
    const before = await identityIn(server);
    await server.leave();
    const aside = `${server.state}-renamed`;
    await rename(server.state, aside);
    await written(aside);
    const moved = server.at(aside);
    t.after(() => moved.stop());
    await moved.start();
    assert.equal((await moved.expect(200, 'GET', hub)).x, 7);
    assert.equal(
      (await moved.expect(200, 'GET', `/v2/projects/${project.project_id}`)).path,
      join(aside, 'projects', project.project_id),
    );
    assert.equal(await identityIn(moved), before);
    await moved.leave();
    await rename(aside, server.state);
    await server.start();
  }
});

test('labs of a projects directory elsewhere are in the state directory in a backup', async (t) => {
  const projects = await scratchDirectory(t);
  const original = await LabServer.start(t, { projects_path: projects });
  const { project, hub } = await labAt(original, 4);
  const other = await serverOn(t, backUpOf(original, projects));
  const { path, status } = await other.expect(200, 'GET', `/v2/projects/${project.project_id}`);
  assert.deepEqual([path, status], [join(other.state, 'projects', project.project_id), 'opened']);
  assert.equal((await other.expect(200, 'GET', hub)).x, 4);
});

test('a lab elsewhere is open on one server at a time, and the other one writes nothing there', async (t) => {
  const [one, other] = [await LabServer.start(t), await LabServer.start(t)];
  const path = join(await scratchDirectory(t), 'lab');
  const { project, hub, moveTo, file } = await labAt(one, 1, { path });
  const lab = `/v2/projects/${project.project_id}`;
  const refused = /The project "lab" in .* is open on another server \(pid \d+\): close it there first/;
  const mustBeRefused = async (on: LabServer, method: string, route: string, body?: object) => {
    const answer = await on.call(method, route, body);
    assert.equal(answer.status, 409, JSON.stringify(answer.json));
    assert.match(answer.json.message, refused);
  };
  await mustBeRefused(other, 'POST', '/v2/projects/load', { path: file });
  assert.deepEqual(await other.expect(200, 'GET', '/v2/projects'), []);

  await one.expect(204, 'POST', `${lab}/close`);
  await other.expect(201, 'POST', '/v2/projects/load', { path: file });
  await moveTo(other, 2);
  await mustBeRefused(one, 'POST', `${lab}/open`);
  await mustBeRefused(one, 'PUT', lab, { name: 'renamed' });
  assert.equal((await one.call('POST', `${lab}/files/note`, {})).status, 409);
  // It can be looked at meanwhile.
  await one.expect(200, 'GET', `${lab}/nodes`);

  await other.expect(204, 'POST', `${lab}/close`);
  await one.expect(201, 'POST', `${lab}/open`);
  assert.equal((await one.expect(200, 'GET', hub)).x, 2);
  // A backup has no part in labs that are kept elsewhere, be they open or not.
  const third = await serverOn(t, backUpOf(one));
  await mustBeRefused(third, 'POST', `${lab}/open`);
  await moveTo(one, 5);
  await one.stop();
  assert.equal(hubIn(await readFile(file, 'utf8')).x, 5);
  await third.expect(201, 'POST', `${lab}/open`);
  assert.equal((await third.expect(200, 'GET', hub)).x, 5);
});
