// Calls to computes that are slow, broken or worse: the client gets its answer, and the server and other labs do not notice.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { RemoteTransport } from '../../src/controller/computes/remote.ts';
import { type Answering, refusing, StandIn, sendJson } from './computes-stand-in.ts';
import { LabServer, until } from './lab-server.ts';

async function pair(t: TestContext, answers: StandIn['answers'] = {}): Promise<{ it: StandIn; server: LabServer }> {
  const it = await StandIn.start(t, answers);
  const server = await LabServer.start(t);
  await server.expect(201, 'POST', '/v2/computes', it.body());
  it.heard.length = 0;
  return { it, server };
}

/** A request over the network, whose body may be a stream. */
function send(server: LabServer, method: string, path: string, body?: ReadableStream<Uint8Array>): Promise<Response> {
  return fetch(`http://127.0.0.1:${server.port}${path}`, {
    method,
    ...(body === undefined ? {} : { body, duplex: 'half' }),
  } as RequestInit);
}

test('a refusal of a compute reaches the client as it is meant', async (t) => {
  const { it, server } = await pair(t);
  for (const [theirs, ours] of [
    [400, 400],
    [403, 403],
    [404, 404],
    [408, 408],
    [409, 409],
    [418, 500],
    [500, 500],
    [503, 503],
    [504, 408],
  ] as const) {
    it.answers['GET /qemu/thing'] = refusing(theirs, { exception: 'QemuError', image: 'x' });
    const { message, ...rest } = await server.expect(ours, 'GET', '/v2/computes/it/qemu/thing');
    assert.match(message, new RegExp(`refused with ${theirs}`));
    assert.equal(rest.exception, undefined);
    if (ours === 404) assert.match(message, /^GET \/qemu\/thing/);
  }
  // The client's own user and password are not meant.
  it.answers['GET /qemu/thing'] = refusing(401);
  const { message } = await server.expect(409, 'GET', '/v2/computes/it/qemu/thing');
  assert.match(message, /^The compute It does not accept this user and password: correct them\.$/);
});

test('calls are passed on as they are, and answered with 200', async (t) => {
  const { it, server } = await pair(t, {
    'GET /qemu/images': [{ filename: 'z' }, { filename: 'a' }],
    'GET /docker/images': [{ image: 'z:1' }, { image: 'a:1' }],
    'POST /qemu/echo': { got: 'it' },
    'PUT /qemu/echo': (_request, response) => response.writeHead(204).end(),
    'GET /qemu/.*': { any: 'thing' },
  });
  const names = async (emulator: string): Promise<string[]> =>
    (await server.expect(200, 'GET', `/v2/computes/it/${emulator}/images`)).flatMap(Object.values);
  assert.deepEqual(
    [await names('qemu'), await names('docker')],
    [
      ['a', 'z'],
      ['a:1', 'z:1'],
    ],
  );
  assert.deepEqual(await server.expect(200, 'POST', '/v2/computes/it/qemu/echo?x=1', { n: 3 }), { got: 'it' });
  assert.equal(it.heard.at(-1)?.body, '{"n":3}');
  assert.equal(it.heard.at(-1)?.headers['content-type'], 'application/octet-stream');
  assert.deepEqual(await server.expect(200, 'PUT', '/v2/computes/it/qemu/echo'), {});
  assert.equal(it.heard.at(-1)?.headers['content-type'], 'application/json');
  await server.expect(200, 'GET', '/v2/computes/it/qemu/a%20b/%2e%2e/c%2Fd?secret=1');
  assert.equal(it.calls.at(-1), 'GET /qemu/a%20b/../c/d');
  await server.expect(405, 'DELETE', '/v2/computes/it/qemu/echo');
});

