// Entries of the access list open labs to accounts whose role does not, and nothing else. They survive a restart.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AccessList } from '../../src/controller/accounts/access-list.ts';
import { builtInId } from '../../src/controller/accounts/access-records.ts';
import { Store } from '../../src/store/store.ts';
import { refuseWrites } from '../store/refused-writes.ts';
import { scratchDirectory } from '../store/scratch.ts';
import { addPeople, asker, PASSWORD, serve, told } from './people-here.ts';

const NOW = '2026-11-25T12:00:00.000Z';
const times = { created: NOW, updated: NOW };

interface GivenEntry {
  subject: string;
  type?: 'user' | 'group';
  path: string;
  role: string;
  allowed?: boolean;
}

/** Writes entries and groups into a state directory that no server uses. */
async function keep(state: string, entries: readonly GivenEntry[], groups: Record<string, readonly string[]> = {}) {
  await using store = await Store.open({ stateDirectory: state });
  for (const [id, members] of Object.entries(groups))
    await store.documents.put('groups', id, { name: id, members, ...times });
  for (const [index, { type = 'user', role, allowed = true, ...entry }] of entries.entries())
    await store.documents.put('access-entries', `entry-${index}`, {
      ...{ ...entry, type, allowed, role: builtInId('role', role), propagate: true },
      ...times,
    });
}

test('which labs are on a list of release 3.0.6, and who may copy a lab', async (t) => {
  const state = await scratchDirectory(t);
  await keep(state, [
    { subject: 'one', path: '/projects/free', role: 'User' },
    { subject: 'all', path: '/projects', role: 'User' },
    { subject: 'pool', path: '/pools/course', role: 'User' },
  ]);
  await using store = await Store.open({ stateDirectory: state });
  await store.documents.put('pools', 'course', { name: 'course', labs: { pooled: { name: 'p', ...times } }, ...times });
  const [writers, changingGroups] = [() => [], () => []];
  const list = new AccessList({ documents: store.documents, writers, changingGroups, changed: async () => {} });
  await list.start();
  const who = (id: string) => ({ id, name: id, role: 'none', alone: false, tag: id }) as const;
  const table = ['one', 'all', 'pool', 'nobody'].map((id) => [
    id,
    ...['free', 'pooled'].map((lab) => [list.reads(who(id), lab), list.lists(who(id), lab)]),
    list.makes(who(id), 'pooled')?.pools,
    list.mayChange(id),
  ]);
  assert.deepEqual(table, [
    ['one', [true, false], [false, false], undefined, true],
    ['all', [true, true], [false, false], [], true],
    ['pool', [false, false], [true, true], ['course'], true],
    ['nobody', [false, false], [false, false], undefined, true],
  ]);
  // An entry that opens a lab to changes waits until no machine there writes to an image of all labs.
  const writing = new AccessList({
    ...{ documents: store.documents, changingGroups, changed: async () => {} },
    writers: () => [{ lab: 'elsewhere', node: 'VM1' }],
  });
  await writing.start();
  await writing.remove('access-entries', 'entry-1');
  const entry = { type: 'user', subject: 'all', path: '/projects', propagate: true, allowed: true } as const;
  await writing.addEntry({ ...entry, role: builtInId('role', 'Auditor') });
  await assert.rejects(
    writing.addEntry({ ...entry, role: builtInId('role', 'User') }),
    /"VM1" runs and writes to a disk/,
  );
});

