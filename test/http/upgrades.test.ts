// Requests that ask for another protocol: what is no complete opening of a WebSocket is answered as the plain request that it also is,
// resets harm nobody, and nothing is opened or left over for a client that does not get its 101.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { type TestContext, test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { WebSocket } from 'ws';
import { Failure } from '../../src/failures.ts';
import { ensureSelfSigned } from '../../src/host/network/self-signed-certificate.ts';
import { gate } from '../../src/http/access/gate.ts';
import { App } from '../../src/http/app/app.ts';
import { type Connected, route, socketRoute } from '../../src/http/app/route.ts';
import { HttpServer } from '../../src/http/app/server.ts';
import type { MessageSocket } from '../../src/http/sockets/message-socket.ts';
import { eventually } from '../eventually.ts';
import { scratchDirectory } from '../store/scratch.ts';
import { exchange, HALF_OPENINGS, opening, sendAndReset, statusOf } from './raw-client.ts';

interface Served {
  server: HttpServer;
  port: number;
  /** Calls of the routes behind WebSockets, and the sockets that were opened. */
  accepted: number;
  opened: MessageSocket[];
  /** Where given, what the route at `/v2/later` waits for. */
  later: PromiseWithResolvers<Connected>;
}

async function serve(t: TestContext, secure = false): Promise<Served> {
  const served = { accepted: 0, opened: [], later: Promise.withResolvers() } as unknown as Served;
  const accept = (): Connected => {
    served.accepted += 1;
    return (socket) => void served.opened.push(socket);
  };
  const held = Promise.withResolvers<void>();
  const routes = [
    route('GET /v2/thing', {}, () => ({ thing: true })),
    route('GET /v2/slow', {}, () => held.promise.then(() => ({ slow: true }))),
    route('POST /v2/release', {}, () => {
      held.resolve();
      return undefined;
    }),
    socketRoute('/v2/socket', accept),
    socketRoute('/v3/socket', accept),
    socketRoute('/v2/missing', () => {
      throw new Failure('not-found', 'no such thing');
    }),
    socketRoute('/v2/later', () => {
      served.accepted += 1;
      return served.later.promise;
    }),
  ];
  const app = new App(routes, { middleware: gate({ rules: { hosts: [], origins: [] }, authentication: undefined }) });
  const tls = secure ? await ensureSelfSigned(await scratchDirectory(t), ['localhost']) : undefined;
  served.server = new HttpServer(app, { host: '127.0.0.1', port: 0, tls });
  served.port = (await served.server.start()).port;
  t.after(() => served.server.stop(0));
  return served;
}

const nobodyLeft = ({ server }: Served): Promise<unknown> =>
  eventually(
    'the end of all connections',
    () => server.connectionCount,
    (count) => count === 0,
  );

