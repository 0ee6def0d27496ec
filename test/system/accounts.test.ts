// Several people on one host, with the executable: accounts from the command line, labs of their own, consoles that are watched, tokens,
// and an end to everything that lasts as soon as an account, a password or a share is gone.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, lstatSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { WebSocket } from 'ws';
import { Client } from './client.ts';
import { type Daemon, eventually, startDaemon } from './daemon.ts';
import { executable } from './executable.ts';
import { add, as, basic, made, user } from './people.ts';
import { NOBODY } from './unprivileged.ts';

const BUILT_IN = '[VPCS]\nengine = built-in\n';

/** Status of the refusal, or the open socket with what it has received. */
function open(daemon: Daemon, path: string, headers: Record<string, string> = {}) {
  const { promise, resolve } = Promise.withResolvers<number | { socket: WebSocket; text: () => string }>();
  const socket = new WebSocket(daemon.url.replace('http', 'ws') + path, { headers });
  let text = '';
  socket.on('message', (data) => (text += String(data)));
  socket.on('unexpected-response', (_request, response) => resolve(response.statusCode!));
  socket.on('open', () => resolve({ socket, text: () => text }));
  return promise;
}

async function opened(daemon: Daemon, path: string, headers: Record<string, string> = {}) {
  const result = await open(daemon, path, headers);
  assert.ok(typeof result === 'object', `${path}: ${result}`);
  return result;
}

