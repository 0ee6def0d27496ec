// A host of a cluster that passes its clients on to the controller, over streams as they have between hosts.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request as ask } from 'node:http';
import type { Duplex } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { WebSocket } from 'ws';
import { HostStream } from '../../src/cluster/streams.ts';
import { Authentication, basicHeader, type KnownAccounts, oneAccount } from '../../src/http/access/authentication.ts';
import { gate } from '../../src/http/access/gate.ts';
import { TrustedProxies } from '../../src/http/access/proxies.ts';
import { App } from '../../src/http/app/app.ts';
import { Passing } from '../../src/http/app/passing.ts';
import { route, socketRoute } from '../../src/http/app/route.ts';
import { HttpServer } from '../../src/http/app/server.ts';

const ACCOUNT = { user: 'ann', password: 'right' };
const OPEN: KnownAccounts = { asked: false, accounts: [], tokens: [] };

/** Both ends of a stream between two hosts. */
function streamPair(): [Duplex, Duplex] {
  const later = (to: () => HostStream) => (message: Uint8Array) => void setImmediate(() => to().receive(message));
  const near: HostStream = new HostStream(later(() => far));
  const far: HostStream = new HostStream(later(() => near));
  for (const stream of [near, far]) stream.on('error', () => {});
  return [near, far];
}

interface Pair {
  /** Of the host that passes clients on, and of the controller itself. */
  ports: { host: number; controller: number };
  isReachable: boolean;
  isController: boolean;
}

async function serve(t: TestContext, known: KnownAccounts = oneAccount(ACCOUNT)): Promise<Pair> {
  const appOf = (name: string, hosts: string[]): App =>
    new App(
      [
        route('GET /v2/who', {}, ({ client, params }) => ({ name, address: client.address, params })),
        route('POST /v2/echo', {}, async ({ body }) => body as object),
        route('GET /v2/compute/who', {}, () => ({ name })),
        socketRoute('/v2/ws', () => (socket) => socket.send(name)),
        socketRoute('/v2/compute/ws', () => (socket) => socket.send(name)),
      ],
      { middleware: gate({ rules: { hosts, origins: [] }, authentication: new Authentication(() => known) }) },
    );
  const listen = async (server: HttpServer): Promise<number> => {
    t.after(() => server.stop(0));
    return (await server.start()).port;
  };
  const passing = new Passing({
    isController: false,
    own: /^\/v2\/compute\//,
    rules: { hosts: ['b.example'], origins: [] },
    proxies: new TrustedProxies(['127.0.0.9']),
  });
  const app = appOf('controller', ['a.example']);
  const accept = await new HttpServer(app, { host: '', port: 0 }).servePassed();
  const address = { host: '127.0.0.1', port: 0 };
  const pair: Pair = {
    ports: {
      host: await listen(new HttpServer(appOf('host', ['b.example']), { ...address, passing })),
      controller: await listen(new HttpServer(app, address)),
    },
    isReachable: true,
    isController: false,
  };
  passing.begin(
    () => pair.isController,
    () => {
      if (!pair.isReachable) throw new Error('no host is the controller now');
      const [near, far] = streamPair();
      accept(far, 'b');
      return near;
    },
  );
  return pair;
}

interface Call {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
  from?: string;
  to?: keyof Pair['ports'];
}

function call({ ports }: Pair, path: string, { method = 'GET', headers = {}, body, from, to = 'host' }: Call = {}) {
  return new Promise<{ status: number; text: string; headers: object }>((resolve, reject) => {
    const sent = { host: 'b.example', authorization: basicHeader(ACCOUNT), ...headers };
    const options = {
      host: '127.0.0.1',
      port: ports[to],
      path,
      method,
      headers: sent,
      localAddress: from ?? '127.0.0.1',
    };
    const request = ask(options, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (piece: string) => (text += piece));
      response.on('end', () => resolve({ status: response.statusCode as number, text, headers: response.headers }));
    });
    request.on('error', reject);
    request.end(body);
  });
}

