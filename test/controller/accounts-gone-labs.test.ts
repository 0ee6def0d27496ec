// Labs that are gone, or away for a while: nobody hears of them or takes their files who did not share them.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { Sharing } from '../../src/controller/accounts/sharing.ts';
import { Failure } from '../../src/failures.ts';
import { Documents } from '../../src/store/documents.ts';
import { Store } from '../../src/store/store.ts';
import { scratchDirectory } from '../store/scratch.ts';
import { eventually } from '../system/daemon.ts';
import { addPeople, asker, serve, told } from './people-here.ts';

const HUB = { name: 'Secret hub', node_type: 'ethernet_hub', compute_id: 'local' };

test('events and operations of a lab are reported to those who had it, and go with it', async (t) => {
  const served = await serve(t);
  const { daemon } = served;
  const people = await addPeople(served, { ada: 'admin', ann: 'user', bob: 'user', obs: 'observer' });
  const { ada, ann, bob } = people;
  const position = async (user: string, path: string): Promise<string> =>
    /"sequence":"(\w+)-/.exec(await told(daemon, user, `${path}?since=now`, /\n/))![1]!;
  const of = { controller: await position('obs', '/v2/notifications') };

  const lab = JSON.parse((await ann('POST', '/v2/projects', { name: 'Secret lab', auto_close: false })).text);
  const id = lab.project_id as string;
  assert.equal((await ann('POST', `/v2/projects/${id}/nodes`, HUB)).status, 201);
  const svg = '<svg width="9" height="9"><text>SECRET42</text></svg>';
  assert.equal((await ann('POST', `/v2/projects/${id}/drawings`, { svg })).status, 201);
  assert.equal((await ann('POST', `/v2/projects/${id}/duplicate`, { name: 'Secret copy' })).status, 201);
  const failed = await ann('POST', `/v2/projects/${randomUUID()}/import?name=Secret%20import`, {});
  assert.equal(failed.status, 409, failed.text);
  const shared = await ann('POST', '/v2/projects', { name: 'Class lab', auto_close: false });
  const { project_id: sharedId } = JSON.parse(shared.text);
  await ann('PUT', `/v2/projects/${sharedId}/sharing`, { everybody: 'watch' });
  for (const gone of [sharedId, id]) assert.equal((await ann('DELETE', `/v2/projects/${gone}`)).status, 204);

  const template = { name: 'The last event', template_type: 'vpcs', compute_id: 'local' };
  assert.equal((await ada('POST', '/v2/templates', template)).status, 201);
  const since = `?since=${of.controller}-0`;
  for (const name of ['bob', 'obs']) {
    const text = await told(daemon, name, `/v2/notifications${since}`, /The last event/);
    assert.doesNotMatch(text, /Secret|SECRET/, name);
    assert.match(
      text,
      /project\.deleted.*Class lab|Class lab.*project\.deleted/,
      'those who watched it hear of its end',
    );
    assert.doesNotMatch((await people[name as 'bob']('GET', '/v2/operations')).text, /Secret|SECRET/, name);
  }
  assert.match(await told(daemon, 'ann', `/v2/notifications${since}`, /The last event/), /project\.deleted/);
  const own = (await ann('GET', '/v2/operations')).text;
  assert.match(own, /Secret import/, 'whoever began an operation sees how it ended');
  assert.match(own, /Secret copy/);

  const anew = await bob('POST', '/v2/projects', { name: 'Of Bob', project_id: id, auto_close: false });
  assert.equal(anew.status, 201, anew.text);
  const epoch = await position('bob', `/v2/projects/${id}/notifications`);
  assert.equal((await bob('POST', `/v2/projects/${id}/nodes`, { ...HUB, name: 'Marker' })).status, 201);
  const stream = `/v2/projects/${id}/notifications?since=${epoch}-0`;
  assert.doesNotMatch(await told(daemon, 'bob', stream, /Marker/), /Secret|SECRET/);
  assert.doesNotMatch(await told(daemon, 'bob', `/v2/notifications${since}`, /Of Bob/), /Secret|SECRET/);
  assert.doesNotMatch((await bob('GET', `/v2/projects/${id}/journal`)).text, /Secret|SECRET/);
  assert.doesNotMatch((await bob('GET', '/v2/operations')).text, /Secret|SECRET/);
});