test('the first account ends what was open to everybody, and removing one ends all that it had open', async (t) => {
  const daemon = await startDaemon(t, { config: BUILT_IN });
  assert.equal((await daemon.ask('GET', '/v2/account')).json.login, false);
  const anonymous = await opened(daemon, '/v2/notifications/ws');
  const left = once(anonymous.socket, 'close');

  for (const [words, message] of [
    [['user', 'add', 'ada'], /first account must be an admin/],
    [['user', 'add', 'a:da', '--role', 'admin'], /cannot be the name/],
    [['user', 'add', 'ada', '--role', 'king'], /use none, observer, user, admin/],
    [['user', 'remove', 'ada'], /no account "ada"/],
    [['user', 'add'], /NAME is missing/],
    [['user'], /Say what to do/],
  ] as const) {
    const { status, stderr } = user(daemon, words, 'long enough');
    assert.match(stderr, message, words.join(' '));
    assert.notEqual(status, 0);
  }
  assert.match(user(daemon, ['user', 'add', 'ada', '--role', 'admin'], 'short').stderr, /fewer than 8/);
  assert.equal((await daemon.ask('GET', '/v2/projects')).status, 200, 'nothing was changed by what was refused');

  assert.match(user(daemon, ['user', 'add', 'bob', 'ada'], 'long enough').stderr, /first account must be an admin/);
  add(daemon, 'ada', 'admin');
  assert.equal((await daemon.ask('GET', '/v2/projects')).status, 401, 'with the next request');
  assert.equal((await left)[0], 1008);
  for (const [words, message] of [
    [['user', 'remove', 'ada'], /last admin/],
    [['user', 'role', 'ada', '--role', 'user'], /last admin/],
    [['user', 'add', 'ADA', '--role', 'user'], /already an account "ada"/],
  ] as const)
    assert.match(user(daemon, words, 'long enough').stderr, message);
  assert.equal(statSync(join(daemon.state, 'accounts.json')).mode & 0o777, 0o600);
  assert.doesNotMatch(readFileSync(join(daemon.state, 'accounts.json'), 'utf8'), /password of ada/);

  // A whole class at once, or nobody of it.
  const CLASS = ['Uta', 'Udo', 'Zoë K.'];
  for (const [words, message] of [
    [[...CLASS, 'Ada'], /already an account "ada"/],
    [[...CLASS, 'udo'], /already an account "Udo"/],
    [[...CLASS, 'a:da'], /cannot be the name/],
    [CLASS, /password for Udo is missing: give one line for each account, or --generate\. Nothing was changed/],
  ] as const)
    assert.match(user(daemon, ['user', 'add', ...words], 'long enough').stderr, message);
  const sheet = user(daemon, ['user', 'add', ...CLASS, '--generate']);
  assert.match(sheet.stdout, /^Uta {5}\S{8,}\nUdo {5}\S{8,}\nZoë K\. {2}\S{8,}\n$/, sheet.stderr);
  const [, udo = ''] = /^Udo +(\S+)$/m.exec(sheet.stdout) ?? [];
  assert.equal((await daemon.ask('GET', '/v2/account', { headers: basic('Udo', udo) })).json.role, 'user');
  assert.match(user(daemon, ['user', 'remove', 'Uta', 'nobody']).stderr, /no account "nobody"/);
  assert.equal(user(daemon, ['user', 'remove', ...CLASS]).status, 0, 'all were still there');
  const typed = user(daemon, ['user', 'add', 'Uta', 'Udo', '--json'], 'password of Uta\npassword of Udo');
  assert.deepEqual(JSON.parse(typed.stdout), [
    { name: 'Uta', role: 'user' },
    { name: 'Udo', role: 'user' },
  ]);
  for (const name of ['Uta', 'Udo'])
    assert.equal((await daemon.ask('GET', '/v2/account', { headers: basic(name) })).json.name, name);
  user(daemon, ['user', 'remove', 'Uta', 'Udo']);

  // However a keyboard composes the letters of the name.
  const name = 'Zoë Müller';
  add(daemon, name.normalize('NFD'), 'user');
  const zoe = basic(name.normalize('NFC'), `password of ${name.normalize('NFD')}`);
  assert.deepEqual((await daemon.ask('GET', '/v2/account', { headers: zoe })).json, {
    ...{ login: true, others: true, name: name.normalize('NFC'), role: 'user', token: null },
  });
  const socket = await opened(daemon, '/v2/notifications/ws', zoe);
  const stream = httpRequest({ port: daemon.port, path: '/v2/notifications', headers: zoe }).end();
  const [response] = (await once(stream, 'response')) as [import('node:http').IncomingMessage];
  const streamEnd = new Promise((resolve) =>
    response
      .on('data', () => {})
      .on('error', resolve)
      .on('close', resolve),
  );
  const socketEnd = once(socket.socket, 'close');
  const other = await opened(daemon, '/v2/notifications/ws', basic('ada'));
  assert.equal(user(daemon, ['user', 'remove', name]).status, 0);
  assert.equal((await daemon.ask('GET', '/v2/account', { headers: zoe })).status, 401, 'with the next request');
  assert.equal((await socketEnd)[0], 1008);
  await streamEnd;
  assert.equal(other.socket.readyState, WebSocket.OPEN);
  other.socket.terminate();

  const audit = spawnSync(executable()[0]!, [...executable().slice(1), 'audit', '--json', '--state', daemon.state]);
  const lines = String(audit.stdout)
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    lines.map(({ action, objects }) => [action, objects.account]),
    [
      ['add', 'ada'],
      ...[CLASS, CLASS, ['Uta', 'Udo'], ['Uta', 'Udo']].flatMap((some, index) =>
        some.map((one) => [index % 2 === 0 ? 'add' : 'remove', one]),
      ),
      ['add', name.normalize('NFC')],
      ['remove', name.normalize('NFC')],
    ].map(([verb, who]) => [`labwired user ${verb}`, who]),
  );
});

test('what root writes into the state directory of another user is that one’s', {
  skip: process.getuid?.() === 0 ? false : 'only root can become another user',
}, async (t) => {
  const daemon = await startDaemon(t, { config: BUILT_IN });
  add(daemon, 'ada', 'admin');
  await daemon.end('SIGTERM');
  chmodSync(daemon.directory, 0o755);
  assert.equal(spawnSync('chown', ['-R', String(NOBODY), daemon.state]).status, 0);
  for (const words of [['user', 'add', 'bob', '--generate'], ['password', '--generate'], ['audit'], ['recover']]) {
    const { status, stderr } = user(daemon, words);
    assert.equal(status, 0, `${words.join(' ')}: ${stderr}`);
  }
  const files = readdirSync(daemon.state, { recursive: true, encoding: 'utf8' });
  assert.ok(['account.json', 'accounts.json', 'audit.log'].every((name) => files.includes(name)));
  assert.deepEqual(
    files.filter((name) => lstatSync(join(daemon.state, name)).uid !== NOBODY),
    [],
  );
});

