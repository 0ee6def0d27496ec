// Users, groups, roles, the access list, pools and sessions as clients of release 3.0.6 use them: who may do what, and when a session ends.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { WebSocket } from 'ws';
import { userCommand } from '../../src/commands/user.ts';
import { loadConfig } from '../../src/config/load.ts';
import { configureLog } from '../../src/host/log.ts';
import { basicHeader } from '../../src/http/access/authentication.ts';
import type { Route } from '../../src/http/app/route.ts';
import type { Daemon } from '../../src/start/daemon.ts';
import { scratchDirectory } from '../store/scratch.ts';
import { addPeople, asker, PASSWORD, serve } from './people-here.ts';
import { V3_ROUTES } from './v3-privileges.ts';

const plain = (spelling: string): string => spelling.replaceAll(/\{[^{}]*\}/g, '{}');

interface Answered {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: any JSON
  json: any;
}

/** A client with this token. */
function client({ app }: Daemon, token?: string) {
  return async (method: string, path: string, body?: object): Promise<Answered> => {
    const sent = body ? JSON.stringify(body) : null;
    const headers = {
      ...(token && { authorization: `Bearer ${token}` }),
      ...{ 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(sent ?? '')) },
    };
    const answer = await app.request(path, { method, headers, body: sent });
    const text = await answer.text();
    return { status: answer.status, json: text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : text };
  };
}
type Client = ReturnType<typeof client>;

async function logIn(daemon: Daemon, username: string, password = PASSWORD): Promise<Answered & { token: string }> {
  const answer = await client(daemon)('POST', '/v3/access/users/authenticate', { username, password });
  return { ...answer, token: answer.json.access_token };
}

async function made(answer: Promise<Answered>, status = 201) {
  const { status: actual, json } = await answer;
  assert.equal(actual, status, JSON.stringify(json));
  return json;
}

const ME = '/v3/access/users/me';
const TWO = { ada: 'admin', ann: 'user', bob: 'user', obs: 'observer' } as const;

test('a session ends with its account, its role in the account and another password, and rests while the account is locked', async (t) => {
  const state = await scratchDirectory(t);
  const served = await serve(t, state);
  const { daemon, file } = served;
  await addPeople(served, TWO);
  const ada = client(daemon, (await logIn(daemon, 'ada')).token);
  const nan = await made(ada('POST', '/v3/access/users', { username: 'nan', password: PASSWORD }));
  assert.equal((await file.read()).accounts.find(({ name }) => name === 'nan')?.role, 'none');
  const [one, other] = [await logIn(daemon, 'nan'), await logIn(daemon, 'nan')];
  const status = async (token: string, path = ME) => (await client(daemon, token)('GET', path)).status;
  assert.equal(await status(one.token), 200);
  assert.equal((await client(daemon)('GET', `${ME}?token=${one.token}`)).status, 200);

  // Neither in other dialects, nor as a password, nor a password here.
  assert.equal(await status(one.token, '/v2/version'), 401);
  assert.equal((await client(daemon)('GET', `/v2/version?token=${one.token}`)).status, 401);
  const basic = (password: string) => ({ headers: { authorization: basicHeader({ user: 'nan', password }) } });
  assert.equal((await daemon.app.request('/v2/version', basic(one.token))).status, 401);
  assert.equal((await daemon.app.request(ME, basic(PASSWORD))).status, 401);
  assert.equal(await status(`${one.token}x`), 401);

  // The session that changes the password goes on, the other one ends.
  const changed = await client(daemon, one.token)('PUT', ME, { password: 'another good one' });
  assert.equal(changed.status, 200);
  assert.deepEqual([await status(one.token), await status(other.token)], [200, 401]);
  assert.equal((await logIn(daemon, 'nan')).status, 401);

  const path = `/v3/access/users/${nan.user_id}`;
  assert.equal((await ada('PUT', path, { is_active: false })).json.is_active, false);
  assert.deepEqual([await status(one.token), (await logIn(daemon, 'nan', 'another good one')).status], [401, 401]);
  assert.equal((await daemon.app.request('/v2/version', basic('another good one'))).status, 401);
  assert.equal((await ada('PUT', path, { is_active: true })).status, 200);
  assert.equal(await status(one.token), 200);

  // It outlives a restart, as does the time of the login, and a password that an admin sets ends it.
  const { last_login: lastLogin } = (await ada('GET', path)).json;
  await daemon.stop();
  const again = (await serve(t, state)).daemon;
  const since = (token: string) => client(again, token)('GET', ME).then((answer) => answer.status);
  const { json: me } = await client(again, one.token)('GET', ME);
  assert.equal(me.last_login, lastLogin);
  assert.notEqual(lastLogin, null);
  await file.update('nan', { password: 'a third one' }, undefined);
  assert.equal(await since(one.token), 401);
  const last = await logIn(again, 'nan', 'a third one');
  assert.equal(await since(last.token), 200);
  await file.remove(['nan'], false);
  assert.equal(await since(last.token), 401);
});