test('an answer that is no JSON, none at all, endless, or cut off is a 409', async (t) => {
  let sent = 0;
  const endless: Answering = (_request, response) => {
    const chunk = Buffer.alloc(1024 * 1024, ' ');
    const more = (): void => {
      while (!response.destroyed && response.write(chunk)) sent += 1;
      sent += 1;
    };
    response.on('drain', more);
    more();
  };
  const { it, server } = await pair(t, {
    'GET /qemu/html': (_request, response) => response.end('<html>'),
    'GET /qemu/deep': (_request, response) => response.end('['.repeat(100_000)),
    'GET /qemu/list/images': { not: 'a list' },
    'GET /qemu/images': { not: 'a list' },
    'GET /qemu/endless': endless,
    'GET /qemu/refusal': (request, response) => endless(request, response.writeHead(409)),
    'GET /qemu/cut': (_request, response) => {
      response.writeHead(200, { 'Content-Length': 100 }).write('{"half":');
      setTimeout(() => response.destroy(), 20);
    },
    'GET /qemu/none': (_request, response) => void response.socket?.destroy(),
    'GET /qemu/strange': (_request, response) => void response.socket?.end('HTTP/1.1 999 Strange\r\n\r\n'),
    'GET /qemu/elsewhere': (_request, response) => response.writeHead(302, { Location: 'http://127.0.0.1/' }).end(),
    'GET /qemu/unchanged': (_request, response) => response.writeHead(304).end(),
    'GET /qemu/switched': (_request, response) =>
      void response.socket?.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'),
    'GET /qemu/bare': (_request, response) => void response.socket?.write('HTTP/1.1 101 Switching Protocols\r\n\r\n'),
    'GET /qemu/garbage': (_request, response) => void response.socket?.end('SSH-2.0-OpenSSH_9.2\r\n'),
  });
  for (const what of [
    'html',
    'deep',
    'images',
    'endless',
    'refusal',
    'cut',
    'none',
    'strange',
    'elsewhere',
    'unchanged',
    'switched',
    'bare',
    'garbage',
  ]) {
    const { message } = await server.expect(409, 'GET', `/v2/computes/it/qemu/${what}`);
    assert.doesNotMatch(message, /\n +at /);
  }
  // 64 MiB and what was on the way.
  assert.ok(sent < 100, `${sent} MiB were taken`);
  assert.equal((await server.expect(200, 'GET', '/v2/computes/it')).connected, true);
  assert.ok(it.calls.length > 0);
});

test('a missing compute is a 409 at once, and does not delay others', async (t) => {
  const { it, server } = await pair(t);
  await it.close();
  await until(async () => !(await server.expect(200, 'GET', '/v2/computes/it')).connected, 'the loss');
  for (const path of ['/qemu/images', '/ports', '/qemu/binaries']) {
    const { message } = await server.expect(409, 'GET', `/v2/computes/it${path}`);
    assert.match(message, /ECONNREFUSED/);
  }
  await server.expect(200, 'GET', '/v2/computes/local/ports');
  const statistics = await server.expect(200, 'GET', '/v2/statistics');
  assert.deepEqual(
    statistics.map((entry: { compute_id: string }) => entry.compute_id),
    ['local'],
  );
});

test('a compute that vanishes in the middle of a call ends it', async (t) => {
  const { it, server } = await pair(t, { 'POST /qemu/img': (request) => void request.resume() });
  const answer = server.expect(409, 'POST', '/v2/computes/it/qemu/img', { path: 'x' });
  await until(() => it.calls.includes('POST /qemu/img'), 'the call');
  await it.close();
  assert.match((await answer).message, /cannot be reached/);
});

test('an upload is streamed, and the rest of one that is refused is not', async (t) => {
  const hash = createHash('sha256');
  let received = 0;
  const { server } = await pair(t, {
    'POST /iou/images/big.bin': (request, response) => {
      request.on('data', (chunk: Buffer) => hash.update(chunk));
      request.on('end', () => response.writeHead(204).end());
    },
    'POST /iou/images/unwanted.bin': (request, response) => {
      request.once('data', () => sendJson(response, 403, { message: 'not that one' }));
      request.on('data', (chunk: Buffer) => {
        received += chunk.length;
      });
    },
  });
  const part = randomBytes(1024 * 1024);
  const expected = createHash('sha256');
  const content = (parts: number, seen: (chunk: Uint8Array) => void): ReadableStream<Uint8Array> => {
    let left = parts;
    return new ReadableStream({
      pull(controller) {
        if (left-- === 0) return controller.close();
        seen(part);
        controller.enqueue(part);
      },
    });
  };
  const url = '/v2/computes/it/iou/images';
  const done = await send(
    server,
    'POST',
    `${url}/big.bin`,
    content(100, (chunk) => expected.update(chunk)),
  );
  assert.deepEqual([done.status, await done.text()], [200, '{}']);
  assert.equal(hash.digest('hex'), expected.digest('hex'));

  const refused = await send(
    server,
    'POST',
    `${url}/unwanted.bin`,
    content(500, () => {}),
  ).catch(() => undefined);
  // The client may learn of the closed connection before it reads the answer.
  if (refused) assert.equal(refused.status, 403);
  assert.ok(received < 400 * part.length, `${received} bytes were sent on`);
});

