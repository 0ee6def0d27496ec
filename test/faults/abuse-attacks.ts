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
import { BODY_LIMIT_BYTES } from '../../src/http/app/body.ts';
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

/** Headers and bodies that are slower than the server waits: their connections are ended, and say why where they can. */
async function slow(daemon: Daemon, lab: Lab, t: TestContext): Promise<string> {
  const [header, body] = (await connections(t, daemon, 2)) as [Socket, Socket];
  const since = performance.now();
  const ended = ({ socket, bytes }: { socket: Socket; bytes: string }): Promise<{ text: string; seconds: number }> =>
    new Promise((resolve) => {
      let text = '';
      socket.on('data', (chunk) => {
        text += chunk.toString('latin1');
      });
      const drip = setInterval(() => socket.write(bytes), 1_000);
      socket.once('close', () => {
        clearInterval(drip);
        resolve({ text, seconds: (performance.now() - since) / 1000 });
      });
    });
  header.write('GET /v2/version HTTP/1.1\r\nHost: 127.0.0.1\r\n');
  body.write(`${post(`${lab.path}/nodes`, 'Content-Type: application/json\r\nContent-Length: 1000')}{`);
  const ends = await Promise.all([
    ended({ socket: header, bytes: 'X-Drip: 1\r\n' }),
    ended({ socket: body, bytes: '' }),
  ]);
  for (const { text, seconds } of ends) {
    assert.match(text, /^HTTP\/1\.1 408 /);
    // Never before the limits of 20 and 30 seconds; the server looks every 30 seconds at headers.
    assert.ok(seconds > 19, `${seconds} s`);
  }
  return `headers and a body slower than the limits of 20 and 30 s, ended with 408 after ${ends.map(({ seconds }) => `${seconds.toFixed(0)} s`).join(' and ')}`;
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

/** A masked ping with 100 bytes, as it stands on the wire. */
function pingFrame(): Buffer {
  return Buffer.concat([Buffer.from([0x89, 0x80 | 100, 0, 0, 0, 0]), randomBytes(100)]);
}

/** As many pings as the connection takes, from a client that does not read the answers in the second half of the time. */
async function pings(daemon: Daemon, lab: Lab, t: TestContext): Promise<string> {
  const [socket] = (await connections(t, daemon, 1)) as [Socket];
  const opening = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'];
  const key = `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`;
  const head = [`GET ${lab.path}/notifications/ws HTTP/1.1`, 'Host: 127.0.0.1', ...opening, key];
  socket.write(`${head.join('\r\n')}\r\n\r\n`);
  const [answer] = await once(socket, 'data');
  assert.match(String(answer), /^HTTP\/1\.1 101 /);
  socket.resume();
  const many = Buffer.concat(Array.from({ length: 1_000 }, pingFrame));
  let sent = 0;
  const end = performance.now() + SPELL;
  while (performance.now() < end && !socket.destroyed) {
    if (performance.now() > end - SPELL / 2) socket.pause();
    // What the server has not taken waits in the system's buffers, and not here.
    if (socket.writableLength < many.length) {
      socket.write(many);
      sent += 1_000;
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
  const left = socket.writableLength / 106;
  socket.destroy();
  return `${Math.round(sent - left)} WebSocket pings as fast as the connection takes them, the answers to half of them unread`;
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
    `Transfer-Encoding:\x0bchunked\r\n${length}`,
    `\x0bTransfer-Encoding: chunked\r\n${length}`,
    `Transfer-Encoding: chunked, identity\r\n${length}`,
    `Transfer-Encoding: identity, chunked\r\n${length}`,
    ...['identity', 'xchunked', '"chunked"', 'chunked;a=b'].map((coding) => `Transfer-Encoding: ${coding}`),
    ...['identity', 'chunked'].map((coding) => `Transfer-Encoding: chunked\r\nTransfer-Encoding: ${coding}`),
    `X: y\rTransfer-Encoding: chunked\r\n${length}`,
    `X: y\nTransfer-Encoding: chunked\n${length}`,
    `Content-Length: 0\r\n${length}`,
    `${length}\r\nContent-Length: 0`,
    `${length}\r\n${length}`,
    ...[`+${body.length}`, '0x10', '-1', '5, 5', '', '9'.repeat(30)].map((value) => `Content-Length: ${value}`),
    'Content-Length : 5',
    ` Content-Length: 5\r\n${length}`,
    `X-A: b\r\n ${length}`,
    `X-A: b\r\n\t${length}`,
  ];
}

/**
 * A request within the body of another must never be served: that would be smuggled past whatever looks at the outer one. Whoever is in
 * doubt where a body ends refuses it and ends the connection.
 */
async function smuggling(daemon: Daemon): Promise<string> {
  const inner = `POST /v2/projects HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 19\r\n\r\n{"name":"smuggled"}`;
  const bodies = [`0\r\n\r\n${inner}`, `5;x="\r\n"\r\nhello\r\n0\r\n\r\n${inner}`, inner];
  const forms = bodies.flatMap((body) => doubtfulLengths(body).map((form) => ({ form, body })));
  await forEachAtOnce(forms, 4, async ({ form, body }) => {
    const { statuses, ended } = await exchange(daemon.port, `${post('/v2/version', form)}${body}`, 20_000);
    assert.deepEqual({ statuses, ended }, { statuses: [400], ended: true }, JSON.stringify(form));
  });
  const names = (await daemon.get('/v2/projects')).map(({ name }: { name: string }) => name);
  assert.ok(!names.includes('smuggled'));
  // The same bytes with one plain length are one request, whose body is read to its end.
  const plain = post('/v2/version', `Content-Length: ${inner.length}\r\nConnection: close`);
  assert.equal((await exchange(daemon.port, `${plain}${inner}`)).statuses.length, 1);
  return `${forms.length} requests with doubtful lengths, each refused with 400 and a closed connection`;
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
    const asked = (FULL ? routes : routes.slice(0, 2)).flatMap((route) => [route, route.replace('/v2/', '/v3/')]);
    for (const route of asked) {
      const { status, text } = await exchange(daemon.port, requestBytes('POST', route, body), 20_000);
      // What is too large is refused while it still arrives; who is slow to see that may find the connection ended.
      const refused = body.length > BODY_LIMIT_BYTES ? [413, 0] : [];
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
  const parts = { computes: [], drawings: [], links: [], nodes: [] };
  const head = { name: 'A', project_id: randomUUID(), revision: 9, type: 'topology', version: '2.2.57' };
  const topology = { ...head, topology: parts };
  const project = { name: 'project.gns3', data: JSON.stringify(topology) };
  const zeros = deflateRawSync(Buffer.alloc(64 * 2 ** 20));
  const bomb = { name: 'project-files/bomb', data: zeros, method: 8, compressedSize: zeros.length };
  const many = Array.from({ length: FULL ? 60_000 : 5_000 }, (_, index) => ({ name: `project-files/${index}` }));
  const overlapping = Array.from({ length: 2_000 }, (_, index) => ({ name: `project-files/o${index}`, offset: 0 }));
  const one = { name: 'project-files/a', data: randomBytes(100_000) };
  /** With the status, and what the reason must speak of: an archive that is refused for another reason has attacked nothing. */
  const forged: [string, Buffer, number, RegExp][] = [
    ['a valid one', zip([project, one]), 201, /"project_id"/],
    ['a bomb that lies about its size', zip([project, { ...bomb, size: 10 }]), 409, /too many bytes/],
    ['a bomb that overstates its size', zip([project, { ...bomb, size: 2 ** 31 - 1 }]), 409, /not enough bytes/],
    ['entries with shared data', zip([project, ...overlapping]), 409, /overlap/],
    [`${many.length} entries`, zip([project, ...many]), 201, /"project_id"/],
    ['fewer entries than declared', zip([project], { count: 60_000 }), 409, /damaged/],
    ['a link', zip([project, { name: 'project-files/l', data: '/etc', mode: 0o120777 }]), 409, /link.*leads out/],
    ['a name twice', zip([project, one, one]), 201, /"project_id"/],
    ['half an archive', zip([project, one]).subarray(0, 50_000), 409, /not a lab archive/],
    ['random bytes', randomBytes(1_000_000), 409, /not a lab archive/],
    ['nothing', Buffer.alloc(0), 409, /not a lab archive/],
  ];
  for (const [what, archive, expected, reason] of forged) {
    const target = `/v2/projects/${randomUUID()}/import?name=Abuse`;
    const { status, text } = await exchange(
      daemon.port,
      requestBytes('POST', target, archive, 'application/zip'),
      180_000,
    );
    assert.equal(status, expected, `${what}: ${text}`);
    assert.match(text, reason, what);
  }
  return `archives: ${forged.map(([what, , status]) => `${what} (${status})`).join(', ')}`;
}

export const ATTACKS: readonly Attack[] = [
  dripping,
  ...(FULL ? [slow] : []),
  endlessBodies,
  hugeFrames,
  pings,
  smuggling,
  hostileJson,
  hostileArchives,
];