/** What a WebSocket is told, and the code with which it is closed (0 while it is open); the status if it is refused. */
async function hear(daemon: Daemon, target: string, headers: Record<string, string> = {}) {
  const socket = new WebSocket(`ws://127.0.0.1:${daemon.address.port}${target}`, { headers });
  const heard = { status: 101, code: 0, text: '' };
  await new Promise<void>((resolve) => {
    socket.on('unexpected-response', (_request, response) => {
      heard.status = response.statusCode!;
      resolve();
    });
    socket.on('error', () => {});
    socket.on('message', (data) => {
      heard.text += String(data);
      if (!heard.text.includes('log.error')) resolve();
    });
    socket.on('close', (code) => {
      heard.code = code;
      resolve();
    });
  });
  socket.terminate();
  return heard;
}

test('a token of a login is taken in its header and its parameter of /v3 alone, the header going first', async (t) => {
  const served = await serve(t);
  const { daemon, file } = served;
  const people = await addPeople(served, TWO);
  const { token } = await logIn(daemon, 'bob');
  const [head, , secret] = token.split('.') as [string, string, string];
  const claims = (sub: string) => Buffer.from(JSON.stringify({ sub, exp: 4_000_000_000 })).toString('base64url');
  const ticket: string = JSON.parse(
    (await people.bob('POST', '/v2/tickets', { path: '/v2/notifications/ws' })).text,
  ).ticket;
  const bearer = (text: string) => ({ authorization: `Bearer ${text}` });
  const password = { authorization: basicHeader({ user: 'bob', password: PASSWORD }) };
  const attempts: readonly (readonly [target: string, headers: Record<string, string>, status: number])[] = [
    [ME, bearer(token), 200],
    [ME, { authorization: `bEaReR ${token}` }, 200],
    [`${ME}?token=${token}`, {}, 200],
    [`${ME}?token=wrong`, bearer(token), 200],
    [`${ME}?token=${token}`, bearer('wrong'), 401],
    [`${ME}?token=${token}`, password, 200],
    [ME, password, 401],
    // Of two parameters the first counts, as everywhere here.
    [`${ME}?token=${token}&token=wrong`, {}, 200],
    [`${ME}?token=wrong&token=${token}`, {}, 401],
    [`${ME}?token=&token=${token}`, {}, 401],
    [ME, { authorization: `Bearer ${token}, Bearer wrong` }, 401],
    [ME, { authorization: token }, 401],
    [ME, { authorization: `Token ${token}` }, 401],
    [ME, { cookie: `token=${token}`, 'x-auth-token': token, 'proxy-authorization': `Bearer ${token}` }, 401],
    ...['TOKEN', 'access_token', 'ticket', 'token[]', 'token%00'].map(
      (name) => [`${ME}?${name}=${token}`, {}, 401] as const,
    ),
    ...[`${token}%00`, `${token}%20`, `%20${token}`, token.toUpperCase(), ''].map(
      (text) => [`${ME}?token=${text}`, {}, 401] as const,
    ),
    // Another name, a later end, or no secret.
    ...[
      [head, claims('ada'), secret],
      [head, claims('bob'), secret],
      [head, claims('ada'), ''],
      [head, claims('ada')],
    ].map((parts) => [ME, bearer(parts.join('.')), 401] as const),
    [`/v2/account?token=${token}`, {}, 401],
    [`/v2/account?ticket=${token}`, {}, 401],
    ['/v2/account', bearer(token), 401],
    ['/v2/account', { authorization: basicHeader({ user: 'bob', password: token }) }, 401],
    [`/metrics?token=${token}`, {}, 401],
    [`/?token=${token}`, {}, 401],
    [`//v3/access/users/me?token=${token}`, {}, 401],
    [`/V3/access/users/me?token=${token}`, {}, 401],
    [`/v2/../v3/access/users/me?token=${token}`, {}, 401],
  ];
  for (const [target, headers, expected] of attempts) {
    const { status } = await daemon.app.request(target, { headers });
    assert.equal(status, expected, `${target} ${JSON.stringify(headers)}`);
  }

  const path = '/v3/notifications/ws';
  const sockets: readonly [target: string, headers: Record<string, string>, expected: object][] = [
    [`${path}?token=${token}`, {}, { status: 101, code: 0 }],
    [`${path}?token=${token}`, bearer('wrong'), { status: 101, code: 0 }],
    [path, bearer(token), { status: 403, code: 1006 }],
    [path, password, { status: 403, code: 1006 }],
    [`${path}?token=wrong`, bearer(token), { status: 101, code: 1008 }],
    [`${path}?ticket=${ticket}`, {}, { status: 403, code: 1006 }],
    [`/v2/notifications/ws?token=${token}`, {}, { status: 401, code: 1006 }],
    [`/v2/notifications/ws?ticket=${token}`, {}, { status: 401, code: 1006 }],
    [`/v3/nothing/ws?token=${token}`, {}, { status: 403, code: 1006 }],
  ];
  for (const [target, headers, expected] of sockets) {
    const { status, code, text } = await hear(daemon, target, headers);
    assert.deepEqual({ status, code: status === 101 ? code : 1006 }, expected, `${target} ${JSON.stringify(headers)}`);
    if (code === 1008) assert.equal(JSON.parse(text).action, 'log.error');
  }

  // A user of the same name is another one, and a day is enough.
  const status = async (text: string) => (await client(daemon, text)('GET', ME)).status;
  const other = (await logIn(daemon, 'obs')).token;
  await file.remove(['bob'], false);
  await file.add([{ name: 'bob', role: 'user', password: PASSWORD }], []);
  assert.equal(await status(token), 401);
  assert.equal(await status(other), 200);
  const now = Date.now();
  t.mock.method(Date, 'now', () => now + 24 * 3_600_000 + 1);
  assert.equal(await status(other), 401);
  assert.equal((await hear(daemon, `${path}?token=${other}`)).code, 1008);
});

