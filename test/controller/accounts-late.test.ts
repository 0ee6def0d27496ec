// Requests that take their time: what is not complete when the right to it ends leaves nothing behind.
import assert from 'node:assert/strict';
import { access, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { basicHeader } from '../../src/http/access/authentication.ts';
import { AccountsFile } from '../../src/store/accounts.ts';
import { connect, settle } from '../../src/store/database.ts';
import { eventually } from '../eventually.ts';
import { addPeople, asker, PASSWORD, serve } from './people-here.ts';

test('a body that is not complete when the right to it ends changes nothing', async (t) => {
  const served = await serve(t);
  const { daemon, file } = served;
  const { ann, bob } = await addPeople(served, { ada: 'admin', ann: 'user', bob: 'user' });
  const lab = JSON.parse((await ann('POST', '/v2/projects', { name: 'Of Ann', auto_close: false })).text);
  const { project_id: id, path } = lab as { project_id: string; path: string };
  const made = await ann('POST', `/v2/projects/${id}/nodes`, {
    ...{ name: 'PC', node_type: 'vpcs', compute_id: 'local' },
  });
  const { node_id: node } = JSON.parse(made.text);
  const share = async (access: 'change' | undefined): Promise<void> => {
    const answer = await ann('PUT', `/v2/projects/${id}/sharing`, { accounts: access ? { bob: access } : {} });
    assert.equal(answer.status, 200, answer.text);
  };

  /** A request of which a part was read, and its rest. */
  const begun = async (method: string, target: string, first: string) => {
    let send!: ReadableStreamDefaultController<Uint8Array>;
    let asked!: () => void;
    const wantsMore = new Promise<void>((resolve) => {
      asked = resolve;
    });
    let pulls = 0;
    const body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          send = controller;
        },
        pull: (controller) => {
          pulls += 1;
          if (pulls === 1) controller.enqueue(Buffer.from(first));
          else asked();
        },
      },
      { highWaterMark: 0 },
    );
    const headers = { authorization: basicHeader({ user: 'bob', password: PASSWORD }) };
    const answer = daemon.app.request(target, { method, headers, body });
    await wantsMore;
    const end = (rest: string): void => {
      send.enqueue(Buffer.from(rest));
      send.close();
    };
    return { answer, end };
  };
  const targets = [
    ['POST', `/v2/projects/${id}/files/late.txt`, 'late'],
    ['POST', `/v2/projects/${id}/nodes/${node}/files/late.txt`, 'late'],
    ['PUT', `/v2/projects/${id}`, '{"name": "Late"'],
  ] as const;
  const nothing = async (when: string): Promise<void> => {
    for (const place of ['late.txt', `project-files/vpcs/${node}/late.txt`])
      await assert.rejects(access(join(path, place)), `${place}: ${when}`);
    assert.match((await ann('GET', `/v2/projects/${id}`)).text, /"name": "Of Ann"/, when);
  };

  for (const [method, target, first] of targets) {
    await share('change');
    const { answer } = await begun(method, target, first);
    await share(undefined); // ends it, though its body never ends
    assert.ok((await answer).status >= 400, target);
    await nothing(`${target}, shared no more`);
  }
  const waiting = [];
  for (const [method, target, first] of targets) {
    await share('change');
    waiting.push({ target, first, ...(await begun(method, target, first)) });
  }
  await file.remove(['bob'], true); // as `labwired user remove` does; the server has not looked yet
  for (const { target, first, answer, end } of waiting) {
    end(first.startsWith('{') ? '}' : ' at last');
    assert.ok((await answer).status >= 400, target);
    await nothing(`${target}, by an account that is gone`);
  }
  assert.equal((await bob('GET', '/v2/projects')).status, 401);

  await file.add([{ name: 'bob', role: 'user', password: PASSWORD }], []);
  await share('change');
  const [method, target, first] = targets[0];
  const { answer, end } = await begun(method, target, first);
  end(' but allowed');
  assert.equal((await answer).status, 201);
  assert.equal((await asker(daemon, 'bob')('GET', target)).text, 'late but allowed');
});

test('an account that is removed, or gets another password, while its own request waits changes no account', async (t) => {
  const served = await serve(t);
  const { daemon, file, state } = served;
  const { ada, mallory, bob } = await addPeople(served, { ada: 'admin', mallory: 'admin', bob: 'user' });
  for (const ask of [mallory, bob]) assert.equal((await ask('GET', '/v2/account')).status, 200);
  const login = { username: 'bob', password: PASSWORD };
  const session = await daemon.app.request('/v3/access/users/authenticate', {
    ...{ method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(login) },
  });
  const { access_token: token } = (await session.json()) as { access_token: string };
  const other = { method: 'PUT', body: '{"password": "of the intruder"}' };
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };

  // Whoever changes the accounts waits for this program, which removes one and gives another a password meanwhile.
  const lock = await connect(join(state, 'accounts.lock'), 1000);
  await settle((done) => lock.exec('BEGIN EXCLUSIVE', done));
  const begun = (['add', 'update', 'addToken'] as const).map(
    (name) => t.mock.method(AccountsFile.prototype, name).mock,
  );
  const waiting = [
    mallory('POST', '/v2/accounts', { name: 'back', role: 'admin', password: PASSWORD }),
    mallory('PUT', '/v2/accounts/bob', { role: 'admin' }),
    mallory('POST', '/v2/account/tokens', { name: 'back' }),
    bob('PUT', '/v2/account/password', { password: 'of the intruder' }),
    daemon.app.request('/v3/access/users/me', { ...other, headers }).then(({ status }) => ({ status })),
  ];
  await eventually(
    'all of them past their login',
    () => begun.reduce((sum, calls) => sum + calls.callCount(), 0),
    (calls) => calls === waiting.length,
  );
  const { accounts, tokens } = await file.read();
  const left = accounts.flatMap((account) => {
    if (account.name === 'mallory') return [];
    return account.name === 'bob' ? [{ ...account, password: accounts[0]!.password }] : [account];
  });
  await writeFile(file.path, JSON.stringify({ accounts: left, tokens }));
  await settle((done) => lock.close(done));
  assert.deepEqual(
    (await Promise.all(waiting)).map(({ status }) => status),
    [403, 403, 403, 403, 403],
  );
  assert.deepEqual(await file.read(), { accounts: left, tokens });
  assert.equal((await daemon.app.request('/v3/access/users/me', { headers })).status, 401);
  assert.equal((await ada('GET', '/v2/account')).status, 200);
});