test('the sharing of a deleted lab goes with it, whatever fails after that', async (t) => {
  const served = await serve(t);
  const { state, daemon } = served;
  const { ann } = await addPeople(served, { ada: 'admin', ann: 'user', bob: 'user' });
  const { project_id: id } = JSON.parse((await ann('POST', '/v2/projects', { name: 'Of Ann' })).text);
  for (const method of ['delete', 'change'] as const)
    t.mock.method(Documents.prototype, method, () => Promise.reject(new Failure('out-of-space', 'planted')));
  await ann('DELETE', `/v2/projects/${id}`);
  t.mock.restoreAll();
  await daemon.stop();
  const again = await serve(t, state);
  const made = await asker(again.daemon, 'bob')('POST', '/v2/projects', { name: 'Of Bob', project_id: id });
  assert.equal(made.status, 201, made.text);
});

test('a lab whose deletion is under way is shared no more, as its sharing is deleted', async (t) => {
  await using store = await Store.open({ stateDirectory: await scratchDirectory(t) });
  const { documents } = store;
  const sharing = new Sharing(documents, () => true, {} as never);
  const share = (): Promise<void> => sharing.change('lab', (before) => ({ ...before, owner: 'ann' }));
  await share();
  await sharing.leaving('lab', () => documents.delete('sharing', 'lab'));
  await assert.rejects(share, /there is no lab/);
  await sharing.gone('lab');
  assert.deepEqual(await documents.list('sharing'), []);
});

test('a lab that is away keeps its identifier, its owner and its files', async (t) => {
  const served = await serve(t);
  const { state, daemon } = served;
  const { ada, ann, bob } = await addPeople(served, { ada: 'admin', ann: 'user', bob: 'user' });
  const lab = JSON.parse((await ann('POST', '/v2/projects', { name: 'Of Ann', auto_close: false })).text);
  const { project_id: id, path } = lab as { project_id: string; path: string };
  await ann('POST', `/v2/projects/${id}/close`);
  await writeFile(join(path, 's.txt'), 'of Ann');
  const away = join(state, 'away');
  await rename(path, away);
  assert.equal((await ada('POST', '/v2/reload')).status, 200);
  const statusFor = (expected: number) =>
    eventually(
      `${expected} for its owner`,
      async () => (await ann('GET', `/v2/projects/${id}`)).status,
      (status) => status === expected,
    );
  await statusFor(404);
  for (const name of ['Of Ann', 'Free']) {
    const taken = await bob('POST', '/v2/projects', { name, project_id: id });
    assert.equal(taken.status, 409, taken.text);
    assert.match(taken.text, /identifier is taken/);
  }
  assert.equal((await bob('POST', `/v2/projects/${id}/import`, {})).status, 409);
  // An attempt of her own that fails takes nothing from her either.
  assert.equal((await ann('POST', `/v2/projects/${id}/import`, {})).status, 409);
  await rename(away, path);
  assert.equal((await ada('POST', '/v2/reload')).status, 200);
  await statusFor(200);
  assert.equal((await ann('GET', `/v2/projects/${id}/files/s.txt`)).text, 'of Ann');
  assert.equal((await bob('GET', `/v2/projects/${id}`)).status, 404);

  await ann('PUT', `/v2/projects/${id}/sharing`, { accounts: { bob: 'watch' } });
  for (const path of ['/v2/projects', `/v2/projects/${id}/import`]) {
    const again = await bob('POST', path, { name: 'Mine', project_id: id });
    assert.equal(again.status, 409, 'a lab that he may only watch is not made again by him');
  }
  await daemon.stop();
  const again = await serve(t, state);
  const { owner } = JSON.parse((await asker(again.daemon, 'ada')('GET', `/v2/projects/${id}/sharing`)).text);
  assert.equal(owner, 'ann');
});
