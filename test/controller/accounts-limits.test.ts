// What accounts and tokens may not do beside the labs of others: use up what is shared, add images, take names of the host.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { chmod, mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { levelsOf } from '../../src/compute/emulators/docker/rights.ts';
import { chooseEngine } from '../../src/compute/emulators/vpcs/engine.ts';
import { isAllowedInterface } from '../../src/host/network/interfaces.ts';
import { basicHeader } from '../../src/http/access/authentication.ts';
import { AccountsFile, checkedName } from '../../src/store/accounts.ts';
import type { AuditLine } from '../../src/store/audit.ts';
import { zip } from './archives-zip.ts';
import { StandIn } from './computes-stand-in.ts';
import { addPeople, PASSWORD, serve } from './people-here.ts';

test('a token ends itself alone, tickets of one account leave those of others, and every console has its line', async (t) => {
  const served = await serve(t);
  const { app } = served.daemon;
  const { ada, ann, obs } = await addPeople(served, { ada: 'admin', ann: 'user', obs: 'observer' });
  const token = async (name: string, role: string | null) => {
    const { text } = await ann('POST', '/v2/account/tokens', { name, role });
    const { token_id: id, token } = JSON.parse(text) as { token_id: string; token: string };
    const ask = (method: string, path: string) =>
      app.request(path, { method, headers: { authorization: `Bearer ${token}` } });
    return { id, ask };
  };
  const [watching, backup] = [await token('watching', 'observer'), await token('backup', null)];
  const other = `/v2/account/tokens/${backup.id}`;
  assert.equal((await watching.ask('DELETE', other)).status, 403);
  assert.equal((await backup.ask('DELETE', `/v2/account/tokens/${watching.id}`)).status, 403);
  assert.doesNotMatch(await (await watching.ask('GET', '/v2/account/tokens')).text(), /backup/);
  assert.match(await (await backup.ask('GET', '/v2/account/tokens')).text(), /watching/);
  assert.equal((await watching.ask('DELETE', `/v2/account/tokens/${watching.id}`)).status, 204, 'itself');
  assert.equal((await watching.ask('GET', '/v2/account')).status, 401);
  assert.equal((await ann('DELETE', other)).status, 204);

  const ticket = (ask: typeof obs) => ask('POST', '/v2/tickets', { path: '/v2/notifications/ws' });
  let issued = 0;
  while ((await ticket(obs)).status === 201) issued += 1;
  assert.ok(issued <= 200, `${issued} tickets of one account`);
  assert.equal((await ticket(ann)).status, 201, 'others get theirs');

  const lab = JSON.parse((await ada('POST', '/v2/projects', { name: 'Lab', auto_close: false })).text);
  const pc = { name: 'PC', node_type: 'vpcs', compute_id: 'local' };
  const { node_id: node } = JSON.parse((await ada('POST', `/v2/projects/${lab.project_id}/nodes`, pc)).text);
  const headers = { authorization: basicHeader({ user: 'ada', password: PASSWORD }) };
  const console = `/v2/compute/projects/${lab.project_id}/vpcs/nodes/${node}/console/ws`;
  await app.request(console, { headers });
  await app.request(`/v2/projects/${lab.project_id}/nodes/${node}/dynamips/auto_idlepc`, { headers });
  const { token: session } = JSON.parse((await ada('POST', '/v2/account/tokens', { name: 'v3' })).text);
  const spelled = `/v3/projects/${lab.project_id.replaceAll('-', '').toUpperCase()}`;
  for (const method of ['PUT', 'DELETE'])
    await app.request(spelled, {
      ...{ method, headers: { authorization: `Bearer ${session}`, 'content-type': 'application/json' } },
      body: method === 'PUT' ? '{"name": "Other"}' : null,
    });
  const ofLab = async (wanted: string): Promise<string[]> => {
    const found = JSON.parse((await ada('GET', `/v2/audit?project=${wanted}`)).text) as AuditLine[];
    return found.map(({ action }) => action).filter((action) => /\/projects(\/\{project_id\})?$/.test(action));
  };
  assert.deepEqual(await ofLab(lab.project_id), [
    'POST /v2/projects',
    'PUT /v3/projects/{project_id}',
    'DELETE /v3/projects/{project_id}',
  ]);
  assert.deepEqual(await ofLab('Lab'), ['POST /v2/projects']);
  assert.deepEqual((await ofLab('Other')).at(-1), 'DELETE /v3/projects/{project_id}');

  const lines = JSON.parse((await ada('GET', '/v2/audit')).text) as AuditLine[];
  for (const action of [/^GET .*compute.*console\/ws/, /^GET .*auto_idlepc/])
    assert.ok(
      lines.some((line) => line.account === 'ada' && action.test(line.action)),
      `${action}`,
    );
});

