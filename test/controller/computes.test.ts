// Computes as clients see them: registered, changed, deleted, found again after a restart (as in release 2.2.57).
import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { refuseWrites } from '../store/refused-writes.ts';
import { refusing, StandIn } from './computes-stand-in.ts';
import { LabServer, until } from './lab-server.ts';

/** Nothing listens there. */
const NOWHERE = { protocol: 'http', host: '127.0.0.1', port: 9 };

test('a compute is registered, changed member by member, and deleted; its password never comes back', async (t) => {
  const server = await LabServer.start(t);
  const events = await server.record('/v2/notifications/ws');
  const given = { compute_id: 'far', name: 'Far', ...NOWHERE, user: ' ann ', password: ' secret ' };
  const made = await server.expect(201, 'POST', '/v2/computes', given);
  assert.deepEqual(made, {
    ...{ compute_id: 'far', name: 'Far', ...NOWHERE, user: 'ann', connected: false },
    last_error: 'The compute at http://127.0.0.1:9 cannot be reached: ECONNREFUSED.',
    ...{ cpu_usage_percent: null, memory_usage_percent: null, capabilities: { version: null, node_types: [] } },
  });
  assert.deepEqual((await server.expect(200, 'GET', '/v2/computes'))[1], made);
  const renamed = await server.expect(200, 'PUT', '/v2/computes/far', { compute_id: 'other', name: 'Farther' });
  assert.deepEqual(renamed, { ...made, name: 'Farther', last_error: null });
  assert.equal((await server.expect(200, 'PUT', '/v2/computes/far', { user: '' })).user, null);
  await server.expect(204, 'DELETE', '/v2/computes/far');
  await server.expect(404, 'GET', '/v2/computes/far');
  await server.expect(204, 'DELETE', '/v2/computes/far');
  await until(() => events.length === 2, 'the events');
  assert.deepEqual(
    events.map(({ action, event }) => [action, event.name]),
    [
      ['compute.created', 'Far'],
      ['compute.deleted', 'Farther'],
    ],
  );
  assert.ok(!JSON.stringify(events).includes('secret'));
});

test('a compute without id and name gets them', async (t) => {
  const server = await LabServer.start(t);
  const names: string[] = [];
  const given = [{}, { user: 'bob' }, { user: 'a-very-long-user-name' }, { host: '::1' }, { user: null }, { name: '' }];
  for (const more of given) {
    const made = await server.expect(201, 'POST', '/v2/computes', { ...NOWHERE, ...more });
    assert.match(made.compute_id, /^[0-9a-f-]{36}$/);
    names.push(made.name);
  }
  assert.deepEqual(names, [
    'http://127.0.0.1:9',
    'http://bob@127.0.0.1:9',
    'http://a-very-long...@127.0.0.1:9',
    'http://::1:9',
    'http://127.0.0.1:9',
    'http://127.0.0.1:9',
  ]);
  const [, { compute_id: id, name }] = await server.expect(200, 'GET', '/v2/computes');
  assert.equal((await server.expect(200, 'PUT', `/v2/computes/${id}`, { name: '', port: 10 })).name, name);
});

test('names and ids that are taken or reserved are refused, and nothing is left', async (t) => {
  const server = await LabServer.start(t);
  await server.expect(201, 'POST', '/v2/computes', { ...NOWHERE, compute_id: 'a', name: 'A' });
  for (const [status, member, more] of [
    [409, 'name', { name: 'A' }],
    [400, 'compute_id', { compute_id: 'vm' }],
    [400, 'compute_id', { compute_id: '' }],
    [400, 'compute_id', { compute_id: '.' }],
    [400, 'compute_id', { compute_id: '..' }],
    [400, 'name', { name: 'gns3vm' }],
    [400, 'port', { port: '80' }],
    [400, 'protocol', { protocol: 'ftp' }],
    [400, 'name', { name: null }],
    [400, 'colour', { colour: 'red' }],
  ] as const) {
    const { message } = await server.expect(status, 'POST', '/v2/computes', { ...NOWHERE, ...more });
    assert.match(message, new RegExp(`${member}:`), message);
  }
  const known = await server.expect(201, 'POST', '/v2/computes', { ...NOWHERE, compute_id: 'a', name: 'B', port: 10 });
  assert.deepEqual([known.name, known.port], ['A', 9]);
  assert.equal((await server.expect(201, 'POST', '/v2/computes', { ...NOWHERE, compute_id: 'local' })).connected, true);
  assert.equal((await server.expect(200, 'GET', '/v2/computes')).length, 2);
});