test('wrong passwords are limited as in the v2 API, and no token is logged', async (t) => {
  const lines: string[] = [];
  configureLog({ debug: true, write: (line) => lines.push(line) });
  t.after(() => configureLog({ write: () => {} }));
  const served = await serve(t);
  const { daemon } = served;
  await addPeople(served, TWO);
  const { token } = await logIn(daemon, 'ann');
  const ann = client(daemon, token);
  const query = `?token=${token}`;
  assert.equal((await client(daemon)('GET', `${ME}${query}`)).status, 200);
  assert.equal((await ann('PUT', `${ME}${query}`, { full_name: 'Ann' })).status, 200);
  const lab = (await made(client(daemon)('POST', `/v3/projects${query}`, { name: 'lab', auto_close: false })))
    .project_id;
  for (const [method, path] of [
    ['POST', `/v3/projects/${lab}/nodes`],
    ['GET', `/v3/projects/${lab}/nodes/nothing`],
    ['POST', `/v3/projects/${lab}/files/README.txt`],
    ['GET', '/v3/nothing'],
    ['DELETE', '/v3/version'],
    ['GET', '/v3/computes/local/qemu/binaries'],
    ['GET', '/v2/projects'],
    ['POST', '/v2/projects'],
    ['POST', `/v3/projects/${lab}/close`],
  ] as const)
    await client(daemon)(method, `${path}${query}`, method === 'POST' ? {} : undefined);
  for (const path of [
    '/v3/notifications/ws',
    '/v3/nothing/ws',
    '/v2/notifications/ws',
    `/v3/projects/${lab}/notifications/ws`,
  ])
    await hear(daemon, `${path}${query}`);
  const audit = await readFile(join(served.state, 'audit.log'), 'utf8');
  assert.match(audit, /POST \/v3\/projects/);
  assert.ok(lines.some((line) => line.includes('path=/v3/notifications/ws')));
  assert.ok(![...lines, audit].some((text) => text.includes(token) || text.includes(token.split('.')[2]!)));

  const authenticate = (username: string, password: string) =>
    daemon.app.request('/v3/access/users/authenticate', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username, password }),
    });
  const byForm = (username: string, password: string, headers: Record<string, string> = {}) =>
    daemon.app.request('/v3/access/users/login', {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ username, password }).toString(),
    });
  // A name that there is not, and a wrong password, are not told apart.
  const [unknown, wrong] = [await authenticate('eve', 'x'), await authenticate('obs', 'x')];
  assert.deepEqual([unknown.status, await unknown.text()], [wrong.status, await wrong.text()]);
  assert.equal(wrong.headers.get('www-authenticate'), 'Bearer');

  const answers: Response[] = [];
  for (let number = 0; number < 8; number++) {
    const elsewhere = { 'x-forwarded-for': `192.0.2.${number}` };
    answers.push(
      await (number % 2 === 0 ? authenticate('bob', `wrong ${number}`) : byForm('bob', `wrong ${number}`, elsewhere)),
    );
  }
  const late = answers.find(({ status }) => status === 429);
  assert.ok(late, answers.map(({ status }) => status).join());
  assert.match(late.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
  assert.match(((await late.json()) as { message: string }).message, /Try again in/);
  // Nor by the form, nor by Basic, with the right password; another person is not delayed.
  assert.equal((await byForm('bob', PASSWORD)).status, 429);
  assert.equal((await asker(daemon, 'bob')('GET', '/v2/version')).status, 429);
  assert.equal((await authenticate('ada', PASSWORD)).status, 200);
  assert.equal((await ann('GET', ME)).status, 200);
});