test('a lab is its maker’s until it is shared; a console is watched without a key getting through', async (t) => {
  const daemon = await startDaemon(t, { config: BUILT_IN });
  for (const [name, role] of [
    ['ada', 'admin'],
    ['bob', 'user'],
    ['eve', 'user'],
    ['olga', 'observer'],
  ] as const)
    add(daemon, name, role);
  const [ada, bob, eve, olga] = ['ada', 'bob', 'eve', 'olga'].map((name) => as(daemon, basic(name))) as [
    ReturnType<typeof as>,
    ReturnType<typeof as>,
    ReturnType<typeof as>,
    ReturnType<typeof as>,
  ];
  const watching = await opened(daemon, '/v2/notifications/ws?operations=yes', basic('eve'));
  const { project_id: id } = await made(bob('POST', '/v2/projects', { name: 'Thesis', auto_close: false }));
  const lab = `/v2/projects/${id}`;
  const { node_id: pc } = await made(
    bob('POST', `${lab}/nodes`, { name: 'PC1', node_type: 'vpcs', compute_id: 'local' }),
  );
  await made(bob('POST', `${lab}/snapshots`, { name: 'before' }));
  await made(bob('POST', `${lab}/duplicate`, { name: 'Copy of it' }));
  const zip = await new Promise<Buffer>((resolve, reject) => {
    httpRequest({ port: daemon.port, path: `${lab}/export`, headers: basic('bob') }, async (response) =>
      resolve(Buffer.concat(await response.toArray())),
    )
      .on('error', reject)
      .end();
  });

  await made(bob('POST', `${lab}/nodes/${pc}/start`));

  // Not shared: as if it were not there, by whatever way.
  assert.deepEqual((await eve('GET', '/v2/projects')).json, []);
  assert.deepEqual((await eve('GET', '/v2/project-figures')).json, []);
  assert.deepEqual((await eve('GET', '/v2/project-changes')).json, []);
  assert.deepEqual((await eve('GET', `/v2/operations?project_id=${id}`)).json, []);
  for (const path of ['', '/export', '/snapshots', `/nodes/${pc}`, '/files/Thesis.gns3', '/captures', '/sharing'])
    assert.equal((await eve('GET', lab + path)).status, 404, path);
  assert.equal((await eve('POST', `${lab}/duplicate`, { name: 'Mine now' })).status, 404);
  for (const path of [
    'notifications/ws',
    `nodes/${pc}/console/ws`,
    `nodes/${pc}/console/ws?cols=80&rows=24`,
    'links/statistics/ws',
  ])
    assert.equal(await open(daemon, `${lab}/${path}`, basic('eve')), 404, path);
  const { ticket } = await made(eve('POST', '/v2/tickets', { path: `${lab}/nodes/${pc}/console/ws` }));
  assert.equal(await open(daemon, `${lab}/nodes/${pc}/console/ws?ticket=${ticket}`), 404, 'with a ticket');
  for (const path of [`/v2/compute/projects/${id}`, `/v2/compute/projects/${id}/files/Thesis.gns3`, '/v2/iou_license'])
    assert.equal((await eve('GET', path)).status, 403, path);
  for (const path of [`projects/${id}`, `projects/${id}/files`, `qemu/nodes/${pc}`, `projects%2F${id}/files`])
    assert.equal((await eve('GET', `/v2/computes/local/${path}`)).status, 403, path);
  // Neither its identifier nor its name helps.
  assert.equal((await eve('POST', '/v2/projects', { name: 'x', project_id: id })).status, 409);
  assert.equal((await eve('POST', `/v2/projects?project_id=${id}`, { name: 'x' })).status, 409, 'in the query');
  assert.equal((await eve('POST', `${lab}/import?name=x`, 'PK')).status, 409);
  const taken = await eve('POST', '/v2/projects', { name: 'Thesis' });
  assert.equal(taken.status, 409);
  assert.ok(!taken.text.includes(id) && !taken.text.includes('bob'), taken.text);
  assert.equal((await eve('POST', '/v2/projects?path=/tmp/elsewhere', { name: 'elsewhere' })).status, 403);

  const imported = `/v2/projects/${crypto.randomUUID()}`;
  await made(eve('POST', `${imported}/import?name=imported`, new Uint8Array(zip)));
  assert.equal((await bob('GET', imported)).status, 404, 'what is imported is the importer’s');
  assert.deepEqual(
    (await made(eve('GET', '/v2/projects'))).map(({ name }: { name: string }) => name),
    ['imported'],
  );
  assert.equal((await made(ada('GET', '/v2/projects'))).length, 3, 'admins see all');
  assert.doesNotMatch(watching.text(), /Thesis|Copy of it|before/, 'nor do notifications tell of it');

  // For watching.
  await made(bob('PUT', `${lab}/sharing`, { accounts: { eve: 'watch', olga: 'change' } }));
  assert.equal((await eve('GET', `${lab}/sharing`)).json.access, 'watch');
  await eventually('the news of it', () => watching.text().includes('Thesis'));
  const console = `${lab}/nodes/${pc}/console/ws`;
  const typing = await opened(daemon, console, basic('bob'));
  for (const [name, query] of [
    ['eve', ''],
    ['olga', '?cols=20&rows=5'],
  ] as const) {
    const watched = await opened(daemon, console + query, basic(name));
    watched.socket.send(Buffer.from(`echo typed by ${name}\r`));
    watched.socket.send(`echo typed by ${name}\r`);
    typing.socket.send(Buffer.from(`\recho seen by ${name}\r`));
    await eventually('what the owner types', () => watched.text().includes(`seen by ${name}`));
    assert.ok(!typing.text().includes(`typed by ${name}`), 'what a watcher types gets nowhere');
    watched.socket.terminate();
  }
  // This node has no display, which is not for want of permission.
  const [theirs, own] = [basic('eve'), basic('bob')].map((who) => open(daemon, `${lab}/nodes/${pc}/console/vnc`, who));
  assert.equal(await theirs, await own);
  assert.notEqual(await own, 403);
  for (const [ask, name] of [
    [eve, 'eve'],
    [olga, 'olga'],
  ] as const) {
    const answer = await ask('POST', `${lab}/nodes/${pc}/stop`);
    assert.equal(answer.status, 403, name);
    assert.ok(answer.json.message.length > 20, 'in words');
    assert.equal((await ask('PUT', `${lab}/sharing`, { everybody: 'change' })).status, 403, name);
  }
  assert.equal((await olga('POST', '/v2/projects', { name: 'no' })).status, 403);
  assert.equal((await olga('POST', `${lab}/duplicate`, { name: 'no' })).status, 403);

  // For changing, and back: who may type no more is let go, and so is who may not even watch.
  await made(bob('PUT', `${lab}/sharing`, { accounts: { eve: 'change', olga: 'watch' } }));
  const eveTypes = await opened(daemon, console, basic('eve'));
  eveTypes.socket.send(Buffer.from('\recho now by eve\r'));
  await eventually('what eve types', () => typing.text().includes('now by eve'));
  const olgaWatches = await opened(daemon, console, basic('olga'));
  const ends = [once(eveTypes.socket, 'close'), once(olgaWatches.socket, 'close')];
  await made(bob('PUT', `${lab}/sharing`, { accounts: { eve: 'watch' } }));
  for (const [code] of await Promise.all(ends)) assert.equal(code, 1008);
  assert.equal((await olga('GET', lab)).status, 404);
  assert.equal(typing.socket.readyState, WebSocket.OPEN);
  typing.socket.terminate();
  watching.socket.terminate();

  // It stays so over a restart, and a removed lab leaves nothing that its successor would inherit.
  await daemon.end('SIGTERM');
  await daemon.start();
  assert.equal((await olga('GET', lab)).status, 404);
  assert.equal((await eve('GET', lab)).status, 200);
  await made(bob('DELETE', lab));
  await made(olga('GET', '/v2/projects'));
  await made(ada('POST', '/v2/projects', { name: 'Thesis', project_id: id }));
  assert.equal((await eve('GET', lab)).status, 404);

  const lines = (await made(ada('GET', '/v2/audit?last=1000'))) as {
    account: string;
    action: string;
    objects: object;
  }[];
  const start = lines.find(({ action }) => action.endsWith('/start'));
  assert.deepEqual(start, {
    ...start!,
    ...{ account: 'bob', address: '127.0.0.1', status: 200 },
    objects: { name: 'PC1', project_id: id, node_id: pc, project: 'Thesis' },
  });
  assert.ok(
    lines.some(({ account, action }) => account === 'eve' && action.startsWith('POST') && action.endsWith('/stop')),
  );
  assert.equal((await eve('GET', '/v2/audit')).status, 403);
  const trail = readFileSync(join(daemon.state, 'audit.log'), 'utf8');
  assert.doesNotMatch(trail, /password of|echo|scrypt|ticket=/);
});