test('entries open labs in the v2 API as far as their roles go, to accounts of any role', async (t) => {
  const state = await scratchDirectory(t);
  const labs: Record<string, string> = {};
  const ids: Record<string, string> = {};
  {
    const served = await serve(t, state);
    const roles = {
      ada: 'admin',
      ann: 'user',
      bob: 'user',
      obs: 'observer',
      nan: 'none',
      noa: 'none',
      ned: 'none',
    } as const;
    const people = await addPeople(served, roles);
    for (const { id, name } of (await served.file.read()).accounts) ids[name] = id;
    for (const name of ['open', 'other', 'everybodys']) {
      const made = await people.ann('POST', '/v2/projects', { name, auto_close: false });
      labs[name] = JSON.parse(made.text).project_id;
    }
    const everybodys = await people.ann('PUT', `/v2/projects/${labs['everybodys']}/sharing`, { everybody: 'change' });
    assert.equal(everybodys.status, 200, everybodys.text);
    const byName = { accounts: { ned: 'change' } };
    assert.equal((await people.ann('PUT', `/v2/projects/${labs['other']}/sharing`, byName)).status, 200);
    // Without entries: nothing.
    for (const path of ['/v2/symbols', '/v2/accounts', '/v2/appliances'])
      assert.equal((await people.nan('GET', path)).status, 403, path);
    assert.equal((await people.nan('GET', '/v2/projects')).text, '[]');
    assert.equal((await people.nan('POST', '/v2/projects', { name: 'mine' })).status, 403);
    assert.equal((await people.nan('GET', `/v2/projects/${labs['everybodys']}`)).status, 404);
    // What an owner shares by name is shared.
    assert.equal((await people.ned('PUT', `/v2/projects/${labs['other']}`, { zoom: 70 })).status, 200);
    await served.daemon.stop();
  }
  const open = `/projects/${labs['open']}`;
  await keep(
    state,
    [
      { subject: ids['nan']!, path: open, role: 'Auditor' },
      { subject: 'class', type: 'group', path: open, role: 'User' },
      { subject: ids['obs']!, path: '/projects', role: 'User' },
      { subject: ids['bob']!, path: '/', role: 'ACL manager' },
      { subject: 'class', type: 'group', path: `${open}/snapshots`, role: 'User', allowed: false },
    ],
    { class: [ids['noa']!] },
  );
  const served = await serve(t, state);
  const { daemon } = served;
  const nan = asker(daemon, 'nan');
  const lab = `/v2${open}`;
  const node = { name: 'PC1', node_type: 'vpcs', compute_id: 'local' };
  const table: readonly (readonly [string, string, string, object | undefined, number])[] = [
    ['nan', 'GET', lab, undefined, 200],
    ['nan', 'GET', `${lab}/nodes`, undefined, 200],
    ['nan', 'GET', `${lab}/snapshots`, undefined, 200],
    ['nan', 'PUT', lab, { zoom: 50 }, 404],
    ['nan', 'POST', `${lab}/nodes`, node, 404],
    ['nan', 'POST', `${lab}/duplicate`, { name: 'copy' }, 404],
    ['nan', 'GET', `/v2/projects/${labs['other']}`, undefined, 404],
    ['noa', 'PUT', lab, { zoom: 50 }, 200],
    ['nan', 'POST', `${lab}/open`, {}, 404],
    ['noa', 'POST', `${lab}/open`, {}, 201],
    ['noa', 'POST', `${lab}/nodes`, node, 201],
    ['noa', 'POST', `${lab}/nodes/start`, {}, 204],
    ['noa', 'POST', `${lab}/nodes/stop`, {}, 204],
    ['noa', 'GET', `${lab}/snapshots`, undefined, 404],
    ['noa', 'POST', '/v2/projects', { name: 'mine' }, 403],
    ['noa', 'PUT', `${lab}/sharing`, { everybody: 'change' }, 404],
    ['noa', 'POST', '/v2/projects/load', { path: '/etc/passwd' }, 403],
    ['ned', 'GET', lab, undefined, 404],
    ['obs', 'PUT', lab, { zoom: 60 }, 200],
    ['obs', 'POST', '/v2/projects', { name: 'of an observer' }, 201],
    ['obs', 'POST', `${lab}/duplicate`, { name: 'copy of an observer' }, 201],
    ['obs', 'POST', '/v2/templates', { name: 'x', template_type: 'vpcs', compute_id: 'local' }, 403],
    ['obs', 'POST', '/v2/shutdown', {}, 403],
    ['bob', 'GET', lab, undefined, 404],
    ['bob', 'GET', '/v2/audit', undefined, 403],
    ['bob', 'POST', '/v2/accounts', { name: 'evil', role: 'admin', password: PASSWORD }, 403],
  ];
  for (const [who, method, path, body, expected] of table) {
    const { status, text } = await asker(daemon, who)(method, path, body);
    assert.equal(status, expected, `${who}: ${method} ${path}: ${text}`);
  }
  assert.match((await nan('GET', '/v2/projects')).text, /"name": "open"/);
  assert.doesNotMatch((await nan('GET', '/v2/projects')).text, /other|everybodys/);

  // Events reach whoever may read the lab, and nobody else.
  const ada = asker(daemon, 'ada');
  const first = await told(daemon, 'nan', '/v2/notifications?since=now', /"sequence":"[^"]+"/);
  const since = /"sequence":"([^"]+)"/.exec(first)![1]!;
  await ada('PUT', `/v2/projects/${labs['other']}`, { zoom: 91 });
  await ada('PUT', lab, { zoom: 81 });
  const text = await told(daemon, 'nan', `/v2/notifications?since=${since}`, /"zoom":81/);
  assert.ok(!text.includes(labs['other']!), 'events of a lab that no entry opens');

  // A token with a lesser role uses no more of the entries than its role allows.
  const made = await asker(daemon, 'noa')('POST', '/v2/account/tokens', { name: 'watch', role: 'observer' });
  const authorization = `Bearer ${JSON.parse(made.text).token}`;
  const byToken = (method: string, path: string, body?: object) =>
    daemon.app.request(path, { method, headers: { authorization }, body: body ? JSON.stringify(body) : null });
  assert.equal((await byToken('GET', lab)).status, 200);
  assert.equal((await byToken('PUT', lab, { zoom: 99 })).status, 404);
  assert.equal((await byToken('POST', `${lab}/nodes/start`, {})).status, 404);

  // A deleted lab takes its entries along: another one with its identifier is not open.
  assert.equal((await ada('DELETE', lab)).status, 204);
  const again = { name: 'another', project_id: labs['open'], auto_close: false };
  assert.equal((await asker(daemon, 'ann')('POST', '/v2/projects', again)).status, 201);
  assert.equal((await nan('GET', lab)).status, 404);
  assert.equal((await asker(daemon, 'noa')('PUT', lab, { zoom: 51 })).status, 404);
  // The entry for all labs is still there.
  assert.equal((await asker(daemon, 'obs')('GET', lab)).status, 200);
});