/** Who logs in may use these without any privilege; the two of the first line need no login. */
const FOR_ALL = new Set([
  ...['POST /v3/access/users/authenticate', 'POST /v3/access/users/login'],
  ...['GET /v3/access/users/me', 'PUT /v3/access/users/me', 'GET /v3/access/privileges'],
]);

function pathOf({ pattern }: Pick<Route, 'pattern'>): string {
  return pattern.replaceAll(/\{\w+(:[^{}]*)?\}/g, () => randomUUID());
}

test('every route of accounts, access and pools asks for a login, and for an admin or an entry', async (t) => {
  const served = await serve(t);
  const { daemon, file } = served;
  await addPeople(served, { ...TWO, gone: 'user', locked: 'user', nan: 'none', all: 'none' });
  const tokens = Object.fromEntries(
    await Promise.all(
      ['ada', 'ann', 'obs', 'nan', 'all', 'gone', 'locked'].map(async (name) => [
        name,
        (await logIn(daemon, name)).token,
      ]),
    ),
  ) as Record<string, string>;
  await file.remove(['gone'], false);
  await file.update('locked', { locked: true }, undefined);
  const ada = client(daemon, tokens['ada']);
  const roles: { name: string; role_id: string }[] = (await ada('GET', '/v3/access/roles')).json;
  const administrator = roles.find(({ name }) => name === 'Administrator')!.role_id;
  const users: { username: string; user_id: string }[] = (await ada('GET', '/v3/access/users')).json;
  const all = users.find(({ username }) => username === 'all')!.user_id;
  const entry = { ace_type: 'user', path: '/', user_id: all, role_id: administrator };
  await made(ada('POST', '/v3/access/acl', entry));

  const routes = daemon.app.routes.filter(({ pattern }) => /^\/v3\/(access|pools)\b/.test(pattern));
  assert.ok(routes.length >= 38, `${routes.length} routes`);
  const findings: string[] = [];
  const expect = async (who: string, route: Route, isRight: (status: number) => boolean) => {
    const { status } = await client(daemon, tokens[who] ?? who)(
      route.method,
      pathOf(route),
      route.method === 'GET' ? undefined : {},
    );
    if (!isRight(status)) findings.push(`${who}: ${route.method} ${route.pattern}: ${status}`);
  };
  for (const route of routes) {
    const name = `${route.method} ${route.pattern}`;
    if (/\/(authenticate|login)$/.test(name)) continue;
    for (const who of ['', 'nonsense', 'gone', 'locked']) await expect(who, route, (status) => status === 401);
    for (const who of ['ann', 'obs', 'nan'])
      await expect(who, route, (status) => (FOR_ALL.has(name) ? status === 200 : status === 403));
    // Bodies are empty and identifiers unknown: what is allowed changes nothing.
    for (const who of ['ada', 'all'])
      await expect(who, route, (status) => ![401, 403].includes(status) && status < 500);
  }
  assert.deepEqual(findings, []);

  // Even all privileges make no admin.
  for (const path of ['/v2/audit', '/v2/iou_license', '/v2/compute/projects', '/metrics'])
    assert.equal((await asker(daemon, 'all')('GET', path)).status, 403, path);
  for (const [method, path] of [
    ['POST', '/v2/shutdown'],
    ['POST', '/v2/accounts'],
    ['DELETE', '/v2/accounts/ada'],
  ] as const)
    assert.equal((await asker(daemon, 'all')(method, path, {})).status, 403, path);
});

