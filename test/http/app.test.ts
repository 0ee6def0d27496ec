// What every route does: parameters, bodies, the forms of answers and errors, and the path as it stands on the wire.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import * as v from 'valibot';
import { Failure } from '../../src/failures.ts';
import { Authentication, oneAccount } from '../../src/http/access/authentication.ts';
import { gate } from '../../src/http/access/gate.ts';
import { App } from '../../src/http/app/app.ts';
import { readFormBody } from '../../src/http/app/body.ts';
import { curlLine, type RecordedRequest, recorder } from '../../src/http/app/recording.ts';
import { route, socketRoute } from '../../src/http/app/route.ts';
import { inDialect } from '../../src/http/v3/dialect.ts';
import { v3RoutesOf } from '../../src/http/v3/form.ts';
import { eventually } from '../eventually.ts';
import { scratchDirectory } from '../store/scratch.ts';

const Thing = v.strictObject({
  name: v.pipe(v.string(), v.minLength(1)),
  count: v.optional(v.pipe(v.number(), v.integer())),
});

const routes = [
  route('GET /v2/things', {}, () => [{ b: 1, a: 'ä€' }]),
  route('POST /v2/things', { body: Thing, status: 201 }, ({ body }) => body),
  route('GET /v2/things/{thing_id}', {}, ({ params }) => ({ id: params.thing_id })),
  route('DELETE /v2/things/{thing_id}', { status: 204 }, () => undefined),
  route('PUT /v2/things/{thing_id}', {}, () => undefined),
  route('GET /v2/things/{thing_id}/ports/{port:\\d+}', {}, ({ params }) => ({ port: Number(params.port) })),
  route('GET /v2/things/{thing_id}/files/{path:.+}', { raw: true }, ({ params, query }) => ({
    path: params.path,
    query,
  })),
  route('GET /v2/fail/{code}', {}, ({ params }) => {
    if (params.code === 'crash') throw new TypeError('secret detail');
    const details = params.code === 'image-missing' ? { image: 'a.bin' } : { exception: 'VPCSError' };
    throw new Failure(params.code as 'conflict', 'told', details);
  }),
  socketRoute('/v2/things/{thing_id}/ws', ({ params }) => {
    if (params.thing_id === 'none') throw new Failure('not-found', 'no such thing');
    return (socket) => {
      socket.send(`hello ${params.thing_id}`);
      socket.listen({ message: (data) => socket.send(`echo ${data}`) });
    };
  }),
];
const app = new App(routes);

async function json(response: Response): Promise<unknown> {
  return JSON.parse(await response.text());
}

test('answers are indented, sorted, ASCII, and name their route', async () => {
  const response = await app.request('/v2/things');
  assert.equal(response.status, 200);
  assert.equal(response.headers.get('content-type'), 'application/json');
  assert.equal(response.headers.get('x-route'), '/v2/things');
  assert.equal(await response.text(), '[\n    {\n        "a": "\\u00e4\\u20ac",\n        "b": 1\n    }\n]');
});

test('an answer without body has no type on 204 and an empty octet stream otherwise', async () => {
  const deleted = await app.request('/v2/things/1', { method: 'DELETE' });
  assert.deepEqual([deleted.status, deleted.headers.get('content-type'), await deleted.text()], [204, null, '']);
  const put = await app.request('/v2/things/1', { method: 'PUT' });
  assert.deepEqual(
    [put.status, put.headers.get('content-type'), await put.text()],
    [200, 'application/octet-stream', ''],
  );
});

test('unknown paths and methods get the plain answers that clients know', async () => {
  for (const path of [
    '/v2/nothing',
    '/v2/things/',
    '/v2/things/1/ports/x',
    '/v2/things/1/files/',
    '/v2//things',
    '/',
  ]) {
    const response = await app.request(path);
    assert.deepEqual([response.status, await response.text()], [404, '404: Not Found'], path);
  }
  for (const method of ['PATCH', 'PUT', 'HEAD']) {
    const response = await app.request('/v2/things', { method });
    assert.equal(response.status, 405, method);
    assert.equal(response.headers.get('allow'), 'GET,OPTIONS,POST', method);
  }
});