test('tokens are shown once, may do no more than they are meant to, and end', async (t) => {
  const daemon = await startDaemon(t, { config: BUILT_IN });
  add(daemon, 'ada', 'admin');
  add(daemon, 'bob', 'user');
  const bob = as(daemon, basic('bob'));
  const { project_id: id } = await made(bob('POST', '/v2/projects', { name: 'Lab', auto_close: false }));
  const reading = await made(bob('POST', '/v2/account/tokens', { name: 'monitor', role: 'observer', days: 1 }));
  const robot = await made(bob('POST', '/v2/account/tokens', { name: 'robot' }));
  const short = await made(bob('POST', '/v2/account/tokens', { name: 'short', days: 0 }));
  const bearer = ({ token }: { token: string }) => ({ authorization: `Bearer ${token}` });
  const [monitor, program] = [as(daemon, bearer(reading)), as(daemon, bearer(robot))];
  assert.equal((await as(daemon, bearer(short))('GET', '/v2/projects')).status, 401, 'expired');
  assert.equal((await monitor('GET', `/v2/projects/${id}`)).status, 200);
  assert.equal((await monitor('DELETE', `/v2/projects/${id}`)).status, 403);
  assert.equal((await program('POST', `/v2/projects/${id}/close`)).status, 204);
  for (const [method, path, body] of [
    ['POST', '/v2/account/tokens', { name: 'more' }],
    ['PUT', '/v2/account/password', { password: 'long enough' }],
  ] as const)
    assert.equal((await program(method, path, body)).status, 403, path);
  const kept = readFileSync(join(daemon.state, 'accounts.json'), 'utf8');
  assert.ok(!kept.includes(robot.token) && !kept.includes(reading.token), 'at rest there is a hash');
  const list = await made(bob('GET', '/v2/account/tokens'));
  assert.deepEqual(
    list.map(({ name, last_used }: { name: string; last_used: string | null }) => [name, last_used !== null]),
    [
      ['monitor', true],
      ['robot', true],
      ['short', false],
    ],
  );
  assert.ok(!JSON.stringify(list).includes('lwt_'));
  const socket = await opened(daemon, '/v2/notifications/ws', bearer(robot));
  const end = once(socket.socket, 'close');
  await made(bob('DELETE', `/v2/account/tokens/${robot.token_id}`));
  assert.equal((await end)[0], 1008);
  assert.equal((await program('GET', '/v2/projects')).status, 401);
  assert.equal((await monitor('GET', '/v2/projects')).status, 200, 'the other one goes on');
  await made(bob('PUT', '/v2/account/password', { password: 'another password' }));
  assert.equal((await bob('GET', '/v2/projects')).status, 401);
  assert.equal((await as(daemon, basic('bob', 'another password'))('GET', '/v2/projects')).status, 200);
});

