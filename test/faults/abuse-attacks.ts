// What strangers and broken programs send: connections that drip, bodies that never end, lengths that contradict each other, hostile JSON and
// archives. Each attack answers what it was, and fails when the server answers it wrongly.
import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { deflateRawSync } from 'node:zlib';
import { WebSocket } from 'ws';
import { BODY_LIMIT } from '../../src/http/body.ts';
import { zip } from '../controller/archives-zip.ts';
import type { Daemon } from '../system/daemon.ts';
import type { Lab } from '../system/lab.ts';
import { FULL } from './rig.ts';
import { exchange, forEachAtOnce, requestBytes } from './wire.ts';

/** Milliseconds that an attack that does not end by itself goes on. */
const SPELL = FULL ? 8_000 : 1_500;

export type Attack = (daemon: Daemon, lab: Lab, t: TestContext) => Promise<string>;

/** Connections that are closed after the test, however it ended. */
function connections(t: TestContext, daemon: Daemon, count: number): Promise<Socket[]> {
  return Promise.all(
    Array.from({ length: count }, async () => {
      const socket = connect(daemon.port, '127.0.0.1');
      socket.on('error', () => {});
      t.after(() => socket.destroy());
      await new Promise((resolve) => socket.once('connect', resolve).once('close', resolve));
      return socket;
    }),
  );
}

async function listener(daemon: Daemon, lab: Lab, t: TestContext): Promise<WebSocket> {
  const url = `${daemon.url.replace('http', 'ws')}${lab.path}/notifications/ws`;
  const socket = new WebSocket(url, { perMessageDeflate: false });
  t.after(() => socket.terminate());
  socket.on('error', () => {});
  await once(socket, 'open');
  return socket;
}

const post = (path: string, headers: string): string =>
  `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${headers}\r\n\r\n`;

async function dripping(daemon: Daemon, _lab: Lab, t: TestContext): Promise<string> {
  const sockets = await connections(t, daemon, FULL ? 2_000 : 500);
  const end = performance.now() + SPELL;
  for (const socket of sockets) socket.write('GET /v2/version HTTP/1.1\r\nHost: 127.0.0.1\r\n');
  while (performance.now() < end) {
    for (const socket of sockets) socket.write('X-Drip: 1\r\n');
    await sleep(500);
  }
  for (const socket of sockets) socket.destroy();
  return `${sockets.length} connections whose headers never end`;
}

async function endlessBodies(daemon: Daemon, lab: Lab, t: TestContext): Promise<string> {
  const sockets = await connections(t, daemon, 50);
  const chunk = Buffer.concat([Buffer.from('10000\r\n'), Buffer.alloc(65_536, ' '), Buffer.from('\r\n')]);
  let bytes = 0;
  for (const socket of sockets) {
    socket.resume();
    socket.write(post(`${lab.path}/nodes`, 'Content-Type: application/json\r\nTransfer-Encoding: chunked'));
  }
  const end = performance.now() + SPELL;
  while (performance.now() < end) {
    for (const socket of sockets) {
      if (socket.destroyed || socket.writableLength > 1_000_000) continue;
      socket.write(chunk);
      bytes += chunk.length;
    }
    await sleep(5);
  }
  for (const socket of sockets) socket.destroy();
  return `50 JSON bodies that never end, ${Math.round(bytes / 2 ** 20)} MiB of them`;
}

async function hugeFrames(daemon: Daemon, lab: Lab, t: TestContext): Promise<string> {
  const count = FULL ? 10 : 2;
  for (let round = 0; round < count; round++) {
    const socket = await listener(daemon, lab, t);
    const closed = once(socket, 'close');
    socket.send(Buffer.alloc(100 * 2 ** 20), () => {});
    const [code] = await closed;
    assert.ok([1009, 1006].includes(code), `a frame of 100 MiB: closed with ${code}`);
  }
  return `${count} WebSocket frames of 100 MiB, each refused`;
}

async function pings(daemon: Daemon, lab: Lab, t: TestContext): Promise<string> {
  const socket = await listener(daemon, lab, t);
  const end = performance.now() + SPELL;
  let sent = 0;
  while (performance.now() < end) {
    for (let index = 0; index < 200 && socket.bufferedAmount < 1_000_000; index++, sent++)
      socket.ping(randomBytes(100));
    await sleep(1);
  }
  socket.terminate();
  return `${sent} WebSocket pings, one after the other`;
}

/** Ways to say how long a body is that two servers might read differently. */
function doubtfulLengths(body: string): string[] {
  const length = `Content-Length: ${body.length}`;
  return [
    `${length}\r\nTransfer-Encoding: chunked`,
    `Transfer-Encoding: chunked\r\n${length}`,
    'Content-Length: 4\r\nTransfer-Encoding: chunked',
    `Transfer-Encoding: xchunked\r\n${length}`,
    `Transfer-Encoding : chunked\r\n${length}`,
    `Transfer-Encoding:\tchunked\r\n${length}`,
    `Transfer-Encoding: chunked, identity\r\n${length}`,
    `Transfer-Encoding: identity, chunked\r\n${length}`,
    'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity',
    `X: y\rTransfer-Encoding: chunked\r\n${length}`,
    `Content-Length: 0\r\n${length}`,
    `${length}\r\nContent-Length: 0`,
    `Content-Length: +${body.length}`,
    'Content-Length: 0x10',
    'Content-Length: -1',
    'Content-Length: 5, 5',
    `Content-Length: ${'9'.repeat(30)}`,
    'Content-Length : 5',
    ` Content-Length: 5\r\n${length}`,
    `X-A: b\r\n ${length}`,
  ];
}