test('computes and their passwords survive a restart, where only this user can read them', async (t) => {
  const it = await StandIn.start(t);
  const server = await LabServer.start(t);
  await server.expect(201, 'POST', '/v2/computes', it.body({ user: 'zoe', password: 'pass word' }));
  assert.equal(statSync(join(server.state, 'labwire.db')).mode & 0o077, 0);
  await server.stop();
  it.heard.length = 0;
  await server.start();
  await until(async () => (await server.expect(200, 'GET', '/v2/computes/it')).connected, 'the connection');
  assert.deepEqual(
    it.heard.map(({ call, headers }) => [call, headers.authorization]),
    [
      ['GET /capabilities', 'Basic em9lOnBhc3Mgd29yZA=='],
      ['WEBSOCKET /notifications/ws', 'Basic em9lOnBhc3Mgd29yZA=='],
    ],
  );
});

test('a compute is connected to once, however many clients ask at the same time, and gets projects in order', async (t) => {
  const it = await StandIn.start(t);
  const server = await LabServer.start(t);
  const socket = await server.stream('/v2/notifications');
  const lines = socket.body!.pipeThrough(new TextDecoderStream())[Symbol.asyncIterator]();
  await Promise.all([1, 2, 3].map(() => server.expect(201, 'POST', '/v2/computes', it.body())));
  assert.deepEqual(it.calls, ['GET /capabilities', 'WEBSOCKET /notifications/ws']);
  let told = '';
  while (!told.includes('compute.created')) told += (await lines.next()).value;
  assert.ok(told.indexOf('compute.updated') < told.indexOf('compute.created'));
  await lines.return?.();
});

test('usage comes from pings; a lost compute is reported, and found again', async (t) => {
  const it = await StandIn.start(t);
  const server = await LabServer.start(t);
  const read = () => server.expect(200, 'GET', '/v2/computes/it');
  await server.expect(201, 'POST', '/v2/computes', it.body());
  await it.notify('no JSON');
  await it.notify({ action: 'ping' });
  await it.notify({ action: 'ping', event: { cpu_usage_percent: 12.5, memory_usage_percent: 50 } });
  await until(async () => (await read()).cpu_usage_percent === 12.5, 'the usage');
  await it.close();
  await until(async () => !(await read()).connected, 'the loss');
  assert.deepEqual([(await read()).cpu_usage_percent, (await read()).capabilities.version], [null, '2.2.57']);
  await it.listen();
  await until(async () => (await read()).connected, 'the connection');
});

test('a change reconnects, to the new address', async (t) => {
  const [one, other] = [await StandIn.start(t), await StandIn.start(t)];
  const server = await LabServer.start(t);
  await server.expect(201, 'POST', '/v2/computes', one.body());
  const changed = await server.expect(200, 'PUT', '/v2/computes/it', { port: other.port, user: 'eve' });
  assert.equal(changed.connected, false);
  await until(() => one.listeners.length === 0, 'the end of the old connection');
  await until(() => other.listeners.length === 1, 'the new connection');
  assert.equal(other.heard[0]?.headers.authorization, `Basic ${Buffer.from('eve:').toString('base64')}`);
});