test('an entry for a compute lets an account delete it, and take no host out of a cluster', async (t) => {
  const state = await scratchDirectory(t);
  const made = await serve(t, state);
  await addPeople(made, { ada: 'admin', bob: 'user' });
  const bob = (await made.file.read()).accounts.find(({ name }) => name === 'bob')!;
  await made.daemon.stop();
  await keep(state, [{ subject: bob.id, path: '/computes', role: 'Administrator' }]);
  const { daemon } = await serve(t, state);
  const there = '/v2/computes/11111111-1111-4111-8111-111111111111';
  for (const [name, path, status] of [
    ['bob', there, 204],
    ['bob', `${there}?forget=yes`, 403],
    ['ada', `${there}?forget=yes`, 204],
  ] as const)
    assert.equal((await asker(daemon, name)('DELETE', path)).status, status, `${name} ${path}`);
});

test('a change of several records is kept whole or not at all', async (t) => {
  const state = await scratchDirectory(t);
  await using store = await Store.open({ stateDirectory: state });
  const { documents } = store;
  const listed = async (writers: { lab: string; node: string }[] = []): Promise<AccessList> => {
    const changingGroups = () => ['team'];
    const list = new AccessList({ documents, writers: () => writers, changingGroups, changed: async () => {} });
    await list.start();
    return list;
  };
  const list = await listed();
  const { id: role } = await list.addRole('Guest', null);
  await list.addEntry({ type: 'user', subject: 'one', path: '/projects', propagate: true, allowed: true, role });
  // The role goes with its entries, and fails to go.
  await refuseWrites(state, "DELETE ON document WHEN OLD.kind = 'access-roles'");
  await assert.rejects(list.remove('access-roles', role), /refused/);
  for (const one of [list, await listed()]) assert.equal(one.list('access-entries').length, 1);
  // A new member may write to an image that a machine writes to: nothing of the group is changed.
  await store.documents.put('groups', 'team', { name: 'team', members: [], ...times });
  const writing = await listed([{ lab: 'lab', node: 'VM1' }]);
  const change = writing.changeGroup('team', { name: 'crew', added: ['one'], removed: [] });
  await assert.rejects(change, /"VM1" runs and writes to a disk/);
  for (const one of [writing, await listed()]) assert.equal(one.get('groups', 'team').name, 'team');
});