/** What Labwire leaves to admins, though the release asks for no privilege, or a user may have it there. */
const FOR_ADMINS = new Set([
  ...['POST /v3/reload', 'POST /v3/shutdown', 'GET /v3/iou_license', 'PUT /v3/iou_license', 'PUT /v3/gns3vm'],
  ...['GET /v3/gns3vm/engines/{}/vms', 'POST /v3/projects/load', 'POST /v3/computes/{}/connect'],
  ...['POST /v3/computes/{}/dynamips/auto_idlepc'],
  ...['GET', 'POST', 'PUT'].map((method) => `${method} /v3/computes/{}/{}/{}`),
]);
const WITHOUT_LOGIN =
  /^(?:(?:GET|POST) \/v3\/version|GET \/v3\/openapi\.json|POST \/v3\/access\/users\/(?:login|authenticate)|GET \/v3\/symbols\/\{\}\/raw)$/;

test('no route of /v3 shows or changes a private lab, or what all share, without the privilege of the release', async (t) => {
  const served = await serve(t);
  const { daemon } = served;
  const people = await addPeople(served, { ada: 'admin', bob: 'user', obs: 'observer', nan: 'none' });
  const tokens = {
    bob: (await logIn(daemon, 'bob')).token,
    obs: (await logIn(daemon, 'obs')).token,
    nan: (await logIn(daemon, 'nan')).token,
  };
  const { text } = await people.ada('POST', '/v2/projects', { name: 'SECRET42', auto_close: false });
  const { project_id: lab } = JSON.parse(text);
  const privileges = new Map(
    V3_ROUTES.map(([method, pattern, privilege]) => [plain(`${method} ${pattern}`), privilege]),
  );
  const findings: string[] = [];
  let asked = 0;
  const ask = async (who: keyof typeof tokens | '', route: Route, expected: number | 'allowed') => {
    const path = pathOf({ ...route, pattern: route.pattern.replace('{project_id}', lab) });
    const { status, json } = await client(daemon, tokens[who as 'bob'])(
      route.method,
      path,
      route.method === 'GET' ? undefined : {},
    );
    asked += 1;
    const isRight = expected === 'allowed' ? ![401, 403].includes(status) : status === expected;
    if (!isRight || JSON.stringify(json).includes('SECRET42'))
      findings.push(`${who}: ${route.method} ${path}: ${status}`);
  };
  for (const route of daemon.app.routes) {
    if (!route.pattern.startsWith('/v3/') || route.kind === 'socket') continue;
    const name = plain(`${route.method} ${route.pattern}`);
    const privilege = privileges.get(name);
    if (WITHOUT_LOGIN.test(name)) continue;
    await ask('', route, 401);
    const isOfLab = route.pattern.includes('{project_id}');
    const isOfAdmins = FOR_ADMINS.has(name) || privilege === undefined;
    if (isOfAdmins || privilege !== '-') await ask('nan', route, name === 'GET /v3/projects' ? 'allowed' : 403);
    const isShared = route.method === 'GET' && /^(?:-|(?:Symbol|Image|Appliance)\.Audit)$/.test(privilege ?? '');
    for (const who of ['bob', 'obs'] as const) {
      // An identifier that is taken is not told apart from one that is not.
      if (who === 'bob' && /^POST \/v3\/projects(?:\/\{\}\/import)?$/.test(name)) continue;
      if (isOfLab || isOfAdmins || !(isShared || FOR_ALL.has(name))) await ask(who, route, 403);
      else if (route.method === 'GET' && !/notifications/.test(name)) await ask(who, route, 'allowed');
    }
  }
  assert.deepEqual(findings, []);
  assert.ok(asked > 400, `${asked} requests`);
});

test('no spelling of an identifier makes a lab another one for the access list', async (t) => {
  const served = await serve(t);
  const { daemon } = served;
  const people = await addPeople(served, { ada: 'admin', nan: 'none' });
  const ada = client(daemon, (await logIn(daemon, 'ada')).token);
  const nan = client(daemon, (await logIn(daemon, 'nan')).token);
  const lab: string = JSON.parse(
    (await people.ada('POST', '/v2/projects', { name: 'A', auto_close: false })).text,
  ).project_id;
  const id = async (list: string, name: string, member: string): Promise<string> =>
    (await ada('GET', list)).json.find((one: Record<string, string>) => [one['name'], one['username']].includes(name))[
      member
    ];
  const entry = {
    ...{ ace_type: 'user', path: '/projects', user_id: await id('/v3/access/users', 'nan', 'user_id') },
    role_id: await id('/v3/access/roles', 'User', 'role_id'),
  };
  await made(ada('POST', '/v3/access/acl', entry));
  const spellings = [lab, lab.toUpperCase(), lab.replaceAll('-', ''), `%7B${lab}%7D`, `urn:uuid:${lab}`];
  const statuses = () =>
    Promise.all(spellings.map(async (one) => (await nan('GET', `/v3/projects/${one}/nodes`)).status));
  assert.deepEqual(await statuses(), [200, 200, 200, 200, 200]);
  await made(ada('POST', '/v3/access/acl', { ...entry, path: `/projects/${lab}/nodes`, allowed: false }));
  assert.deepEqual(await statuses(), [403, 403, 403, 403, 403]);
});