test('tokens are made, seen and ended from the command line, by an account and at the local socket', async (t) => {
  const daemon = await startDaemon(t, { config: BUILT_IN });
  add(daemon, 'ada', 'admin');
  add(daemon, 'bob', 'user');
  const of = (name: string): Client => new Client(daemon, { LABWIRE_SERVER: daemon.url.replace('//', `//${name}@`) });
  const [ada, bob] = [of('ada'), of('bob')];
  const here = new Client(daemon, { LABWIRE_SERVER: `unix:${join(daemon.state, 'labwired.sock')}` });
  const secretOf = (name: string): string => {
    writeFileSync(join(daemon.directory, `${name} password`), `password of ${name}\n`);
    return `${name} password`;
  };
  const [byAda, byBob] = ['ada', 'bob'].map((name) => ['--password-file', secretOf(name)]) as [string[], string[]];
  const { code, out, error } = await bob.run('token', 'create', 'backup', '--role', 'observer', ...byBob);
  assert.deepEqual([code, /^lwt_\S+\n$/.test(out)], [0, true], error);
  assert.match(error, /^Token "backup" is good until \d{4}-\d\d-\d\d \d\d:\d\d\. It is not shown again\.\n$/);
  writeFileSync(join(daemon.directory, 'backup.token'), out);
  const byToken = ['--password-file', 'backup.token'];
  await bob.fails(1, /A token cannot do this: log in with user and password/, 'token', 'create', 'x', ...byToken);
  await bob.say('context', 'add', 'bob', '--server', bob.environment['LABWIRE_SERVER']!, ...byBob);
  const forEver = JSON.parse(
    await here.say('token', 'create', 'for ever', '--days', 'never', '--json', '--context', 'bob'),
  );
  assert.deepEqual([forEver.expires, forEver.role, /^lwt_/.test(forEver.token)], [null, null, true]);
  await made(as(daemon, basic('bob'))('POST', '/v2/account/tokens', { name: 'short', days: 0 }));
  const list = await bob.say('token', 'list', ...byBob);
  assert.match(list, /^backup +observer +\S+ \S+ +\d{4}-\S+ \S+ +[0-9a-f-]{36}$/m, 'used');
  assert.match(list, /^for ever +never +[0-9a-f-]{36}$/m);
  assert.match(list, /^short +\S+ \S+, expired +[0-9a-f-]{36}$/m);
  assert.doesNotMatch(list, /lwt_/);

  // Whose they are.
  const [asAda, asBob] = [as(daemon, basic('ada')), as(daemon, basic('bob'))];
  await ada.fails(1, /There is no token "backup"; there are no tokens/, 'token', 'revoke', 'backup', ...byAda);
  for (const [ask, method, path, body, message] of [
    [asBob, 'GET', '?account=ada', undefined, /only admins see the tokens of others/],
    [asBob, 'POST', '', { name: 'x', account: 'ada' }, /at the local socket/],
    [asAda, 'POST', '', { name: 'x', account: 'bob' }, /at the local socket/],
    [asAda, 'GET', '?account=eve', undefined, /no account "eve"/],
  ] as const)
    assert.match((await ask(method, `/v2/account/tokens${path}`, body)).json.message, message);
  await ada.say('token', 'revoke', 'backup', '--account', 'bob', ...byAda);
  await bob.fails(1, /does not accept this token: it has expired, or was revoked/, 'lab', 'list', ...byToken);

  // At the local socket nobody has an account.
  await here.fails(1, /a token speaks for an account: log in with one, or name one/, 'token', 'list');
  const own = await here.say('token', 'create', 'monitor', '--account', 'ada', '-q');
  assert.equal((await as(daemon, { authorization: `Bearer ${own}` })('GET', '/v2/account')).json.name, 'ada');
  const names = async (ask: typeof asAda) =>
    (await made(ask('GET', '/v2/account/tokens'))).map(({ name }: { name: string }) => name);
  assert.deepEqual([await names(asAda), await names(asBob)], [['monitor'], ['for ever']], 'what failed made none');
});

