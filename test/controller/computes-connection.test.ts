// How a compute is kept connected, and its sockets: patience, and nobody who sends faster than others read.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { WebSocketServer } from 'ws';
import { Compute, type ComputeListener } from '../../src/controller/computes/compute.ts';
import { Unauthorized } from '../../src/controller/computes/handshake.ts';
import { openRemoteSocket } from '../../src/controller/computes/remote-socket.ts';
import { type ComputeTransport, ComputeUnreachable } from '../../src/controller/computes/transport.ts';
import { until } from './lab-server.ts';

test('a compute that stays away is looked for every five seconds; and lost once', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let attempts = 0;
  let lost = 0;
  const nobody = async (): Promise<never> => {
    attempts += 1;
    throw new ComputeUnreachable('nobody is there');
  };
  const transport: ComputeTransport = { request: nobody, openSocket: nobody };
  const listener: ComputeListener = {
    changed: () => {},
    announced: () => {},
    joined: async () => {},
    lost: () => {
      lost += 1;
    },
  };
  const description = { compute_id: 'c', name: 'C', protocol: 'http', host: 'c', port: 1, user: null } as const;
  const compute = new Compute(description, { transport, listener, version: '2.2.57', consoleHost: 'c' });
  // What is asked for meanwhile does not put the next attempt off.
  for (let count = 0; count < 20; count++) await assert.rejects(compute.get('/anything'), ComputeUnreachable);
  attempts = 0;
  const seconds = async (count: number): Promise<void> => {
    for (let second = 0; second < count; second++) {
      t.mock.timers.tick(1_000);
      await turn();
    }
  };
  await seconds(49);
  assert.deepEqual([attempts, lost], [9, 1]);
  await seconds(61);
  assert.deepEqual([attempts, lost], [22, 1]);
  compute.stop();
  await seconds(20);
  assert.equal(attempts, 22);
});

test('after a rejected login a compute is called again when its Retry-After is over, and not before', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'] });
  let calls = 0;
  let answer = (): Response => Response.json({ version: '2.2.57', node_types: [] });
  const transport: ComputeTransport = {
    request: async () => {
      calls += 1;
      return answer();
    },
    openSocket: async () => ({ send: () => {}, bufferedAmount: 0, close: () => {}, listen: () => {} }),
  };
  const listener: ComputeListener = {
    changed: () => {},
    announced: () => {},
    joined: async () => {},
    lost: () => {},
  };
  const description = { compute_id: 'c', name: 'C', protocol: 'http', host: 'c', port: 1, user: 'ann' } as const;
  const compute = new Compute(description, { transport, listener, version: '2.2.57', consoleHost: 'c' });
  t.after(() => compute.stop());
  await compute.connect();
  const soon = (): string => new Date(Date.now() + 20_000).toUTCString();
  for (const [status, header, seconds] of [
    [401, undefined, 30],
    [429, undefined, 30],
    [429, '7', 7],
    [401, '90', 90],
    [429, soon, 20],
    [429, 'soon', 30],
    [429, '9'.repeat(20), 3_600],
  ] as const) {
    const accepted = answer;
    const retry = typeof header === 'function' ? header() : header;
    answer = () => new Response(null, { status, headers: retry === undefined ? {} : { 'Retry-After': retry } });
    calls = 0;
    // Several that are under way are one guess to a Labwire; later calls are not sent.
    await assert.rejects(compute.remove('/vpcs/nodes/1'), Unauthorized);
    for (let count = 0; count < 5; count++) await assert.rejects(compute.remove('/vpcs/nodes/1'), Unauthorized);
    assert.deepEqual([calls, compute.connected], [1, false]);
    answer = accepted;
    // A date has no milliseconds.
    t.mock.timers.tick(seconds * 1000 - 1_001);
    await turn();
    assert.equal(calls, 1, `${status} ${retry}`);
    t.mock.timers.tick(1_001);
    while (!compute.connected) await turn();
    assert.equal(calls, 2);
  }
});

async function webSocketServer(t: TestContext): Promise<{ url: string; sockets: WebSocketServer; server: Server }> {
  const server = createServer().listen(0, '127.0.0.1');
  const sockets = new WebSocketServer({ server });
  await once(server, 'listening');
  t.after(() => {
    for (const socket of sockets.clients) socket.terminate();
    server.close();
  });
  return { url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`, sockets, server };
}

test('a console that no client reads is not taken from its compute; when it is read, nothing is missing', async (t) => {
  const { url, sockets } = await webSocketServer(t);
  const [socket, [far]] = await Promise.all([
    openRemoteSocket(url, { headers: {}, signal: new AbortController().signal, vanished: () => {} }),
    once(sockets, 'connection'),
  ]);
  let received = 0;
  let reading = false;
  socket.listen({
    message: (data) => {
      received += data.length;
    },
    backlog: () => (reading ? 0 : received),
  });
  const part = Buffer.alloc(64 * 1024, 'x');
  const parts = 1024;
  for (let count = 0; count < parts; count++) far.send(part);
  await until(() => received > 1024 * 1024, 'the first part');
  const before = received;
  await new Promise((resolve) => setTimeout(resolve, 200));
  assert.ok(received - before < 1024 * 1024, `${received} bytes were taken`);
  assert.ok(far.bufferedAmount > 0);
  reading = true;
  await until(() => received === parts * part.length, 'the rest');
});

test('a socket that is refused says why; one that ends says so once', async (t) => {
  const { url, sockets, server } = await webSocketServer(t);
  server.removeAllListeners('upgrade');
  server.on('upgrade', (request, connection, head) => {
    if (request.url === '/open')
      return sockets.handleUpgrade(request, connection, head, (socket) => socket.close(1000));
    const body = JSON.stringify({ message: 'the node is stopped', status: 409 });
    connection.end(`HTTP/1.1 409 Conflict\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
  });
  const ending = new AbortController();
  const options = { headers: {}, signal: ending.signal, vanished: () => {} };
  await assert.rejects(openRemoteSocket(`${url}/refused`, options), /the node is stopped/);
  const socket = await openRemoteSocket(`${url}/open`, options);
  const ends: number[] = [];
  socket.listen({ close: (code) => ends.push(code) });
  await until(() => ends.length > 0, 'the end');
  ending.abort();
  socket.send('into the void');
  assert.deepEqual(ends, [1000]);
  await assert.rejects(openRemoteSocket('ws://127.0.0.1:9/', options), ComputeUnreachable);
});