test('entries and pools open labs, are checked when they are made, and go with accounts, groups, roles and labs', async (t) => {
  const served = await serve(t);
  const { daemon, file } = served;
  const people = await addPeople(served, { ...TWO, nan: 'none' });
  const ada = client(daemon, (await logIn(daemon, 'ada')).token);
  const of = async (name: string): Promise<Client> => client(daemon, (await logIn(daemon, name)).token);
  const id = async (list: string, name: string, member: string): Promise<string> =>
    (await ada('GET', list)).json.find((one: Record<string, string>) => [one['name'], one['username']].includes(name))[
      member
    ];
  const [nan, bob] = [await id('/v3/access/users', 'nan', 'user_id'), await id('/v3/access/users', 'bob', 'user_id')];
  const admin = await id('/v3/access/users', 'ada', 'user_id');
  const role = (name: string) => id('/v3/access/roles', name, 'role_id');
  const lab = JSON.parse(
    (await people.ann('POST', '/v2/projects', { name: 'Anns', auto_close: false })).text,
  ).project_id;
  const see = async () => (await people.nan('GET', `/v2/projects/${lab}`)).status;

  // By a group that has the entry.
  const group = await made(ada('POST', '/v3/access/groups', { name: 'class' }));
  const groupPath = `/v3/access/groups/${group.user_group_id}`;
  const entry = { path: `/projects/${lab}`, role_id: await role('Auditor') };
  const ofGroup = await made(
    ada('POST', '/v3/access/acl', { ...entry, ace_type: 'group', group_id: group.user_group_id }),
  );
  assert.equal(await see(), 404);
  await made(ada('PUT', `${groupPath}/members/${nan}`), 204);
  assert.equal(await see(), 200);
  await made(ada('DELETE', groupPath), 204);
  assert.equal(await see(), 404);
  assert.equal((await ada('GET', `/v3/access/acl/${ofGroup.ace_id}`)).status, 404);

  // By a pool, which hides the lab from entries for all labs, and from no owner.
  const watcher = await made(ada('POST', '/v3/access/roles', { name: 'watcher' }));
  const audit = await id('/v3/access/privileges', 'Project.Audit', 'privilege_id');
  await made(ada('PUT', `/v3/access/roles/${watcher.role_id}/privileges/${audit}`), 204);
  const own = { ace_type: 'user', user_id: nan, role_id: watcher.role_id };
  await made(ada('POST', '/v3/access/acl', { ...own, path: '/projects' }));
  assert.equal(await see(), 200);
  const pool = await made(ada('POST', '/v3/pools', { name: 'course' }));
  const resource = `/v3/pools/${pool.resource_pool_id}/resources/${lab}`;
  await made(ada('PUT', resource), 204);
  assert.equal(await see(), 404);
  assert.equal((await people.ann('GET', `/v2/projects/${lab}`)).status, 200);
  await made(ada('POST', '/v3/access/acl', { ...own, path: `/pools/${pool.resource_pool_id}` }));
  assert.equal(await see(), 200);
  await made(ada('DELETE', `/v3/access/roles/${watcher.role_id}`), 204);
  assert.equal(await see(), 404);
  assert.deepEqual((await ada('GET', '/v3/access/acl')).json, []);

  // By sharing with a group, in the v2 API.
  const { ada: byPassword, ann } = people;
  const grouped = await byPassword('POST', '/v2/groups', { name: 'course', accounts: ['nan'] });
  assert.equal(grouped.status, 201, grouped.text);
  const shared = await ann('PUT', `/v2/projects/${lab}/sharing`, { groups: { course: 'watch' } });
  assert.deepEqual(JSON.parse(shared.text).groups, { course: 'watch' });
  assert.equal(await see(), 200);
  assert.equal((await people.nan('PUT', `/v2/projects/${lab}`, { zoom: 60 })).status, 403);
  assert.equal((await ann('PUT', '/v2/groups/course', { add: ['bob'] })).status, 403);
  assert.equal((await byPassword('PUT', '/v2/groups/course', { remove: ['nan'], add: ['bob'] })).status, 200);
  assert.deepEqual([await see(), (await people.bob('GET', `/v2/projects/${lab}`)).status], [404, 200]);
  assert.equal((await byPassword('DELETE', '/v2/groups/course')).status, 204);
  assert.equal((await people.bob('GET', `/v2/projects/${lab}`)).status, 404);
  assert.equal((await byPassword('DELETE', '/v2/groups/Users')).status, 403);

  // What is refused, with a reason.
  const refused: readonly (readonly [object, number])[] = [
    [{ ...own, path: '/nothing', role_id: await role('User') }, 400],
    [{ ...own, path: `/Projects/${lab}`, role_id: await role('User') }, 400],
    [{ ...own, path: '/', role_id: randomUUID() }, 404],
    [{ ...own, path: '/', role_id: await role('User'), user_id: randomUUID() }, 404],
    [{ ...own, path: '/', role_id: await role('User'), user_id: null }, 400],
    [{ ...own, path: '/', role_id: await role('User'), allowed: 'perhaps' }, 422],
  ];
  for (const [body, status] of refused) {
    const answer = await ada('POST', '/v3/access/acl', body);
    assert.equal(answer.status, status, JSON.stringify(body));
    assert.equal(typeof answer.json.message, 'string');
  }

  // A user manager has no power over admins; a pool manager none over labs of others.
  const manager = { ace_type: 'user', user_id: bob, path: '/', role_id: await role('User manager') };
  await made(ada('POST', '/v3/access/acl', manager));
  const pools = await made(ada('POST', '/v3/access/roles', { name: 'pools' }));
  for (const name of ['Pool.Allocate', 'Pool.Audit', 'Pool.Modify']) {
    const privilege = await id('/v3/access/privileges', name, 'privilege_id');
    await made(ada('PUT', `/v3/access/roles/${pools.role_id}/privileges/${privilege}`), 204);
  }
  await made(ada('POST', '/v3/access/acl', { ...manager, role_id: pools.role_id }));
  const byBob = await of('bob');
  for (const taken of [resource, `/v3/pools/${pool.resource_pool_id}`])
    assert.equal((await byBob('DELETE', taken)).status, 404, taken);
  await made(ada('DELETE', resource), 204);
  const made2 = await made(byBob('POST', '/v3/access/users', { username: 'new', password: PASSWORD }));
  assert.equal(made2.is_superadmin, false);
  assert.equal((await byBob('PUT', `/v3/access/users/${admin}`, { password: 'taken over!' })).status, 403);
  assert.equal((await byBob('PUT', `/v3/access/users/${admin}`, { is_active: false })).status, 403);
  assert.equal((await byBob('DELETE', `/v3/access/users/${admin}`)).status, 403);
  assert.equal((await byBob('PUT', resource)).status, 404);
  assert.equal((await byBob('GET', '/v3/access/acl')).status, 403);

  // Removed elsewhere, an account takes its entries and memberships along.
  const users = `/v3/access/groups/${await id('/v3/access/groups', 'Users', 'user_group_id')}/members`;
  await made(ada('PUT', `${users}/${bob}`), 204);
  await file.remove(['bob'], false);
  assert.deepEqual((await ada('GET', '/v3/access/acl')).json, []);
  assert.deepEqual((await ada('GET', users)).json, []);

  // The trail says what was granted to whom.
  const trail: { action: string; objects: Record<string, string> }[] = JSON.parse(
    (await byPassword('GET', '/v2/audit?last=1000')).text,
  );
  const granting = trail.find(({ action, objects }) => action === 'POST /v3/access/acl' && objects['user_id'] === bob);
  assert.equal(granting?.objects['path'], '/');
  assert.ok(trail.some(({ objects }) => objects['username'] === 'new'));
  assert.ok(!JSON.stringify(trail).includes(PASSWORD));

  // The last admin stays.
  assert.equal((await ada('PUT', `/v3/access/users/${admin}`, { is_active: false })).status, 400);
});