test('images that a user’s archive brings are left out, and the lab comes', async (t) => {
  const served = await serve(t);
  const { ada, bob } = await addPeople(served, { ada: 'admin', bob: 'user' });
  const folder = join(served.state, 'images/QEMU');
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'known.img'), 'as it is');
  const topology = {
    ...{ name: 'Brought', project_id: randomUUID(), type: 'topology', version: '2.2.57', revision: 9 },
    topology: { nodes: [], links: [], drawings: [], computes: [] },
  };
  const archive = zip([
    { name: 'project.gns3', data: JSON.stringify(topology) },
    { name: 'images/QEMU/new.img', data: 'of Bob' },
    { name: 'images/IOU/program.bin', data: '\x7fELF of Bob' },
    { name: 'images/QEMU/known.img', data: 'of Bob' },
  ]);
  const send = (user: string, id: string) =>
    served.daemon.app.request(`/v2/projects/${id}/import`, {
      method: 'POST',
      headers: { authorization: basicHeader({ user, password: PASSWORD }) },
      body: new Uint8Array(archive),
    });
  const id = randomUUID();
  assert.equal((await send('bob', id)).status, 201);
  assert.deepEqual(await readdir(folder), ['known.img']);
  assert.deepEqual(await readdir(join(served.state, 'images/IOU')).catch(() => []), []);
  const { text } = await bob('GET', `/v2/projects/${id}/journal`);
  for (const name of ['new.img', 'program.bin', 'known.img']) assert.match(text, new RegExp(`${name} .*left out`));
  await bob('DELETE', `/v2/projects/${id}`);
  assert.equal((await send('ada', randomUUID())).status, 201);
  assert.deepEqual((await readdir(folder)).sort(), ['known-1.img', 'known.img', 'new.img'], 'an admin adds them');
  assert.equal((await ada('GET', '/v2/projects')).status, 200);
});

test('the file of a user’s lab registers no host; an admin who opens the lab registers it', async (t) => {
  const served = await serve(t);
  const { ada, bob } = await addPeople(served, { ada: 'admin', bob: 'user' });
  const it = await StandIn.start(t, {
    'POST /projects': {},
    'POST /projects/[^/]+/vpcs/nodes': { status: 'stopped', console: 5000, console_type: 'telnet' },
  });
  const { project_id: id, filename } = JSON.parse((await bob('POST', '/v2/projects', { name: 'Bob’s' })).text);
  const path = `/v2/projects/${id}`;
  const node = { node_id: randomUUID(), name: 'PC1', node_type: 'vpcs', compute_id: 'it' };
  const topology = {
    ...{ name: 'Bob’s', project_id: id, type: 'topology', version: '2.2.57', revision: 9 },
    topology: { nodes: [node], links: [], drawings: [], computes: [it.body()] },
  };
  await bob('POST', `${path}/close`);
  assert.equal((await bob('POST', `${path}/files/${filename}`, topology)).status, 201);
  const registered = async (): Promise<boolean> => (await ada('GET', '/v2/computes/it')).status === 200;
  const { status, text } = await bob('POST', `${path}/open`);
  assert.equal(status, 403, text);
  assert.match(text, /host It \(127\.0\.0\.1:\d+\)/);
  assert.equal((await ada('PUT', path, { auto_open: true })).status, 200);
  assert.equal((await ada('POST', '/v2/reload')).status, 200);
  assert.deepEqual([await registered(), it.calls], [false, []]);
  assert.equal((await ada('POST', `${path}/open`)).status, 201);
  assert.equal(await registered(), true);
  await ada('POST', `${path}/close`);
  assert.equal((await bob('POST', `${path}/open`)).status, 201, 'it is registered now');
});

