// Every route and what it asks of an account: none without a rule, and none that tells or changes what is not shared.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { loadConfig } from '../../src/config/load.ts';
import { needOf, RULES } from '../../src/controller/accounts/rules.ts';
import { type Daemon, startDaemon } from '../../src/daemon.ts';
import { configureLog } from '../../src/host/log.ts';
import { basicHeader } from '../../src/http/authentication.ts';
import type { Route } from '../../src/http/route.ts';
import { AccountsFile } from '../../src/store/accounts.ts';
import { scratchDirectory } from '../store/scratch.ts';

configureLog({ write: () => {} });

const PASSWORD = 'a good password';

async function serve(t: TestContext): Promise<{ daemon: Daemon; file: AccountsFile }> {
  const state = await scratchDirectory(t);
  const flags = Object.entries({ port: '0' }).map(([key, value]) => ({
    ...{ section: 'Server' as const, key, value, flag: key },
  }));
  const { config } = loadConfig({ flags, environment: {}, workingDirectory: state, home: state, state });
  const daemon = await startDaemon(config, () => {});
  t.after(() => daemon.stop());
  return { daemon, file: new AccountsFile(state) };
}

function asker({ app }: Daemon, user: string) {
  const headers = { authorization: basicHeader({ user, password: PASSWORD }) };
  return async (method: string, path: string, body?: object) => {
    const content = body === undefined ? null : JSON.stringify(body);
    const response = await app.request(path, { method, headers, body: content });
    const stream = response.headers.get('content-type') === 'application/json' && path.endsWith('/notifications');
    if (stream) await response.body?.cancel();
    const text = stream ? '' : await response.text();
    return { status: response.status, text };
  };
}

/** A path of the route, with this lab and else with what there is not. */
function pathOf({ pattern }: Route, projectId: string): string {
  return pattern
    .replaceAll('{project_id}', projectId)
    .replaceAll(/\{udp_port[^}]*\}|\{\w+:\\d\+\}/g, '1')
    .replaceAll(/\{(\w+)(:[^}]*)?\}/g, (_all, name: string) => (name.endsWith('_id') ? randomUUID() : 'x'));
}

test('every route has a rule, and every rule a route', async (t) => {
  const { daemon } = await serve(t);
  const routes = daemon.app.routes;
  assert.ok(routes.length > 150);
  const named = routes.map(({ method, pattern }) => `${method} ${pattern}`);
  const without = routes
    .filter((route) => needOf(route) === undefined)
    .map(({ method, pattern }) => `${method} ${pattern}`);
  assert.deepEqual(without, [], 'say in src/controller/accounts/rules.ts what they ask for');
  assert.deepEqual(
    [...RULES.keys()].filter((rule) => !named.includes(rule)),
    [],
    'these are gone',
  );
});

test('what a lab is asked for asks for that lab, and what changes asks for more than to watch', async (t) => {
  const { daemon } = await serve(t);
  for (const route of daemon.app.routes.filter(({ pattern }) => pattern.startsWith('/v2/projects/{project_id}'))) {
    const need = needOf(route)!;
    const name = `${route.method} ${route.pattern}`;
    const expected = route.method === 'GET' ? ['watch', 'type', 'change'] : ['change'];
    // These make labs of their own.
    if (/\/(duplicate|import)$/.test(name) && !name.includes('node_id')) continue;
    assert.ok(expected.includes(need), `${name}: ${need}`);
  }
});

test('no route tells or changes anything of a lab that is not shared, and an observer changes nothing at all', async (t) => {
  const { daemon, file } = await serve(t);
  const roles = { ada: 'admin', bob: 'user', eve: 'user', olga: 'observer' } as const;
  for (const [name, role] of Object.entries(roles)) await file.add({ name, role, password: PASSWORD }, []);
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
    for (const route of daemon.app.routes) {
      const need = needOf(route);
      if (route.kind === 'socket' && need === 'read') continue;
      const { status, text } = await ask(route.method, pathOf(route, id), route.method === 'GET' ? undefined : {});
      const what = `${name}: ${route.method} ${route.pattern}: ${status} ${text.slice(0, 200)}`;
      assert.doesNotMatch(text, /Thesis of Bob|Secret node/, what);
      if (need === 'admin') assert.equal(status, 403, what);
      if (need === 'watch' || need === 'change' || need === 'type') assert.equal(status, 404, what);
      if (need === 'use' && name === 'olga') assert.equal(status, 403, what);
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
    for (const route of daemon.app.routes.filter((one) => needOf(one) === 'change')) {
      const { status, text } = await ask(route.method, pathOf(route, id), route.method === 'GET' ? undefined : {});
      assert.equal(status, 403, `${name}: ${route.method} ${route.pattern}: ${status} ${text.slice(0, 200)}`);
    }
  }
  assert.equal((await asker(daemon, 'ada')('GET', `/v2/projects/${id}/nodes`)).text, before);
});
