// Every route and what it asks of an account: none tells or changes what is not shared.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { ROUTES } from '../../src/api/routes/routes.ts';
import type { Route } from '../../src/http/app/route.ts';
import type { Daemon } from '../../src/start/daemon.ts';
import type { AuditLine } from '../../src/store/audit.ts';
import { eventually } from '../system/daemon.ts';
import { asker, PASSWORD, serve } from './people-here.ts';

/** These answer a question, or let a browser come in again. */
const CHANGES_NOTHING: ReadonlySet<string> = new Set(['POST /v2/tickets', 'POST /v2/version']);

/** A path of the route, with this lab and else with what there is not. */
function pathOf({ pattern }: Route, projectId: string): string {
  return pattern
    .replaceAll('{project_id}', projectId)
    .replaceAll(/\{udp_port[^}]*\}|\{\w+:\\d\+\}/g, '1')
    .replaceAll(/\{(\w+)(:[^}]*)?\}/g, (_all, name: string) => (name.endsWith('_id') ? randomUUID() : 'x'));
}

test('every defined route has a handler', async (t) => {
  const { daemon } = await serve(t);
  const handled = daemon.app.routes.flatMap(({ method, pattern }) => {
    const name = `${method} ${pattern}`;
    return [
      name,
      name.replace(/(\{project_id\})\/\w+\/nodes/, '$1/{node_type}/nodes'),
      name.replace(/(\/v2\/compute)\/\w+\/(images|uploads)/, '$1/{emulator}/$2'),
    ];
  });
  assert.ok(handled.length > 150);
  assert.deepEqual(
    Object.keys(ROUTES).filter((name) => !handled.includes(name)),
    [],
    'remove them from src/api/routes',
  );
});

test('what a lab is asked for asks for that lab, and what changes asks for more than to watch', async (t) => {
  const { daemon } = await serve(t);
  for (const route of daemon.app.routes.filter(({ pattern }) => pattern.startsWith('/v2/projects/{project_id}'))) {
    const { access: need = 'admin' } = route.definition;
    const name = `${route.method} ${route.pattern}`;
    const expected = route.method === 'GET' ? ['watch', 'type', 'change'] : ['change'];
    // These make labs of their own.
    if (/\/(duplicate|import)$/.test(name) && !name.includes('node_id')) continue;
    assert.ok(expected.includes(need), `${name}: ${need}`);
  }
});