test('a refused body is a 400 that names the member, the route and what was sent', async () => {
  const cases: [body: string, message: RegExp, request: unknown][] = [
    ['', /name: is required/, {}],
    ['{"name":""}', /name: .*/, { name: '' }],
    ['{"name":1}', /name: expected string, received 1/, { name: 1 }],
    ['{"name":"a","count":1.5}', /count/, { name: 'a', count: 1.5 }],
    ['{"name":"a","colour":"red"}', /colour: is not a member/, { name: 'a', colour: 'red' }],
    ['null', /body: expected Object, received null/, null],
    ['[]', /body: expected an object, received a list/, []],
  ];
  for (const [body, message, request] of cases) {
    const response = await app.request('/v2/things', { method: 'POST', body });
    const answer = (await json(response)) as { message: string };
    assert.match(answer.message, message, body);
    assert.deepEqual(
      answer,
      { message: answer.message, status: 400, path: '/v2/things', method: 'POST', request },
      body,
    );
  }
});

test('bodies that are no JSON, too deep, hostile or too large are refused without harm', async () => {
  const malformed = await app.request('/v2/things', { method: 'POST', body: '{"name"' });
  assert.equal(malformed.status, 400);
  assert.deepEqual(((await json(malformed)) as { request: unknown }).request, { malformed_json: '{"name"' });
  for (const body of ['['.repeat(500_000), '{"a":'.repeat(100_000), '{"__proto__":{"x":1},"name":"a"}']) {
    assert.equal((await app.request('/v2/things', { method: 'POST', body })).status, 400, body.slice(0, 20));
  }
  const bytes = new Uint8Array([0x7b, 0xff, 0xfe, 0x7d]);
  assert.equal((await app.request('/v2/things', { method: 'POST', body: bytes })).status, 400);
  const large = await app.request('/v2/things', { method: 'POST', body: `{"name":"${'x'.repeat(1_100_000)}"}` });
  assert.equal(large.status, 413);
  assert.equal(((await json(large)) as { status: number }).status, 413);
});

test('query parameters are merged into the body as text, empty ones dropped, the first value counting', async () => {
  const merged = await app.request('/v2/things?name=q&name=r&count=', { method: 'POST', body: '{"name":"b"}' });
  assert.deepEqual(await json(merged), { name: 'q' });
  assert.equal((await app.request('/v2/things?other=1', { method: 'POST', body: '{"name":"b"}' })).status, 400);
});

test('a path reaches its route as it stands on the wire: dot segments are not folded into another route', async () => {
  const cases: [target: string, path: string][] = [
    ['/v2/things/1/files/../../x', '../../x'],
    ['/v2/things/1/files/%2e%2e/x', '../x'],
    ['/v2/things/1/files/..%2f..%2fx?y=1', '../../x'],
    ['/v2/things/1/files//etc/hostname', '/etc/hostname'],
    ['/v2/things/1/files/.', '.'],
    ['/v2/things/1/files/a%20b%25', 'a b%'],
  ];
  for (const [target, path] of cases) {
    assert.equal(((await json(await app.request(target))) as { path: string }).path, path, target);
  }
});

test('failures become their status; an unexpected error shows the client nothing of the inside', async () => {
  const cases: [code: string, status: number, extra: object][] = [
    ['forbidden', 403, { exception: 'VPCSError' }],
    ['not-found', 404, { exception: 'VPCSError' }],
    ['time-out', 408, { exception: 'VPCSError' }],
    ['conflict', 409, { exception: 'VPCSError' }],
    ['image-missing', 409, { exception: 'ImageMissingError', image: 'a.bin' }],
    ['unavailable', 503, { exception: 'VPCSError' }],
    ['out-of-space', 507, { exception: 'VPCSError' }],
  ];
  for (const [code, status, extra] of cases) {
    const response = await app.request(`/v2/fail/${code}`);
    assert.equal(response.status, status);
    assert.deepEqual(await json(response), { message: 'told', status, ...extra });
  }
  const crash = await app.request('/v2/fail/crash');
  assert.equal(crash.status, 500);
  assert.doesNotMatch(await crash.text(), /secret|app\.ts/);
});