test('clients of before come in with the one account of the configuration, which stays an admin beside the others', async (t) => {
  const config = `${BUILT_IN}[Server]\nauth = True\nuser = ann\npassword = p:ss wörd\n`;
  const daemon = await startDaemon(t, { config });
  const ann = as(daemon, basic('ann', 'p:ss wörd'));
  const old = await made(ann('POST', '/v2/projects', { name: 'Of before', auto_close: false }));
  assert.deepEqual(
    Object.keys(old).filter((member) => /owner|shar|account/.test(member)),
    [],
    'a project has no new members',
  );
  add(daemon, 'bob', 'user');
  assert.match(user(daemon, ['user', 'add', 'Ann'], 'long enough').stderr, /already an account "ann"/);
  assert.match(user(daemon, ['user', 'remove', 'ann']).stderr, /account of this host/);
  const bob = as(daemon, basic('bob'));
  assert.equal((await bob('GET', `/v2/projects/${old.project_id}`)).status, 200, 'labs of before are everybody’s');
  assert.equal((await bob('GET', '/v2/compute/version')).status, 403);
  assert.equal((await ann('GET', '/v2/compute/version')).status, 200, 'a controller comes with it');
  assert.equal((await ann('GET', '/v2/account')).json.role, 'admin');
  assert.equal(user(daemon, ['user', 'remove', 'bob']).status, 0);
  assert.equal((await ann('GET', '/v2/projects')).status, 200);
});