test('a password is sent to the address that it was given for, and to no other', async (t) => {
  const [one, other, third] = [await StandIn.start(t), await StandIn.start(t), await StandIn.start(t)];
  const server = await LabServer.start(t);
  const basic = (password: string): string => `Basic ${Buffer.from(`eve:${password}`).toString('base64')}`;
  const connected = (it: StandIn): Promise<void> => until(() => it.listeners.length === 1, 'the connection');
  await server.expect(201, 'POST', '/v2/computes', one.body({ user: 'eve', password: 'first' }));
  await server.expect(200, 'PUT', '/v2/computes/it', { name: 'Renamed', port: one.port });
  await until(
    () => one.heard.filter(({ call }) => call.startsWith('WEBSOCKET')).length === 2,
    'the same address again',
  );
  await server.expect(200, 'PUT', '/v2/computes/it', { port: other.port });
  await connected(other);
  await server.expect(200, 'PUT', '/v2/computes/it', { port: third.port, password: 'third' });
  await connected(third);
  const sent = [one, other, third].map(({ heard }) => [...new Set(heard.map(({ headers }) => headers.authorization))]);
  assert.deepEqual(sent, [[basic('first')], [basic('')], [basic('third')]]);
});

test('the compute of this process cannot be removed, and goes on', async (t) => {
  const server = await LabServer.start(t);
  assert.match((await server.expect(409, 'DELETE', '/v2/computes/local')).message, /compute_id: "local"/);
  assert.equal((await server.expect(200, 'GET', '/v2/computes/local')).connected, true);
  await server.hub(await server.project(), 'Hub');
});

test('what a user must correct at a compute is a 409 that says it, and stays in last_error', async (t) => {
  const server = await LabServer.start(t);
  for (const [said, answer] of [
    [/version 2\.2\.0, this server 2\.2\.57/, { version: '2.2.0', node_types: [] }],
    [/no version/, { hello: 'world' }],
    [/not JSON/, (_request, response) => response.end('<html>')],
    [/user and password/, refusing(401)],
    [/No compatible server/, refusing(404)],
    [/not ready/, refusing(503)],
    [/No compatible server/, (_request, response) => response.writeHead(302, { Location: 'http://127.0.0.1/' }).end()],
  ] as const satisfies [RegExp, StandIn['answers'][string]][]) {
    const it = await StandIn.start(t, { 'GET /capabilities': answer });
    const { message } = await server.expect(409, 'POST', '/v2/computes', it.body());
    assert.match(message, said);
    const { connected, last_error: last } = await server.expect(200, 'GET', '/v2/computes/it');
    assert.deepEqual([connected, last], [false, message]);
    await server.expect(204, 'DELETE', '/v2/computes/it');
  }
  for (const address of [{ host: 'no name' }, { host: '[::1]' }, { port: 70_000 }, { port: 0 }]) {
    const body = { compute_id: 'it', ...NOWHERE, ...address };
    assert.match((await server.expect(409, 'POST', '/v2/computes', body)).message, /host .* port/);
    await server.expect(204, 'DELETE', '/v2/computes/it');
  }
});

test('a compute with another password is not asked once more by each request, and at once when it is corrected', async (t) => {
  const server = await LabServer.start(t);
  const it = await StandIn.start(t, { 'GET /capabilities': refusing(401) });
  await server.expect(409, 'POST', '/v2/computes', it.body({ user: 'ann', password: 'wrong' }));
  const guesses = it.heard.length;
  for (let request = 0; request < 5; request++) {
    const { message } = await server.expect(409, 'GET', '/v2/computes/it/ports');
    assert.match(message, /user and password: correct them/);
  }
  assert.equal(it.heard.length, guesses);
  it.answers['GET /capabilities'] = { version: '2.2.57', platform: 'linux', node_types: [] };
  await server.expect(200, 'PUT', '/v2/computes/it', { password: 'right' });
  await until(async () => (await server.expect(200, 'GET', '/v2/computes/it')).connected, 'the connection');
});