test('on the host accounts are locked and unlocked, and the last admin is not', async (t) => {
  const served = await serve(t);
  const { daemon, state } = served;
  await addPeople(served, { ada: 'admin', bob: 'user' });
  const { config } = loadConfig({ flags: [], environment: {}, workingDirectory: state, home: state, state });
  const user = (...words: string[]) => userCommand(config, { words, generate: false, json: false });
  const { token } = await logIn(daemon, 'bob');
  const status = async () => (await client(daemon, token)('GET', ME)).status;
  assert.match(await user('lock', 'bob'), /bob is locked/);
  assert.match(await user('list'), /bob \(locked\)/);
  assert.deepEqual([await status(), (await asker(daemon, 'bob')('GET', '/v2/version')).status], [401, 401]);
  assert.match(await user('unlock', 'bob'), /bob is unlocked/);
  assert.equal(await status(), 200);
  await assert.rejects(user('lock', 'ada'), /last admin/);
  await assert.rejects(user('lock', 'bob', 'nobody', 'ada'), /no account "nobody".*\. Already locked: bob\.$/);
  assert.match(await user('list'), /bob \(locked\)/);
  await assert.rejects(user('unlock', 'nobody', 'bob'), /shows them\.$/);
  assert.match(await user('list'), /bob \(locked\)/);
});