test('accounts of a controller work with nodes on a compute that has one account', async (t) => {
  const compute = await startDaemon(t, {
    config: `${BUILT_IN}[Server]\nauth = True\nuser = ann\npassword = p:ss wörd\n`,
  });
  const daemon = await startDaemon(t, { config: BUILT_IN });
  for (const [name, role] of Object.entries({ ada: 'admin', bob: 'user', olga: 'observer' })) add(daemon, name, role);
  const [ada, bob, olga] = ['ada', 'bob', 'olga'].map((name) => as(daemon, basic(name))) as [
    ReturnType<typeof as>,
    ReturnType<typeof as>,
    ReturnType<typeof as>,
  ];
  const other = { compute_id: 'other', name: 'Other', protocol: 'http', host: '127.0.0.1', port: compute.port };
  assert.equal((await bob('POST', '/v2/computes', other)).status, 403);
  const account = { user: 'ann', password: 'p:ss wörd' };
  assert.equal((await made(ada('POST', '/v2/computes', { ...other, ...account }))).connected, true);

  const { project_id: id } = await made(bob('POST', '/v2/projects', { name: 'Across', auto_close: false }));
  const lab = `/v2/projects/${id}`;
  const pc = async (name: string, last: number): Promise<string> => {
    const properties = { startup_script: `ip 10.0.0.${last}/24\n` };
    const node = { name, node_type: 'vpcs', compute_id: 'other', properties };
    const { node_id } = await made(bob('POST', `${lab}/nodes`, node));
    return `${lab}/nodes/${node_id}`;
  };
  const [here, there] = [await pc('Here', 1), await pc('There', 2)];
  const nodes = [here, there].map((path) => ({ node_id: path.split('/').at(-1), adapter_number: 0, port_number: 0 }));
  const { link_id } = await made(bob('POST', `${lab}/links`, { nodes }));
  const link = `${lab}/links/${link_id}`;
  await made(bob('POST', `${lab}/nodes/start`));
  await made(bob('PUT', `${lab}/sharing`, { accounts: { olga: 'watch' } }));

  const typing = await opened(daemon, `${there}/console/ws`, basic('bob'));
  const watching = await opened(daemon, `${there}/console/ws`, basic('olga'));
  watching.socket.send(Buffer.from('echo typed by olga\r'));
  typing.socket.send(Buffer.from('\rping 10.0.0.1 -c 2\r'));
  await eventually('the ping', () => watching.text().includes('10.0.0.1 icmp_seq=2 ttl='));
  assert.doesNotMatch(typing.text(), /typed by olga/);
  for (const { socket } of [typing, watching]) socket.terminate();

  // Every verb of a node and its link.
  await made(bob('POST', `${link}/start_capture`, { capture_file_name: 'across.pcap' }));
  await made(bob('POST', `${link}/stop_capture`));
  await made(bob('PUT', link, { filters: { packet_loss: [100] } }));
  for (const verb of ['console/reset', 'reload', 'suspend', 'start', 'stop']) {
    assert.equal((await olga('POST', `${there}/${verb}`)).status, 403, verb);
    await made(bob('POST', `${there}/${verb}`));
  }
  assert.equal((await made(olga('GET', there))).status, 'stopped');
  assert.equal((await made(bob('PUT', there, { name: 'Renamed' }))).name, 'Renamed');
  const twin = await made(bob('POST', `${there}/duplicate`, { x: 10, y: 10, z: 1 }));
  assert.equal(twin.compute_id, 'other');
  const onCompute = () => made(as(compute, basic('ann', 'p:ss wörd'))('GET', '/v2/compute/projects'));
  assert.equal((await onCompute()).length, 1);
  await made(bob('POST', `${lab}/nodes/stop`));
  const { snapshot_id } = await made(bob('POST', `${lab}/snapshots`, { name: 'before' }));
  await made(bob('DELETE', `${lab}/nodes/${twin.node_id}`));
  await made(bob('POST', `${lab}/snapshots/${snapshot_id}/restore`));
  assert.equal((await made(bob('GET', `${lab}/nodes`))).length, 3);
  await made(bob('POST', `${lab}/close`));
  await made(bob('POST', `${lab}/open`));
  await made(bob('DELETE', lab));
  assert.deepEqual(await onCompute(), []);
});