/** A request within the body of another must never be served: that would be smuggled past whatever looks at the outer one. */
async function smuggling(daemon: Daemon): Promise<string> {
  const inner = `POST /v2/projects HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 19\r\n\r\n{"name":"smuggled"}`;
  let sent = 0;
  for (const body of [`0\r\n\r\n${inner}`, `5;x="\r\n"\r\nhello\r\n0\r\n\r\n${inner}`, inner]) {
    for (const form of doubtfulLengths(body)) {
      const { text } = await exchange(daemon.port, `${post('/v2/version', form)}${body}`, 500);
      const statuses = [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => status);
      // Both lengths at once is what proxies disagree on; such a request ends the connection.
      if (/content-length/i.test(form) && /transfer-encoding/i.test(form)) {
        assert.ok(!statuses.includes('201'), `served the inner request of ${JSON.stringify(form)}`);
      }
      sent += 1;
    }
  }
  return `${sent} requests with doubtful lengths`;
}

const nested = (depth: number, open: string, close: string): string => open.repeat(depth) + close.repeat(depth);
const keys = (count: number): string => `{${Array.from({ length: count }, (_, index) => `"k${index}":1`).join(',')}}`;

async function hostileJson(daemon: Daemon, lab: Lab): Promise<string> {
  const bodies = [
    ...[1_000, 100_000, 1_000_000].flatMap((depth) => [nested(depth, '[', ']'), nested(depth, '{"a":', '}')]),
    ...[1_000, 100_000, 1_000_000].map(keys),
    '{"name":"a","name":"b"}',
    '{"__proto__":{"polluted":true},"name":"p1"}',
    '{"constructor":{"prototype":{"polluted":true}},"name":"p2"}',
    ...['{"name":"\\ud800"}', '{"name":"\\udfff\\ud800"}', '{"name":"a\\u0000b"}'],
    `{"name":"n1","x":${'9'.repeat(400)}}`,
    '{"name":"n2","x":1e400,"y":-1e400,"z":1e-400}',
    '{"name":"n3","x":-0,"y":0.1e1}',
    ...['{"name":NaN}', '{"name":"x"', '{"name":"x"}}', '\ufeff{"name":"x"}', 'null', '[]', '"text"', '\x00\x01\x02'],
    `"${'x'.repeat(3_000_000)}"`,
  ];
  const routes = ['/v2/projects', `${lab.path}/nodes`, `${lab.path}/drawings`, '/v2/templates', '/v2/computes'];
  let sent = 0;
  await forEachAtOnce(bodies, 2, async (body) => {
    for (const route of FULL ? routes : routes.slice(0, 2)) {
      const { status, text } = await exchange(daemon.port, requestBytes('POST', route, body), 20_000);
      // What is too large is refused while it still arrives; who is slow to see that may find the connection ended.
      const refused = body.length > BODY_LIMIT ? [413, 0] : [];
      const honest = (status >= 200 && status < 500) || refused.includes(status);
      assert.ok(honest, `${route} ${body.slice(0, 60)}: ${status} ${text.slice(0, 300)}`);
      assert.doesNotMatch(text, /\n\s+at .*\.(ts|js|cjs):\d+/, 'no stack reaches a client');
      sent += 1;
    }
  });
  assert.equal((await daemon.get('/v2/version')).polluted, undefined);
  return `${sent} JSON bodies: a million deep, a million members, doubled, polluting, broken`;
}

async function hostileArchives(daemon: Daemon): Promise<string> {
  const topology = { name: 'A', project_id: randomUUID(), revision: 9, type: 'topology', topology: {} };
  const project = { name: 'project.gns3', data: JSON.stringify(topology) };
  const zeros = deflateRawSync(Buffer.alloc(64 * 2 ** 20));
  const bomb = { name: 'project-files/bomb', data: zeros, method: 8, compressedSize: zeros.length };
  const many = Array.from({ length: FULL ? 60_000 : 5_000 }, (_, index) => ({ name: `project-files/${index}` }));
  const overlapping = Array.from({ length: 2_000 }, (_, index) => ({ name: `project-files/o${index}`, offset: 0 }));
  const one = { name: 'project-files/a', data: randomBytes(100_000) };
  const forged: [string, Buffer][] = [
    ['a bomb that lies about its size', zip([project, { ...bomb, size: 10 }])],
    ['a bomb that says its size', zip([project, { ...bomb, size: 2 ** 31 - 1 }])],
    ['entries that share their data', zip([project, ...overlapping])],
    [`${many.length} entries`, zip([project, ...many])],
    ['fewer entries than it says', zip([project], { count: 60_000 })],
    ['a link', zip([project, { name: 'project-files/l', data: '/etc', mode: 0o120777 }])],
    ['a name twice', zip([project, one, one])],
    ['half of an archive', zip([project, one]).subarray(0, 50_000)],
    ['no archive', randomBytes(1_000_000)],
    ['nothing', Buffer.alloc(0)],
  ];
  for (const [what, archive] of forged) {
    const target = `/v2/projects/${randomUUID()}/import?name=Abuse`;
    const { status } = await exchange(daemon.port, requestBytes('POST', target, archive, 'application/zip'), 180_000);
    assert.ok(status >= 200 && status < 500, `${what}: ${status}`);
  }
  return `archives: ${forged.map(([what]) => what).join(', ')}`;
}

export const ATTACKS: readonly Attack[] = [
  dripping,
  endlessBodies,
  hugeFrames,
  pings,
  smuggling,
  hostileJson,
  hostileArchives,
];