test('kept connections are used again, and one that was closed meanwhile costs nothing', async (t) => {
  const it = await StandIn.start(t, { 'GET /fine': { fine: true } });
  const transport = new RemoteTransport({ protocol: 'http', host: '127.0.0.1', port: it.port }, undefined);
  t.after(() => transport.close());
  const get = async (): Promise<string> => (await transport.request('/v2/compute/fine')).text();
  for (let count = 0; count < 20; count++) assert.equal(await get(), '{"fine":true}');
  assert.equal(it.connections, 1);
  // Several that are kept, and all closed.
  await Promise.all(Array.from({ length: 5 }, get));
  await it.close();
  await it.listen();
  await Promise.all(Array.from({ length: 5 }, get));
  await get();
  // As the other side closes a connection at the moment of the next request: it reads it and is gone.
  it.answers['GET /gone'] = (request, response) => {
    it.answers['GET /gone'] = { back: true };
    request.socket.resetAndDestroy();
    response.destroy();
  };
  assert.equal(await (await transport.request('/v2/compute/gone')).text(), '{"back":true}');
  it.answers['POST /gone'] = (request) => request.socket.resetAndDestroy();
  await get();
  // Whether it was done nobody knows: it is not done twice.
  await assert.rejects(transport.request('/v2/compute/gone', { method: 'POST' }), /cannot be reached/);
  assert.equal(it.calls.filter((call) => call === 'POST /gone').length, 1);
});

test('a server that closes each connection is as good', async (t) => {
  const it = await StandIn.start(t, {
    'GET /fine': (_request, response) => sendJson(response.setHeader('Connection', 'close'), 200, { fine: true }),
  });
  const transport = new RemoteTransport({ protocol: 'http', host: '127.0.0.1', port: it.port }, undefined);
  t.after(() => transport.close());
  const calls = Array.from({ length: 50 }, async () => (await transport.request('/v2/compute/fine')).text());
  assert.deepEqual(new Set(await Promise.all(calls)), new Set(['{"fine":true}']));
});

test('a compute with a certificate of its own is reached over HTTPS', async (t) => {
  const server = await LabServer.start(t);
  const [key, certificate] = ['key.pem', 'certificate.pem'].map((name) => join(server.state, name)) as [string, string];
  const subject = ['-subj', '/CN=labwire-test', '-days', '1', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256'];
  execFileSync('openssl', ['req', '-x509', '-nodes', ...subject, '-keyout', key, '-out', certificate], {
    stdio: 'ignore',
  });
  const it = await LabServer.start(t, {
    ...{ ssl: 'true', certfile: certificate, certkey: key },
    ...{ auth: 'true', user: 'u', password: 'p' },
  });
  const body = { compute_id: 'it', protocol: 'https', host: '127.0.0.1', port: it.port, user: 'u', password: 'p' };
  assert.equal((await server.expect(201, 'POST', '/v2/computes', body)).connected, true);
  assert.ok((await server.expect(200, 'GET', '/v2/computes/it/network/interfaces')).length > 0);
  await until(async () => {
    const { cpu_usage_percent: usage } = await server.expect(200, 'GET', '/v2/computes/it');
    return typeof usage === 'number';
  }, 'a ping');
});

test('what accepts a connection and says nothing is given up', async (t) => {
  const silent = createServer(() => {}).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  t.after(() => silent.close());
  const server = await LabServer.start(t);
  const { port } = silent.address() as { port: number };
  const body = { compute_id: 'it', protocol: 'http', host: '127.0.0.1', port };
  const { connected, last_error: last } = await server.expect(201, 'POST', '/v2/computes', body);
  assert.deepEqual([connected, last], [false, 'GET /capabilities: the compute did not answer within 10 s.']);
  // Nobody waits for the same silence again.
  const start = performance.now();
  await server.expect(409, 'GET', '/v2/computes/it/ports');
  assert.ok(performance.now() - start < 5_000);
});