test('a disk that takes no audit line refuses no change, and two programs that add accounts lose none', async (t) => {
  const daemon = await startDaemon(t, { config: BUILT_IN });
  add(daemon, 'ada', 'admin');
  const trail = join(daemon.state, 'audit.log');
  spawnSync('sh', ['-c', 'mv "$1" "$1.old" && mkdir "$1"', 'sh', trail]);
  await made(as(daemon, basic('ada'))('POST', '/v2/projects', { name: 'Lab' }));
  await eventually('the log to say so', () => daemon.log.includes('audit trail cannot be written'));
  spawnSync('rmdir', [trail]);
  await made(as(daemon, basic('ada'))('POST', '/v2/projects', { name: 'Lab 2' }));
  await eventually(
    'the line of what was lost',
    () => existsSync(trail) && readFileSync(trail, 'utf8').includes('"lost":1'),
  );

  const password = join(daemon.directory, 'password');
  writeFileSync(password, 'a good password\n');
  const [program, ...first] = executable() as [string, ...string[]];
  const names = Array.from({ length: 4 }, (_, index) => `student ${index}`);
  const here = { '--state': daemon.state, '--config': daemon.configFile, '--password-file': password };
  const ends = names.map((name) =>
    once(spawn(program, [...first, 'user', 'add', name, ...Object.entries(here).flat()]), 'exit'),
  );
  const posts = names.map((name) =>
    as(daemon, basic('ada'))('POST', '/v2/accounts', {
      name: `${name} too`,
      role: 'user',
      password: 'a good password',
    }),
  );
  for (const [code] of await Promise.all(ends)) assert.equal(code, 0);
  for (const { status, text } of await Promise.all(posts)) assert.equal(status, 201, text);
  const listed = await made(as(daemon, basic('student 1', 'a good password'))('GET', '/v2/accounts'));
  assert.equal(listed.length, 9);
});

test('commands take a token in the place of a password; those of the server’s own user need none, and are written down', async (t) => {
  const daemon = await startDaemon(t, { config: BUILT_IN });
  add(daemon, 'ada', 'admin');
  add(daemon, 'bob', 'user');
  await made(as(daemon, basic('bob'))('POST', '/v2/projects', { name: 'Lab of Bob', auto_close: false }));
  const { token } = await made(as(daemon, basic('bob'))('POST', '/v2/account/tokens', { name: 'script' }));
  const file = join(daemon.directory, 'token');
  writeFileSync(file, `${token}\n`);
  const [program, ...first] = executable() as [string, ...string[]];
  const run = (...words: string[]) =>
    spawnSync(program, [...first, ...words], { encoding: 'utf8', env: { PATH: process.env['PATH'] } });
  const at = ['--server', daemon.url, '--password-file', file];
  assert.match(run('lab', 'list', ...at).stdout, /Lab of Bob/);
  writeFileSync(file, 'lwt_unknown\n');
  assert.match(run('lab', 'list', ...at).stderr, /does not accept this token/);
  assert.match(user(daemon, ['user', 'password', 'bob'], 'lwt_something').stderr, /as a token does/);

  const socket = ['--server', `unix:${join(daemon.state, 'labwired.sock')}`];
  // Sharing, by the owner's token.
  add(daemon, 'eve', 'user');
  writeFileSync(file, `${token}\n`);
  const share = (...words: string[]) => run('lab', 'share', 'Lab of Bob', ...words, ...at);
  assert.match(share('--with', 'eva').stderr, /There is no account "eva"; did you mean "eve"\?/);
  const shared = share('--with', 'eve,ada', '--role', 'change');
  assert.equal(shared.stdout, 'Lab "Lab of Bob" is shared: bob (owner), ada (change), eve (change).\n', shared.stderr);
  assert.equal((await as(daemon, basic('eve'))('GET', '/v2/projects')).json.length, 1);
  assert.match(share().stdout, /^ACCOUNT +RIGHT\nbob +owner\nada +change\neve +change\n$/);
  assert.deepEqual(JSON.parse(share('--remove', 'eve', '--everybody', 'watch', '--json').stdout).accounts, {
    ada: 'change',
  });
  assert.match(share('--remove', 'ada', '--everybody', 'none').stdout, /is shared: bob \(owner\)\.\n$/);
  assert.equal((await as(daemon, basic('eve'))('GET', '/v2/projects')).json.length, 0);
  const closed = run('lab', 'close', 'Lab of Bob', ...socket);
  assert.equal(closed.status, 0, closed.stderr);
  const lines = (await made(as(daemon, basic('ada'))('GET', '/v2/audit'))) as { account: string; action: string }[];
  const last = lines.findLast(({ action }) => action.endsWith('/close'));
  assert.match(String(last?.account), /^(root|user \d+)$/);
});