test("a body that breaks off is its client's doing, and no error of the server", async () => {
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.error(Object.assign(new Error('aborted'), { code: 'ECONNRESET' })),
  });
  const response = await app.request('/v2/things', { method: 'POST', body });
  assert.deepEqual(
    [response.status, ((await json(response)) as { message: string }).message],
    [408, 'The body broke off.'],
  );
});

test('without a file descriptor to spare the answer is 503, however deep that reason lies', async () => {
  const open = Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE' });
  for (const thrown of [
    open,
    new Error('cannot start', { cause: open }),
    new Failure('conflict', 'no', { cause: open }),
  ]) {
    const short = new App([
      route('GET /v2/short', {}, () => {
        throw thrown;
      }),
    ]);
    const response = await short.request('/v2/short');
    assert.equal(response.status, 503);
    assert.match(await response.text(), /no file descriptor to spare/);
  }
});

test('a WebSocket route within the process opens, echoes, and refuses with the reason', async () => {
  const socket = await app.openSocket('/v2/things/7/ws');
  const heard: unknown[] = [];
  socket.listen({ message: (data) => heard.push(data) });
  socket.send('x');
  await eventually('both messages', () => heard.length === 2);
  assert.deepEqual(heard, ['hello 7', 'echo x']);
  await assert.rejects(app.openSocket('/v2/things/none/ws'), /no such thing/);
  const plain = await app.request('/v2/things/7/ws');
  assert.equal(plain.status, 400);
});

test('a recorded request can be pasted into a shell, whatever it holds', async () => {
  const requests: RecordedRequest[] = [];
  const recorded = new App(routes, { record: (request) => requests.push(request) });
  await recorded.request('/v2/things?x=1', { method: 'POST', body: `{"name":"it's"}` });
  await recorded.request('/v2/things');
  assert.deepEqual(
    requests.map((request) => curlLine('http://127.0.0.1:3080', request)),
    [
      `curl -X POST 'http://127.0.0.1:3080/v2/things?x=1' -d '{"name":"it'\\''s"}'`,
      `curl -X GET 'http://127.0.0.1:3080/v2/things'`,
    ],
  );
});

test('requests of both versions are recorded, none with a password or token', async (t) => {
  const file = join(await scratchDirectory(t), 'recorded');
  const User = v.object({ username: v.string(), password: v.string(), age: v.optional(v.number()) });
  const { route: v3Route } = v3RoutesOf({ 'POST /v3/users': { body: User }, 'DELETE /v3/users': { status: 204 } });
  const form = { read: readFormBody, type: 'application/x-www-form-urlencoded' };
  const { route: formRoute } = v3RoutesOf({ 'POST /v3/form': { body: User } }, form);
  const all = [
    ...routes,
    ...[route('POST /v2/computes', {}, () => undefined), inDialect(routes, 'POST /things')],
    ...[inDialect(routes, 'GET /things'), inDialect(routes, 'GET /things/{thing_id}/files/{path:.+}')],
    v3Route('POST /v3/users', () => undefined),
    v3Route('DELETE /v3/users', () => undefined),
    formRoute('POST /v3/form', () => undefined),
  ];
  const recorded = new App(all, { record: recorder(file, 'http://h') });
  const send = async (method: string, target: string, body?: object | string) => {
    const text = typeof body === 'object' ? JSON.stringify(body) : (body ?? null);
    const type = typeof body === 'string' ? form.type : 'application/json';
    const answer = await recorded.request(target, { method, body: text, headers: { 'content-type': type } });
    assert.ok(answer.ok, `${method} ${target}: ${answer.status} ${await answer.text()}`);
  };
  await send('POST', '/v2/computes', { user: 'u', password: 'hidden', more: [{ Console_Password: 'hidden' }] });
  await send('POST', '/v2/computes?p%61ssword=hidden&x=1', { password: null, access_token: 'hidden' });
  await send('POST', '/v3/things', { name: 'a' });
  await send('GET', '/v3/things?token=hidden&x=1');
  await send('GET', `/v3/things/${crypto.randomUUID()}/files/a`);
  await send('POST', '/v3/users', { username: 'u', password: 'hidden', age: '7' });
  await send('POST', '/v3/form', 'username=u&password=hidden');
  await send('DELETE', '/v3/users');
  const json = `-H 'Content-Type: application/json' -d`;
  const wanted = [
    `POST 'http://h/v2/computes' -d '{"user":"u","password":"PASSWORD","more":[{"Console_Password":"PASSWORD"}]}'`,
    `POST 'http://h/v2/computes?p%61ssword=PASSWORD&x=1' -d '{"password":null,"access_token":"TOKEN"}'`,
    `POST 'http://h/v3/things' ${json} '{"name":"a"}'`,
    `GET 'http://h/v3/things?token=TOKEN&x=1'`,
    `POST 'http://h/v3/users' ${json} '{"username":"u","password":"PASSWORD","age":"7"}'`,
    `DELETE 'http://h/v3/users'`,
  ];
  const lines = () =>
    readFile(file, 'utf8').then(
      (text) => text.trim().split('\n'),
      () => [],
    );
  assert.deepEqual(
    await eventually('all lines', lines, ({ length }) => length >= wanted.length),
    wanted.map((line) => `curl -X ${line}`),
  );
});