test('a compute whose password changes while it is connected gets one wrong guess; other credentials are tried at once', async (t) => {
  const server = await LabServer.start(t);
  const it = await StandIn.start(t, {
    'POST /projects': {},
    'POST /projects/.*/vpcs/nodes': { status: 'stopped', console: 5000, console_type: 'telnet', name: 'PC' },
  });
  await server.expect(201, 'POST', '/v2/computes', it.body({ user: 'ann', password: 'old' }));
  const project = await server.project();
  const nodes = `/v2/projects/${project.project_id}/nodes`;
  const node = { name: 'PC', node_type: 'vpcs', compute_id: 'it' };
  const ids: string[] = [];
  for (let count = 0; count < 3; count++) ids.push((await server.expect(201, 'POST', nodes, node)).node_id);
  const read = () => server.expect(200, 'GET', '/v2/computes/it');
  for (const rejects of [{ status: 401 }, { status: 429, retryAfter: '40' }] as const) {
    const reason = rejects.status === 401 ? /It does not accept this user and password: correct/ : /no login for 40 s/;
    it.heard.length = 0;
    it.rejects = rejects;
    // The first call is a deletion, and for the second round the console of a node, which is a WebSocket.
    if (rejects.status === 401) await server.expect(204, 'DELETE', `${nodes}/${ids[0]}`);
    else await assert.rejects(server.record(`${nodes}/${ids[1]}/console/ws`), reason);
    assert.equal(it.calls.length, 1, it.calls.join());
    // It goes there when this server is let in again.
    await server.expect(204, 'DELETE', `${nodes}/${ids[2]}`);
    for (const [method, path, body] of [
      ['POST', nodes, node],
      ['POST', `${nodes}/${ids[1]}/start`],
      ['GET', '/v2/computes/it/ports'],
    ] as const)
      assert.match((await server.expect(409, method, path, body)).message, reason);
    assert.equal(it.calls.length, 1, it.calls.join());
    const { connected, last_error: last } = await read();
    assert.deepEqual([connected, reason.test(last)], [false, true]);
    assert.equal(it.listeners.length, 0, 'the notifications have ended, too');

    it.rejects = undefined;
    const before = performance.now();
    await server.expect(200, 'PUT', '/v2/computes/it', { password: `new ${rejects.status}` });
    await until(async () => (await read()).connected, 'the connection');
    assert.ok(performance.now() - before < 20_000, 'not after the wait for the old credentials');
    ids.splice(2, 1, (await server.expect(201, 'POST', nodes, node)).node_id);
  }
});

test('endpoints follow the rules for addresses, without asking anybody', async (t) => {
  const server = await LabServer.start(t);
  for (const [address, origin] of [
    [{ host: '::1' }, 'http://[::1]:9'],
    [{ host: '::' }, 'http://[::1]:9'],
    [{ host: '0.0.0.0' }, 'http://127.0.0.1:9'],
    [{ protocol: 'https', host: 'lab.example.invalid' }, 'https://lab.example.invalid:9'],
  ] as const) {
    await server.expect(201, 'POST', '/v2/computes', { compute_id: 'it', ...NOWHERE, ...address });
    const { endpoint } = await server.expect(200, 'GET', '/v2/computes/endpoint/it/qemu/images/a/b');
    assert.equal(endpoint, `${origin}/v2/compute/qemu/images/a/b`);
    await server.expect(204, 'DELETE', '/v2/computes/it');
  }
  await server.expect(404, 'GET', '/v2/computes/endpoint/it/qemu/images');
});

test('a compute and the note that it is drained are removed together', async (t) => {
  const server = await LabServer.start(t);
  await server.expect(201, 'POST', '/v2/computes', { compute_id: 'far', name: 'Far', ...NOWHERE });
  await server.expect(200, 'POST', '/v2/computes/far/drain');
  const accept = await refuseWrites(server.state, "DELETE ON document WHEN OLD.kind = 'draining'");
  assert.ok((await server.call('DELETE', '/v2/computes/far')).status >= 400);
  await server.stop();
  await server.start();
  assert.equal((await server.expect(200, 'GET', '/v2/computes/far')).draining, true);
  await accept();
  await server.expect(204, 'DELETE', '/v2/computes/far');
  await server.expect(201, 'POST', '/v2/computes', { compute_id: 'far', name: 'Far', ...NOWHERE });
  await server.stop();
  await server.start();
  assert.notEqual((await server.expect(200, 'GET', '/v2/computes/far')).draining, true);
});