test('without accounts the routes serve the one administrator, and create no account', async (t) => {
  const { daemon } = await serve(t);
  const open = client(daemon);
  const me = (await open('GET', ME)).json;
  assert.equal(me.is_superadmin, true);
  assert.deepEqual((await open('GET', '/v3/access/users')).json, [me]);
  assert.equal((await open('POST', '/v3/access/groups', { name: 'class' })).status, 201);
  const { status, json } = await open('POST', '/v3/access/users', { username: 'eve', password: PASSWORD });
  assert.equal(status, 400);
  assert.match(json.message, /labwired user add/);
  const { token } = await logIn(daemon, 'anybody', 'anything');
  assert.equal((await client(daemon, token)('GET', ME)).status, 200);
});

test('a refused deletion of an image names only labs that the client sees', async (t) => {
  const served = await serve(t);
  const { daemon, state } = served;
  const people = await addPeople(served, TWO);
  const ada = client(daemon, (await logIn(daemon, 'ada')).token);
  const bob = client(daemon, (await logIn(daemon, 'bob')).token);
  const lists = async (path: string): Promise<Answered['json'][]> => (await ada('GET', path)).json;
  const roles = await lists('/v3/access/roles');
  const users = await lists('/v3/access/users');
  const entry = {
    ...{ ace_type: 'user', path: '/images' },
    user_id: users.find(({ username }) => username === 'bob').user_id,
    role_id: roles.find(({ name }) => name === 'Template manager').role_id,
  };
  await made(ada('POST', '/v3/access/acl', entry));
  await mkdir(join(state, 'images/QEMU'), { recursive: true });
  await writeFile(join(state, 'images/QEMU/base.img'), new Uint8Array(512));
  const labs = { ann: 'Secret', bob: 'Own' };
  const places: Record<string, string> = {};
  for (const [who, name] of Object.entries(labs)) {
    const lab = JSON.parse((await people[who as 'ann']('POST', '/v2/projects', { name, auto_close: false })).text);
    assert.equal((await people[who as 'ann']('POST', `/v2/projects/${lab.project_id}/close`)).status, 204);
    places[who] = join(lab.path, lab.filename);
    const topology = JSON.parse(await readFile(places[who], 'utf8'));
    topology.topology.nodes.push({
      ...{ compute_id: 'local', node_id: randomUUID(), node_type: 'qemu', name: `${name} VM` },
      properties: { hda_disk_image: 'base.img' },
    });
    await writeFile(places[who], JSON.stringify(topology));
  }
  const refused = async (who: 'ada' | 'bob', message: RegExp): Promise<void> => {
    const path = '/v2/computes/local/qemu/images/base.img';
    const answers = [
      JSON.parse((await people[who]('DELETE', path)).text),
      (await (who === 'ada' ? ada : bob)('DELETE', '/v3/images/base.img')).json,
    ];
    for (const { message: text } of answers) {
      assert.match(text, message);
      if (who === 'bob') assert.doesNotMatch(text, /Secret/);
    }
  };
  const own = 'the node "Own VM" of the project "Own"';
  await refused('bob', new RegExp(`used by ${own} and nodes or snapshots that you cannot see \\(1\\);`));
  await refused('ada', /used by (?=.*"Secret VM" of the project "Secret").*"Own VM" of the project "Own"/);
  await rm(places['bob']!);
  await writeFile(places['ann']!, '{');
  const hidden = /labs that cannot be read: "Own" \(.*\) and labs that you cannot see \(1\)\./;
  await refused('ada', /labs that cannot be read: (?=.*"Secret" \().*"Own" \(/);
  await refused('bob', hidden);
});