test('the gate asks for the password on every route and answers preflights of allowed origins only', async () => {
  const guarded = new App(routes, {
    middleware: gate({
      rules: { hosts: [], origins: ['http://friend.example'] },
      authentication: new Authentication(() => oneAccount({ user: 'u', password: 'pä:ss' })),
    }),
  });
  const basic = `Basic ${Buffer.from('u:pä:ss').toString('base64')}`;
  const refused = await guarded.request('/v2/things');
  assert.deepEqual(
    [refused.status, refused.headers.get('www-authenticate'), await refused.text()],
    [401, 'Basic realm="GNS3 server"', ''],
  );
  assert.equal((await guarded.request('/v2/nothing')).status, 401);
  assert.equal((await guarded.request('/v2/things/7/ws')).status, 401);
  assert.equal((await guarded.request('/v2/things', { headers: { authorization: `${basic}x` } })).status, 401);
  const served = await guarded.request('/v2/things', {
    headers: { authorization: basic, origin: 'http://friend.example' },
  });
  assert.equal(served.status, 200);
  assert.equal(served.headers.get('access-control-allow-origin'), 'http://friend.example');
  const preflight = await guarded.request('/v2/things', {
    method: 'OPTIONS',
    headers: { origin: 'http://friend.example' },
  });
  assert.equal(preflight.status, 200);
  assert.equal(preflight.headers.get('access-control-allow-credentials'), 'true');
  assert.equal(
    (await guarded.request('/v2/things', { method: 'OPTIONS', headers: { origin: 'http://evil.example' } })).status,
    403,
  );
  assert.equal(
    (await guarded.request('/v2/things', { headers: { authorization: basic, origin: 'http://evil.example' } })).status,
    403,
  );
});

