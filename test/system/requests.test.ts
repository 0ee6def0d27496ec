// Requests that are wrong or hostile, over real sockets: each is refused with a reason, and leaves nothing behind.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { WebSocket } from 'ws';
import { type Answer, Daemon } from './daemon.ts';
import { Lab } from './lab.ts';

const UNKNOWN = '11111111-2222-4333-8444-555555555555';

const daemon = new Daemon();
let lab: Lab;
before(async () => {
  await daemon.start();
  lab = await Lab.create(daemon);
  await lab.hub('Hub1');
});

after(() => daemon[Symbol.asyncDispose]());

const refused = (answer: Answer, status: number, reason: RegExp): void => {
  assert.equal(answer.status, status, answer.text);
  assert.equal(answer.json.status, status);
  assert.match(answer.json.message, reason);
  assert.doesNotMatch(answer.text, /\\n\s+at |\.cjs|node_modules/);
};

test('a body that is not JSON, is too large or nested too deeply is refused with the reason; nothing is made of it', async () => {
  const projects = readdirSync(join(daemon.state, 'projects'));
  const post = (body: string) => daemon.ask('POST', '/v2/projects', { body });
  refused(await post('{"name": "Half'), 400, /JSON/);
  refused(await post('["name"]'), 400, /expected an object/);
  refused(await post(`{"name": "${'x'.repeat(2_000_000)}"}`), 413, /larger than 1048576 bytes/);
  refused(await post(`{"name": "Deep", "variables": ${'['.repeat(100_000)}${']'.repeat(100_000)}}`), 400, /deep|nest/);
  refused(await post(`{"name": "Deep", "a": ${'{"a":'.repeat(100)}1${'}'.repeat(100)}}`), 400, /deep|nest/);
  refused(await post('{"name": "Proto", "__proto__": {"x": 1}}'), 400, /__proto__/);
  const latin = await daemon.ask('POST', '/v2/projects', { body: Buffer.from('{"name": "M\xfcller"}', 'latin1') });
  refused(latin, 400, /UTF-8/);
  assert.deepEqual(readdirSync(join(daemon.state, 'projects')), projects);
});

test('wrong types and unknown ids are refused by name', async () => {
  refused(await daemon.ask('POST', '/v2/projects', { body: { name: 5 } }), 400, /name: /);
  refused(await daemon.ask('POST', '/v2/projects', { body: {} }), 400, /name: /);
  const node = { name: 'PC1', node_type: 'vpcs', compute_id: 'local' };
  const nodes = `${lab.path}/nodes`;
  refused(await daemon.ask('POST', nodes, { body: { ...node, x: 'left' } }), 400, /x: /);
  refused(await daemon.ask('POST', nodes, { body: { ...node, node_type: 'toaster' } }), 400, /node_type: /);
  refused(await daemon.ask('POST', nodes, { body: { ...node, colour: 'red' } }), 400, /colour: /);
  refused(await daemon.ask('POST', nodes, { body: { ...node, compute_id: 'moon' } }), 404, /moon/);
  refused(await daemon.ask('GET', `${nodes}/${UNKNOWN}`), 404, new RegExp(UNKNOWN));
  refused(await daemon.ask('GET', `/v2/projects/${UNKNOWN}/nodes`), 404, new RegExp(UNKNOWN));
  refused(
    await daemon.ask('POST', `/v2/compute/projects/${UNKNOWN}/vpcs/nodes`, { body: { name: 'PC1' } }),
    404,
    new RegExp(UNKNOWN),
  );
  refused(await daemon.ask('GET', '/v2/compute/projects/not-a-uuid'), 400, /project_id/);
  assert.equal((await lab.nodes()).length, 1);
});

test('a client whose upload is refused is heard again on the same connection', async (t) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.after(() => agent.destroy());
  const body = Buffer.alloc(3_000_000);
  for (const [path, status] of [
    ['/v2/projects', 413],
    [`/v2/projects/${UNKNOWN}/files/x`, 404],
    [`${lab.path}/files/../x`, 403],
  ] as const) {
    assert.equal((await daemon.ask('POST', path, { body, agent })).status, status);
    assert.equal((await daemon.ask('GET', '/v2/version', { agent })).status, 200);
  }
});

test('a request with a body that is too large gets to read why, whatever its method', async () => {
  const body = Buffer.alloc(3_000_000);
  const headers = { 'content-length': `${body.length}` };
  for (const [method, path] of [
    ['GET', '/v2/projects'],
    ['POST', '/v2/projects'],
    ['DELETE', `/v2/projects/${UNKNOWN}`],
  ] as const)
    refused(await daemon.ask(method, path, { body, headers }), 413, /larger than 1048576/);
});

test('a body that never ends is answered, and its connection is closed, whichever part has refused it', async (t) => {
  const chunk = Buffer.concat([Buffer.from('10000\r\n'), Buffer.alloc(65_536, ' '), Buffer.from('\r\n')]);
  const requests = [
    ['413', 'POST /v2/projects', ''],
    ['404', `POST /v2/projects/${UNKNOWN}/files/x`, ''],
    ['404', 'GET /v2/nothing', ''],
    ['405', 'DELETE /v2/version', ''],
    ['403', 'POST /v2/projects', 'Origin: http://evil.example\r\n'],
    ['417', 'POST /v2/projects', 'Expect: nothing\r\n'],
  ] as const;
  await Promise.all(
    requests.map(async ([status, line, header]) => {
      const socket = connect(daemon.port, '127.0.0.1');
      t.after(() => socket.destroy());
      let answer = '';
      socket
        .on('error', () => {})
        .on('data', (bytes) => {
          answer += bytes;
        });
      socket.write(`${line} HTTP/1.1\r\nHost: 127.0.0.1\r\n${header}Transfer-Encoding: chunked\r\n\r\n`);
      const closed = once(socket, 'close');
      for (;;) {
        const taken = new Promise((resolve) => socket.write(chunk, resolve));
        await Promise.race([taken, closed]);
        if (socket.destroyed) break;
        assert.ok(socket.bytesWritten < 100e6, `${line}: ${socket.bytesWritten} bytes were taken`);
      }
      assert.match(answer, new RegExp(`^HTTP/1.1 ${status} `), line);
    }),
  );
});