test('every combination of host, method, protocol asked for and path is answered with what the plain request gets', async (t) => {
  const served = await serve(t);
  const protocols = ['x', 'h2c', 'websocket', 'WebSocket', 'TLS/1.0', 'websocket, x', 'h2c, websocket'];
  for (const host of ['127.0.0.1', 'evil.example', 'localhost:3080']) {
    for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'HEAD']) {
      for (const protocol of protocols) {
        for (const path of ['/v2/thing', '/v2/socket', '/v2/nothing']) {
          const plain = await statusOf(
            served.port,
            `${method} ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
          );
          const isOpening = method === 'GET' && path === '/v2/socket' && /^websocket$/i.test(protocol);
          const expected = isOpening && host !== 'evil.example' ? 101 : plain;
          const asked = opening(path, { Host: host, Upgrade: protocol }, method);
          assert.equal(await statusOf(served.port, asked), expected, asked);
        }
      }
    }
  }
  await nobodyLeft(served);
});

test('curl --http2 gets its answer by HTTP/1.1, and who sends a request right behind it learns that it was not heard', async (t) => {
  const served = await serve(t);
  const request = [
    ...['GET /v2/thing HTTP/1.1', 'Host: 127.0.0.1', 'User-Agent: curl/8.5.0', 'Accept: */*'],
    ...['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA', '', ''],
  ].join('\r\n');
  const text = await exchange(served.port, request + request, () => false);
  assert.equal(text.match(/HTTP\/1\.1 200 OK/g)?.length, 1);
  assert.match(text, /connection: close/i);
  assert.match(text, /"thing": true/);
  await nobodyLeft(served);
});

test('a reset after any part of a request with an upgrade harms no other connection', async (t) => {
  const served = await serve(t);
  const requests = [
    'GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n',
    opening('/v2/socket'),
    opening('/v2/socket', { Host: 'evil.example' }),
    opening('/v2/missing'),
    opening('/v2/later'),
    opening('/v3/socket'),
    opening('/v3/nothing'),
    opening('/v2/thing', { Upgrade: 'h2c' }),
    `${opening('/v2/socket')}\x81\x85\0\0\0\0hello`,
    'CONNECT example.net:443 HTTP/1.1\r\nHost: example.net\r\n\r\n',
  ];
  for (const request of requests) {
    for (let length = 1; length <= request.length; length += 1 + Math.floor(length / 8)) {
      await sendAndReset(served.port, request.slice(0, length));
    }
    for (let again = 0; again < 20; again += 1) await sendAndReset(served.port, request);
  }
  served.later.resolve(() => {});
  assert.equal(await statusOf(served.port, 'GET /v2/thing HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'), 200);
  await nobodyLeft(served);
});

test('over TLS, too, a reset at any moment harms no other connection, and an opening works', async (t) => {
  const served = await serve(t, true);
  const { port } = served;
  for (const request of [opening('/v2/socket'), opening('/v2/thing', { Upgrade: 'x', Host: 'evil.example' })]) {
    for (const length of [0, 1, 20, request.length]) {
      const raw = connect(port, '127.0.0.1');
      const secured = connectTls({ socket: raw, rejectUnauthorized: false });
      secured.on('error', () => {});
      await once(secured, 'secureConnect');
      secured.write(request.slice(0, length));
      await new Promise((resolve) => setImmediate(resolve));
      raw.resetAndDestroy();
      await once(raw, 'close');
    }
  }
  await sendAndReset(port, 'GET / HTTP/1.1\r\n\r\n');
  await sendAndReset(port, '\x16\x03\x01\x02\x00\x01');
  const client = new WebSocket(`wss://127.0.0.1:${port}/v2/socket`, { rejectUnauthorized: false });
  await once(client, 'open');
  client.terminate();
  await nobodyLeft(served);
});

test('half an opening of a WebSocket opens nothing, is a 4xx, and leaves nothing', async (t) => {
  const served = await serve(t);
  for (const path of ['/v2/socket', '/v3/socket'])
    for (const [name, changes] of HALF_OPENINGS) {
      const text = await exchange(served.port, opening(path, changes), (read) => read.includes('\r\n\r\n'));
      assert.match(text, path === '/v2/socket' ? /^HTTP\/1\.1 400 / : /^HTTP\/1\.1 40[04] /, `${name}: ${text}`);
    }
  assert.deepEqual([served.accepted, served.opened.length], [0, 0]);
  await nobodyLeft(served);
});

test('a complete opening of what cannot be opened is refused with the reason', async (t) => {
  const served = await serve(t);
  const text = await exchange(served.port, opening('/v2/missing'), (read) => read.includes('no such thing'));
  assert.match(text, /^HTTP\/1\.1 404 Not Found\r\n/);
  assert.equal(text.match(/content-type/gi)?.length, 1, text);
  assert.match(text, /content-type: application\/json/i);
  await nobodyLeft(served);
});

test('a client that leaves before its socket is open closes what was opened for it', async (t) => {
  const served = await serve(t);
  const client = connect(served.port, '127.0.0.1');
  client.on('error', () => {});
  client.write(opening('/v2/later'));
  while (served.accepted === 0) await new Promise((resolve) => setImmediate(resolve));
  client.resetAndDestroy();
  await nobodyLeft(served);
  const closed = Promise.withResolvers<number>();
  served.later.resolve((socket) => socket.listen({ close: closed.resolve }));
  assert.equal(await closed.promise, 1006);
});

test('an opening behind a request that is not answered yet waits for nothing and comes between nothing', async (t) => {
  const served = await serve(t);
  const slow = 'GET /v2/slow HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n';
  const answers = exchange(served.port, slow + opening('/v2/socket'), (read) => read.includes('WebSocket only'));
  const release = 'POST /v2/release HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n\r\n';
  await exchange(served.port, release, (read) => read.includes('\r\n\r\n'));
  const text = await answers;
  assert.match(text, /^HTTP\/1\.1 200 OK[\s\S]*"slow": true[\s\S]*HTTP\/1\.1 400 Bad Request/);
  assert.deepEqual([served.accepted, served.opened.length], [0, 0]);
  await nobodyLeft(served);
});

test('what comes with the opening itself is heard', async (t) => {
  const served = await serve(t);
  const client = connect(served.port, '127.0.0.1');
  t.after(() => client.destroy());
  client.write(`${opening('/v2/socket')}\x81\x85\0\0\0\0hello`, 'latin1');
  while (served.opened.length === 0) await new Promise((resolve) => setImmediate(resolve));
  const heard = await new Promise((resolve) => served.opened[0]?.listen({ message: resolve }));
  assert.equal(heard, 'hello');
});