test('names of accounts are neither the host’s nor look-alikes, and names of labs and nodes have no control characters', async (t) => {
  for (const name of ['root', 'Root', 'user 0', '__proto__', '../x', 'a\\b', 'bоb', 'ｂob', 'αnn'])
    assert.throws(() => checkedName(name), /^Failure|name: /, name);
  for (const name of ['Zoë Müller', 'боб', '山田たろう', 'o’neill', 'ann-2']) assert.equal(checkedName(name), name);
  const served = await serve(t);
  const { ann } = await addPeople(served, { ada: 'admin', ann: 'user' });
  const evil = 'a\u001b]0;PWN\u0007\u009b31m\u202eevil';
  assert.equal((await ann('POST', '/v2/projects', { name: evil })).status, 400);
  const lab = JSON.parse((await ann('POST', '/v2/projects', { name: 'Lab', auto_close: false })).text);
  const path = `/v2/projects/${lab.project_id}`;
  const hub = { name: evil, node_type: 'ethernet_hub', compute_id: 'local' };
  assert.equal((await ann('POST', `${path}/nodes`, hub)).status, 400);
  const made = JSON.parse((await ann('POST', `${path}/nodes`, { ...hub, name: 'Hub' })).text);
  assert.equal((await ann('PUT', `${path}/nodes/${made.node_id}`, { name: evil })).status, 400);
  assert.equal((await ann('PUT', path, { name: evil })).status, 400);
  assert.equal((await ann('POST', `${path}/snapshots`, { name: evil })).status, 400);
  assert.equal((await ann('POST', `${path}/duplicate`, { name: evil })).status, 400);
  assert.equal((await ann('POST', '/v2/account/tokens', { name: evil })).status, 400);
});

test('on a host with accounts labs are closed to its other users, and defaults are the narrow ones', async (t) => {
  const served = await serve(t);
  const { state, daemon } = served;
  const projects = join(state, 'projects');
  const mode = async (path: string): Promise<number> => (await stat(path)).mode & 0o777;
  for (const path of [state, projects]) await chmod(path, 0o755);
  const origins = async (): Promise<number[]> => {
    const all = ['http://gns3.github.io', 'http://localhost:4200', 'https://gns3.github.io'];
    const headers = { host: 'localhost:3080', authorization: basicHeader({ user: 'ada', password: PASSWORD }) };
    const answers = all.map((origin) => daemon.app.request('/v2/projects', { headers: { ...headers, origin } }));
    return (await Promise.all(answers)).map(({ status }) => status);
  };
  assert.deepEqual(await origins(), [200, 200, 200]);
  await addPeople(served, { ada: 'admin' });
  assert.deepEqual(await origins(), [403, 403, 200]);
  const headers = { authorization: basicHeader({ user: 'ada', password: PASSWORD }) };
  const body = JSON.stringify({ name: 'bob', role: 'user', password: PASSWORD });
  assert.equal((await daemon.app.request('/v2/accounts', { method: 'POST', headers, body })).status, 201);
  assert.deepEqual([await mode(state), await mode(projects)], [0o750, 0o750]);

  assert.equal(await new AccountsFile(state).isShared(), true);
  const vpcs = { engine: 'automatic', vpcs_path: 'vpcs' } as const;
  assert.equal(await chooseEngine(vpcs, true), undefined, 'PCs are the built-in ones');
  const docker = { socket_path: '/run/docker.sock', privileged: 'automatic' } as const;
  assert.ok(levelsOf(docker, false).includes('privileged'));
  assert.ok(!levelsOf(docker, true).includes('privileged'));
  for (const allowed of [[], ['lw71220a3a-0']]) assert.equal(isAllowedInterface('lw71220a3a-0', allowed), false);
});