test('unknown paths and methods are reported in the form that clients know', async () => {
  for (const path of ['/v2/nothing', '/v2/version/', '/v2//version', '/V2/version', '/v2/projects/a/b/c/d']) {
    const { status, text, headers } = await daemon.ask('GET', path);
    assert.deepEqual([status, text], [404, '404: Not Found'], path);
    assert.match(headers['content-type'] ?? '', /^text\/plain/);
  }
  for (const [method, path, allowed] of [
    ['DELETE', '/v2/version', 'GET,OPTIONS,POST'],
    ['PATCH', lab.path, 'DELETE,GET,OPTIONS,PUT'],
    ['HEAD', lab.path, 'DELETE,GET,OPTIONS,PUT'],
  ] as const) {
    const { status, text, headers } = await daemon.ask(method, path);
    assert.deepEqual([status, headers.allow], [405, allowed], path);
    assert.equal(text, method === 'HEAD' ? '' : '405: Method Not Allowed');
  }
});

test('no spelling of a path leads out of a project: neither reading nor writing', async () => {
  const compute = lab.path.replace('/v2/', '/v2/compute/');
  writeFileSync(join(daemon.state, 'secret.txt'), 'secret');
  symlinkSync(join(daemon.state, 'secret.txt'), join(lab.project.path, 'link.txt'));
  symlinkSync(daemon.state, join(lab.project.path, 'up'));
  const spellings = [
    '../../../../etc/hostname',
    '../../secret.txt',
    '%2e%2e/%2e%2e/secret.txt',
    '%2E%2E%2F%2e%2e%2fsecret.txt',
    '..%2f..%2fsecret.txt',
    '.%2e/.%2e/secret.txt',
    'x/../../../secret.txt',
    './../../secret.txt',
    `/${daemon.state}/secret.txt`,
    `%2f${daemon.state}/secret.txt`,
    '.',
    'link.txt',
    'up/secret.txt',
  ];
  for (const half of [lab.path, compute]) {
    for (const spelling of spellings) {
      for (const [method, body] of [
        ['GET', undefined],
        ['POST', 'overwritten'],
      ] as const) {
        const { status, text } = await daemon.ask(method, `${half}/files/${spelling}`, { body });
        assert.equal(status, 403, `${method} ${half}/files/${spelling}: ${status} ${text}`);
      }
    }
    assert.equal((await daemon.ask('POST', `${half}/files/up/new.txt`, { body: 'new' })).status, 403);
    const absolute = await daemon.ask('GET', `http://localhost${half}/files/../../secret.txt`);
    assert.equal(absolute.status, 403);
    for (const spelling of [
      '%00',
      'a%00b',
      '%ff',
      '..%5c..%5csecret.txt',
      '....//secret.txt',
      '%252e%252e/secret.txt',
    ]) {
      const { status, text } = await daemon.ask('GET', `${half}/files/${spelling}`);
      assert.ok([400, 403, 404].includes(status), `${spelling}: ${status} ${text}`);
      assert.doesNotMatch(text, /^secret$/);
    }
  }
  assert.equal(existsSync(join(daemon.state, 'new.txt')), false);
  assert.equal(readFileSync(join(daemon.state, 'secret.txt'), 'utf8'), 'secret');
});

test('pages of other sites reach nothing, by no name and no socket; programs and own pages do', async () => {
  const version = (headers: Record<string, string>) => daemon.ask('GET', '/v2/version', { headers });
  const own = `127.0.0.1:${daemon.port}`;
  for (const headers of [
    {},
    { host: own },
    { host: `localhost:${daemon.port}` },
    { host: 'lab.local' },
    { host: own, origin: `http://${own}` },
    { host: own, origin: 'http://localhost:4200' },
    { host: own, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' },
  ]) {
    assert.equal((await version(headers)).status, 200, JSON.stringify(headers));
  }
  for (const headers of [
    { host: 'rebound.example' },
    { host: `rebound.example:${daemon.port}`, origin: `http://rebound.example:${daemon.port}` },
    { host: own, origin: 'http://evil.example' },
    { host: own, origin: 'null' },
    { host: own, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' },
  ]) {
    refused(await version(headers), 403, /allowed_hosts|allowed_origins|other sites/);
  }
  const simple = { origin: 'http://evil.example', 'content-type': 'text/plain' };
  const forged = await daemon.ask('POST', '/v2/projects', { body: '{"name": "Forged"}', headers: simple });
  refused(forged, 403, /evil\.example/);
  const names = (await daemon.get('/v2/projects')).map(({ name }: { name: string }) => name);
  assert.deepEqual(names, ['Lab']);

  const upgrade = (headers: Record<string, string>) =>
    new Promise<number>((resolve, reject) => {
      const socket = new WebSocket(`ws://${own}/v2/notifications/ws`, { headers });
      socket.on('unexpected-response', (_request, response) => resolve(response.statusCode!));
      socket.on('open', () => {
        resolve(101);
        socket.terminate();
      });
      socket.on('error', reject);
    });
  assert.equal(await upgrade({}), 101);
  assert.equal(await upgrade({ origin: `http://${own}` }), 101);
  assert.equal(await upgrade({ origin: 'http://evil.example' }), 403);
  assert.equal(await upgrade({ host: 'rebound.example' }), 403);
});