async function greeting({ ports }: Pair, path: string): Promise<string> {
  const socket = new WebSocket(`ws://127.0.0.1:${ports.host}${path}`, {
    headers: { authorization: basicHeader(ACCOUNT) },
  });
  const [text] = (await once(socket, 'message')) as [Buffer];
  socket.close();
  await once(socket, 'close');
  return String(text);
}

test('requests and WebSockets are passed on to the controller, and those for the compute are not', async (t) => {
  const pair = await serve(t);
  const who = async (path: string, options?: Call): Promise<unknown> =>
    JSON.parse((await call(pair, path, options)).text);
  assert.deepEqual(await who('/v2/who', { from: '127.0.0.5' }), {
    name: 'controller',
    address: '127.0.0.5 through host b',
    params: {},
  });
  assert.deepEqual(await who('/v2/compute/who'), { name: 'host' });
  const body = JSON.stringify({ text: 'ä'.repeat(400_000) });
  const echoed = await call(pair, '/v2/echo', {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json' },
  });
  assert.deepEqual([echoed.status, JSON.parse(echoed.text)], [200, JSON.parse(body)]);
  // The answer comes before all of the body, which is too large.
  const large = await call(pair, '/v2/echo', { method: 'POST', body: 'x'.repeat(24 << 20) });
  assert.deepEqual([large.status, JSON.parse(large.text).status], [413, 413]);
  assert.equal(await greeting(pair, '/v2/ws'), 'controller');
  assert.equal(await greeting(pair, '/v2/compute/ws'), 'host');
  // Another host has taken over: this one.
  pair.isController = true;
  assert.match((await call(pair, '/v2/who')).text, /"name": "host"/);
});

test('a client cannot forge its address, and each host compares its own names', async (t) => {
  const pair = await serve(t);
  const forged = { 'labwire-client': 'https 203.0.113.9', 'x-forwarded-for': '203.0.113.9' };
  const address = async (options: Call): Promise<string> =>
    JSON.parse((await call(pair, '/v2/who', options)).text).address;
  assert.equal(await address({ headers: forged }), '127.0.0.1 through host b');
  assert.equal(await address({ headers: { ...forged, host: 'a.example' }, to: 'controller' }), '127.0.0.1');
  // Unless it is a proxy that this host trusts.
  assert.equal(await address({ headers: forged, from: '127.0.0.9' }), '203.0.113.9 through host b');
  const status = async (options: Call): Promise<number> => (await call(pair, '/v2/who', options)).status;
  assert.equal(await status({ headers: { host: 'rebound.example' } }), 403);
  assert.equal(await status({ to: 'controller' }), 403, 'the controller has another name');
  assert.equal(await status({ headers: { origin: 'http://foreign.example' } }), 403);
  assert.equal(await status({ headers: { origin: 'http://b.example' } }), 200);
  assert.equal(await status({ headers: { authorization: basicHeader({ ...ACCOUNT, password: 'wrong' }) } }), 401);
});

test('without a controller the answer says so, and with one that needs no password why not', async (t) => {
  const pair = await serve(t);
  pair.isReachable = false;
  const refused = await call(pair, '/v2/who');
  assert.deepEqual([refused.status, JSON.parse(refused.text).status], [503, 503]);
  assert.match(
    refused.text,
    /controller of the cluster cannot be reached \(no host is the controller now\): nodes run on/,
  );
  assert.deepEqual(Object.keys(JSON.parse((await call(pair, '/v3/projects')).text)), ['message']);
  assert.equal((await call(pair, '/v2/compute/who')).status, 200);
  await assert.rejects(greeting(pair, '/v2/ws'), /503/);
  assert.match((await call(await serve(t, OPEN), '/v2/who')).text, /needs no password.*labwired user add/);
});