test('no route shows or changes anything of a lab that is not shared, and an observer changes nothing at all', async (t) => {
  const { daemon, file } = await serve(t);
  const roles = { ada: 'admin', bob: 'user', eve: 'user', olga: 'observer' } as const;
  for (const [name, role] of Object.entries(roles)) await file.add([{ name, role, password: PASSWORD }], []);
  const bob = asker(daemon, 'bob');
  const made = await bob('POST', '/v2/projects', { name: 'Thesis of Bob', auto_close: false });
  assert.equal(made.status, 201, made.text);
  const { project_id: id } = JSON.parse(made.text) as { project_id: string };
  const node = await bob('POST', `/v2/projects/${id}/nodes`, {
    ...{ name: 'Secret node', node_type: 'ethernet_hub', compute_id: 'local' },
  });
  assert.equal(node.status, 201, node.text);
  const before = (await asker(daemon, 'ada')('GET', `/v2/projects/${id}/nodes`)).text;

  for (const name of ['eve', 'olga'] as const) {
    const ask = asker(daemon, name);
    const asked: string[] = [];
    // Those of /v3 take no passwords: accounts-v3.test.ts walks them.
    for (const route of daemon.app.routes.filter(({ pattern }) => !pattern.startsWith('/v3/'))) {
      const { access: need = 'admin' } = route.definition;
      if (route.kind === 'socket' && need === 'read') continue;
      const path = pathOf(route, id);
      const { status, text } = await ask(route.method, path, route.method === 'GET' ? undefined : {});
      // Some that are asked with GET drive a router.
      if (route.method !== 'GET' || need === 'change') asked.push(`${route.method} ${route.pattern}`);
      const what = `${name}: ${route.method} ${route.pattern}: ${status} ${text.slice(0, 200)}`;
      assert.doesNotMatch(text, /Thesis of Bob|Secret node/, what);
      assert.ok(path.includes(id) || !text.includes(id), what);
      if (need === 'admin' || need === 'figures') assert.equal(status, 403, what);
      if (need === 'watch' || need === 'change' || need === 'type') assert.equal(status, 404, what);
      if (need === 'use' && name === 'olga') assert.equal(status, 403, what);
    }
    const lines = JSON.parse((await asker(daemon, 'ada')('GET', '/v2/audit?last=10000')).text) as AuditLine[];
    const own = lines.filter(({ account }) => account === name);
    const changing = asked.filter((action) => !CHANGES_NOTHING.has(action));
    const alone = own.filter(({ refused }) => refused === undefined).map(({ action }) => action);
    assert.ok(alone.length >= 250, `${alone.length}`);
    assert.deepEqual(alone, changing.slice(0, alone.length), 'refused changes have lines of their own');
    const counted = own.reduce((sum, { refused }) => sum + (refused ?? 1), 0);
    assert.equal(counted, changing.length, 'and are counted beyond some hundred');
    for (const { time, status, address } of own) {
      assert.ok(Date.parse(time) > 0 && status >= 200, `${time} ${status}`);
      assert.equal(typeof address, 'string');
    }
    const unknown = randomUUID();
    const there = await ask('GET', `/v2/projects/${id}`);
    const notThere = await ask('GET', `/v2/projects/${unknown}`);
    assert.equal(there.text.replaceAll(id, unknown), notThere.text, 'one cannot be told from the other');
  }
  assert.equal((await asker(daemon, 'ada')('GET', `/v2/projects/${id}/nodes`)).text, before);

  const share = await bob('PUT', `/v2/projects/${id}/sharing`, { everybody: 'watch', accounts: { olga: 'change' } });
  assert.equal(share.status, 200, share.text);
  for (const name of ['eve', 'olga'] as const) {
    const ask = asker(daemon, name);
    assert.match((await ask('GET', '/v2/projects')).text, /Thesis of Bob/);
    for (const route of daemon.app.routes.filter(
      (one) => one.definition.access === 'change' && !one.pattern.startsWith('/v3/'),
    )) {
      const { status, text } = await ask(route.method, pathOf(route, id), route.method === 'GET' ? undefined : {});
      assert.equal(status, 403, `${name}: ${route.method} ${route.pattern}: ${status} ${text.slice(0, 200)}`);
    }
  }
  assert.equal((await asker(daemon, 'ada')('GET', `/v2/projects/${id}/nodes`)).text, before);

  // A new owner has no share beside it, and a former owner none either.
  const given = async (owner: string): Promise<object> =>
    JSON.parse((await asker(daemon, 'ada')('PUT', `/v2/projects/${id}/sharing`, { owner })).text);
  assert.deepEqual(Object.keys(((await given('olga')) as { accounts: object }).accounts), []);
  assert.deepEqual(Object.keys(((await given('bob')) as { accounts: object }).accounts), []);

  // What one request leaves out stays as the other has it, whichever is first.
  for (let round = 0; round < 10; round++) {
    const sharing = `/v2/projects/${id}/sharing`;
    await bob('PUT', sharing, { everybody: 'none', accounts: {} });
    await Promise.all([
      bob('PUT', sharing, { everybody: 'watch' }),
      bob('PUT', sharing, { accounts: { eve: 'change' } }),
    ]);
    const { everybody, accounts } = JSON.parse((await bob('GET', sharing)).text);
    assert.deepEqual({ everybody, accounts }, { everybody: 'watch', accounts: { eve: 'change' } }, `round ${round}`);
    await Promise.all([
      bob('PUT', sharing, { update: { eve: 'none', ada: 'watch' } }),
      bob('PUT', sharing, { update: { olga: 'watch' } }),
    ]);
    const updated = JSON.parse((await bob('GET', sharing)).text) as { accounts: object };
    assert.deepEqual(updated.accounts, { ada: 'watch', olga: 'watch' }, `round ${round}`);
  }
});