test('a call within the process answers what the request does, and shares nothing with it', async () => {
  const held = { list: [{ n: 1 }], none: undefined };
  let sent: unknown;
  const own = new App([
    ...routes,
    route('POST /v2/held', { status: 201 }, ({ body }) => {
      sent = body;
      return held;
    }),
    {
      ...route('POST /v2/nodes/{node_id}', {}, async ({ body }) => {
        const before = JSON.stringify(held.list);
        await new Promise((resolve) => setTimeout(resolve, 5));
        assert.equal(JSON.stringify(held.list), before, 'requests for one node take turns');
        held.list.push({ n: (body as { n: number }).n });
      }),
      turn: ({ node_id }) => node_id,
    },
  ]);
  for (const [method, target, body] of [
    ['GET', '/v2/things'],
    ['GET', '/v2/things?a=1'],
    ['POST', '/v2/things', { name: 'n', count: 2 }],
    ['POST', '/v2/things?name=other', { name: 'n' }],
    ['POST', '/v2/things', { name: '' }],
    ['POST', '/v2/things', { name: 'n', count: Number.NaN }],
    ['GET', '/v2/things/a%20b%2Fc'],
    ['GET', '/v2/things/%E0%A4%A'],
    ['PUT', '/v2/things/1', {}],
    ['DELETE', '/v2/things/1'],
    ['GET', '/v2/things/1/files/a/b?x=y'],
    ['GET', '/v2/fail/conflict'],
    ['GET', '/v2/fail/crash'],
    ['GET', '/v2/nowhere'],
    ['PATCH', '/v2/things'],
  ] as const) {
    const text = body === undefined ? null : JSON.stringify(body);
    const expected = await own.request(target, { method, body: text });
    const called = await own.call(target, { method, body });
    const content = await expected.text();
    const what = `${method} ${target}`;
    if (called instanceof Response) {
      assert.deepEqual([called.status, await called.text()], [expected.status, content], what);
    } else assert.deepEqual(called.value, content === '' ? undefined : JSON.parse(content), what);
  }
  const body = { a: [1, undefined] };
  const { value } = (await own.call('/v2/held', { method: 'POST', body })) as { value: typeof held };
  assert.deepEqual([sent, value], [{ a: [1, null] }, { list: [{ n: 1 }] }]);
  assert.ok(sent !== body && value.list !== held.list);
  const node = '/v2/nodes/n';
  await Promise.all([2, 3].map((n) => own.call(node, { method: 'POST', body: { n } })));
  assert.deepEqual(held.list, [{ n: 1 }, { n: 2 }, { n: 3 }]);
});

test('routes of /v3 are made once, at the first request of any kind for that version', async () => {
  const lazy = () => {
    let made = 0;
    const app: App = new App(routes, {
      v3: () => {
        made += 1;
        return [
          route('GET /v3/things', {}, () => ({ things: 1 })),
          socketRoute('/v3/things/ws', () => (socket) => socket.send('hello')),
        ];
      },
      middleware: gate({
        rules,
        authentication: undefined,
        definitionAt: (method, path) => app.definitionAt(method, path),
      }),
    });
    return { app, made: () => made };
  };
  const rules = { hosts: ['localhost'], origins: [] };
  const headers = { host: 'localhost' };
  const status = async (app: App, path: string, method = 'GET') =>
    (await app.request(path, { method, headers })).status;

  const { app, made } = lazy();
  for (const path of ['/v2/things', '/v30/things', '/v3x', '/v2/things?x=/v3/things']) await status(app, path);
  assert.equal(made(), 0);
  assert.deepEqual(await Promise.all([status(app, '/v3/things'), status(app, '/v3/things')]), [200, 200]);
  assert.equal(made(), 1);

  const first: readonly [what: string, of: (app: App) => unknown, expected: unknown][] = [
    ['an unknown address', (one) => status(one, '/v3/nothing'), 404],
    ['the version alone', (one) => status(one, '/v3'), 404],
    ['another method', (one) => status(one, '/v3/things', 'POST'), 405],
    ['a slash too many', (one) => status(one, '/v3/things/'), 307],
    ['HEAD', (one) => status(one, '/v3/things', 'HEAD'), 405],
    ['a call', async (one) => (await one.call('/v3/things', { method: 'GET' })) instanceof Response, false],
    ['a look for a WebSocket', (one) => one.hasSocket('/v3/things/ws?token=x'), true],
    ['a look for a route', (one) => one.definitionAt('GET', '/v3/things') !== undefined, true],
    ['the list of routes', (one) => one.routes.some(({ pattern }) => pattern === '/v3/things'), true],
    ['a WebSocket', async (one) => (await one.openSocket('/v3/things/ws', headers)).bufferedAmount, 0],
  ];
  for (const [what, of, expected] of first) {
    const { app: one, made: count } = lazy();
    assert.deepEqual([await of(one), count()], [expected, 1], what);
  }
});