test('a loaded lab belongs to the account that loads it, a found one has no owner, and figures are for an admin’s programs', async (t) => {
  const { daemon, file, state } = await serve(t);
  await file.add([{ name: 'ada', role: 'admin', password: PASSWORD }], []);
  await file.add([{ name: 'bob', role: 'user', password: PASSWORD }], []);
  const [ada, bob] = [asker(daemon, 'ada'), asker(daemon, 'bob')];
  const made = JSON.parse((await ada('POST', '/v2/projects', { name: 'First', auto_close: false })).text);
  await ada('POST', `/v2/projects/${made.project_id}/close`);
  const original = await readFile(join(made.path, made.filename), 'utf8');
  const copy = async (directory: string): Promise<string> => {
    const id = randomUUID();
    await mkdir(directory, { recursive: true });
    const text = original.replaceAll(made.project_id, id).replaceAll('"First"', `"${id}"`);
    await writeFile(join(directory, 'Copy.gns3'), text);
    return id;
  };
  const loaded = await copy(join(state, 'elsewhere'));
  const answer = await ada('POST', '/v2/projects/load', { path: join(state, 'elsewhere/Copy.gns3') });
  assert.equal(answer.status, 201, answer.text);
  const found = await copy(join(dirname(made.path), 'Found'));
  assert.equal((await ada('POST', '/v2/reload')).status, 200);
  await eventually(
    'the lab on the disk',
    async () => (await ada('GET', '/v2/projects')).text,
    (text) => text.includes(found),
  );
  const sharing = async (id: string): Promise<object> => {
    const { owner, everybody } = JSON.parse((await ada('GET', `/v2/projects/${id}/sharing`)).text);
    return { owner, everybody };
  };
  assert.deepEqual(await sharing(loaded), { owner: 'ada', everybody: 'none' });
  assert.deepEqual(await sharing(found), { owner: null, everybody: 'none' });
  for (const id of [loaded, found]) assert.equal((await bob('GET', `/v2/projects/${id}`)).status, 404);
  assert.equal((await ada('PUT', `/v2/projects/${found}/sharing`, { owner: 'bob' })).status, 200);
  assert.equal((await bob('GET', `/v2/projects/${found}`)).status, 200);

  const token = async (ask: typeof ada): Promise<{ authorization: string }> => {
    const { text } = await ask('POST', '/v2/account/tokens', { name: 'prometheus', role: 'observer' });
    return { authorization: `Bearer ${JSON.parse(text).token}` };
  };
  const [ofAda, ofBob] = [await token(ada), await token(bob)];
  const status = async (path: string, headers: Record<string, string>) =>
    (await daemon.app.request(path, { headers })).status;
  assert.deepEqual([await status('/metrics', ofAda), await status('/metrics', ofBob)], [200, 403]);
  assert.equal(await status('/v2/audit', ofAda), 403, 'nothing else is');
});

test('a lab that was everybody’s is so again when it has vanished from the disk and comes back', async (t) => {
  const first = await serve(t);
  const { state } = first;
  const answer = await first.daemon.app.request('/v2/projects', {
    method: 'POST',
    body: JSON.stringify({ name: 'Of all', auto_close: false }),
  });
  const { project_id: id, path } = (await answer.json()) as { project_id: string; path: string };
  await first.daemon.app.request(`/v2/projects/${id}/close`, { method: 'POST' });
  await first.file.add([{ name: 'ada', role: 'admin', password: PASSWORD }], []);
  await first.file.add([{ name: 'bob', role: 'user', password: PASSWORD }], []);
  const status = async ({ daemon }: { daemon: Daemon }) =>
    (await asker(daemon, 'bob')('GET', `/v2/projects/${id}`)).status;
  assert.equal(await status(first), 200);
  await first.daemon.stop();
  await rename(path, join(state, 'away'));
  const second = await serve(t, state);
  assert.equal(await status(second), 404);
  await second.daemon.stop();
  await rename(join(state, 'away'), path);
  assert.equal(await status(await serve(t, state)), 200);
});
