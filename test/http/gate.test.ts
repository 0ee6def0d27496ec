// The gate over the network: pages for people, proxies, tickets for WebSockets, and sockets that a new password ends.
import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { request as ask } from 'node:http';
import { connect } from 'node:net';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { Failure } from '../../src/failures.ts';
import { configureLog } from '../../src/host/log.ts';
import { Authentication, basicHeader, oneAccount } from '../../src/http/access/authentication.ts';
import { gate } from '../../src/http/access/gate.ts';
import { Admissions } from '../../src/http/access/open-connections.ts';
import { TrustedProxies } from '../../src/http/access/proxies.ts';
import { Tickets, ticketRoute } from '../../src/http/access/tickets.ts';
import { App } from '../../src/http/app/app.ts';
import { Observation } from '../../src/http/app/request-log.ts';
import { route, socketRoute } from '../../src/http/app/route.ts';
import { HttpServer } from '../../src/http/app/server.ts';

const HTML = { accept: 'text/html,*/*;q=0.8', 'sec-fetch-mode': 'navigate' };

/** Says how far `GET /v2/waiting` is, and lets `GET /v3/open` end. */
const waiting = new EventEmitter();

interface Served {
  port: number;
  account: { user: string; password: string };
  log: string;
  admissions: Admissions;
  /** How often the accounts were read. */
  reads: number;
}

async function serve(t: TestContext): Promise<Served> {
  const account = { user: 'ann', password: 'the first' };
  const authentication = new Authentication(() => {
    served.reads++;
    return oneAccount(served.account);
  });
  const admissions = new Admissions(authentication);
  const served: Served = { port: 0, account, log: '', admissions, reads: 0 };
  configureLog({
    write: (line) => {
      served.log += line;
    },
  });
  t.after(() => configureLog({ write: () => {} }));
  const tickets = new Tickets();
  const routes = [
    ticketRoute(tickets, (path) => app.hasSocket(path)),
    route('GET /v2/who', {}, ({ client }) => ({ address: client.address })),
    route('GET /v2/waiting', { raw: true }, async ({ signal }) => {
      waiting.emit('begun');
      await once(signal, 'abort');
      // Whatever else ends with the connection has ended by then.
      await sleep(20);
      setImmediate(() => waiting.emit('answered'));
      return new Response('late');
    }),
    route('GET /v3/open', { raw: true, open: true }, () => {
      const [first, second] = ['first ', 'second'].map((text) => Buffer.from(text));
      return new Response(
        new ReadableStream<Uint8Array>({
          async start(controller) {
            controller.enqueue(first!);
            await once(waiting, 'end');
            controller.enqueue(second!);
            controller.close();
          },
        }),
      );
    }),
    route('GET /v2/no', {}, () => {
      throw new Failure('forbidden', 'path: "<b>" leads elsewhere.');
    }),
    socketRoute('/v2/events/ws', () => (socket) => socket.send('welcome')),
    socketRoute('/v2/other/ws', () => (socket) => socket.send('welcome')),
  ];
  const rules = { hosts: [], origins: [] };
  const proxies = new TrustedProxies(['127.0.0.2/31']);
  const definitionAt = (method: string, path: string) => app.definitionAt(method, path);
  const guards = gate({ rules, authentication, tickets, proxies, definitionAt });
  const app: App = new App(routes, { middleware: [new Observation().middleware, ...guards], admissions });
  const server = new HttpServer(app, { host: '127.0.0.1', port: 0 });
  served.port = (await server.start()).port;
  t.after(() => server.stop(0));
  return served;
}

interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
}

function fetchFrom(
  { port, account }: Served,
  path: string,
  {
    headers = {},
    from = '127.0.0.1',
    body,
    isKnown = true,
  }: { headers?: object; from?: string; body?: object; isKnown?: boolean } = {},
): Promise<Answer> {
  const sent = { ...(isKnown ? { authorization: basicHeader(account) } : {}), ...headers };
  const method = body ? 'POST' : 'GET';
  return new Promise((resolve, reject) => {
    const request = ask({ port, path, method, headers: sent, localAddress: from, host: '127.0.0.1' }, (response) => {
      let text = '';
      response.on('data', (bytes) => (text += bytes));
      response.on('end', () => resolve({ status: response.statusCode!, headers: response.headers, text }));
    });
    request.on('error', reject);
    request.end(body && JSON.stringify(body));
  });
}

/** Status of a refusal, or the open socket. */
function open({ port }: Served, path: string, options: object = {}): Promise<number | WebSocket> {
  return new Promise((resolve) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, options);
    socket.on('unexpected-response', (_request, response) => resolve(response.statusCode!));
    socket.on('open', () => resolve(socket));
  });
}

test('a person who is refused sees a page with a sentence, a program its JSON', async (t) => {
  const served = await serve(t);
  const unknown = await fetchFrom(served, '/v2/who', { headers: HTML, isKnown: false });
  assert.equal(unknown.status, 401);
  assert.equal(unknown.headers['www-authenticate'], 'Basic realm="GNS3 server"');
  assert.match(unknown.text, /<h1>User and password, please<\/h1>.*labwired password/);
  assert.match(String(unknown.headers['content-security-policy']), /default-src 'none'/);
  assert.deepEqual((await fetchFrom(served, '/v2/who', { isKnown: false })).text, '');

  const forbidden = await fetchFrom(served, '/v2/no', { headers: HTML });
  assert.equal(forbidden.status, 403);
  assert.match(forbidden.text, /<p>path: &quot;&lt;b&gt;&quot; leads elsewhere\.<\/p>/);
  assert.equal(JSON.parse((await fetchFrom(served, '/v2/no')).text).status, 403);

  const foreign = { ...HTML, host: 'rebound.example' };
  assert.match((await fetchFrom(served, '/', { headers: foreign })).text, /^<!doctype html>.*allowed_hosts/);
  const scripted = { accept: 'text/html', 'sec-fetch-mode': 'cors', host: 'rebound.example' };
  assert.equal(JSON.parse((await fetchFrom(served, '/', { headers: scripted })).text).status, 403);
});

test('only a trusted proxy decides whether its client speaks HTTPS, and who it is', async (t) => {
  const served = await serve(t);
  const forwarded = {
    ...{ host: 'lab.local', origin: 'https://lab.local', 'x-forwarded-proto': 'https' },
    'x-forwarded-for': '198.51.100.9, 192.0.2.7, 127.0.0.3',
  };
  const known = await fetchFrom(served, '/v2/who', { headers: forwarded, from: '127.0.0.2' });
  assert.deepEqual([known.status, JSON.parse(known.text).address], [200, '192.0.2.7']);
  const stranger = await fetchFrom(served, '/v2/who', { headers: forwarded, from: '127.0.0.1' });
  assert.equal(stranger.status, 403);
  assert.match(stranger.text, /trusted_proxies/);
  const { origin: _none, ...plain } = forwarded;
  const claimed = await fetchFrom(served, '/v2/who', { headers: plain, from: '127.0.0.1' });
  assert.equal(JSON.parse(claimed.text).address, '127.0.0.1');
  const noProxy = { host: 'lab.local', origin: 'http://lab.local', 'x-forwarded-proto': 'https' };
  assert.equal((await fetchFrom(served, '/v2/who', { headers: noProxy, from: '127.0.0.2' })).status, 403);
  // What a proxy appends need not be a plain address; what stands before it is forged.
  for (const [item, address] of [
    ['192.0.2.7:50000', '192.0.2.7'],
    ['[2001:db8::7]:50000', '2001:db8::7'],
    ['[2001:db8::7]', '2001:db8::7'],
    ['2001:db8::7', '2001:db8::7'],
    ['192.0.2.7, 127.0.0.3:50000', '192.0.2.7'],
    ['unknown', '127.0.0.2'],
    ['_hidden, 127.0.0.3', '127.0.0.2'],
    ['', '127.0.0.2'],
  ]) {
    const headers = { host: 'localhost', 'x-forwarded-for': `198.51.100.9, ${item}` };
    const { text } = await fetchFrom(served, '/v2/who', { headers, from: '127.0.0.2' });
    assert.equal(JSON.parse(text).address, address, item);
  }
});

test('a ticket opens its WebSocket once, from the address that asked, and is not logged', async (t) => {
  const served = await serve(t);
  const ticket = async (path = '/v2/events/ws') => {
    const { status, text } = await fetchFrom(served, '/v2/tickets', { body: { path } });
    assert.equal(status, 201, text);
    return JSON.parse(text).ticket as string;
  };
  const first = await ticket();
  assert.equal(Buffer.from(first, 'base64url').length, 32);
  const socket = await open(served, `/v2/events/ws?since=now&ticket=${first}`);
  assert.ok(socket instanceof WebSocket);
  socket.terminate();
  assert.equal(await open(served, `/v2/events/ws?ticket=${first}`), 401, 'twice');
  assert.equal(await open(served, `/v2/other/ws?ticket=${await ticket()}`), 401, 'elsewhere');
  assert.equal(await open(served, `/v2/events/ws?ticket=${await ticket()}`, { localAddress: '127.0.0.9' }), 401);
  const spoilt = await ticket();
  assert.equal(await open(served, `/v2/other/ws?ticket=${spoilt}`), 401);
  assert.equal(await open(served, `/v2/events/ws?ticket=${spoilt}`), 401, 'a wrong use uses it up');
  const plain = await ticket();
  assert.equal((await fetchFrom(served, `/v2/events/ws?ticket=${plain}`, { isKnown: false })).status, 401, 'no socket');
  for (const path of ['/v2/who', '/v2/events/ws?x=1', 'http://elsewhere/', '']) {
    const refused = await fetchFrom(served, '/v2/tickets', { body: { path } });
    assert.match(`${refused.status} ${refused.text}`, /^400 .*path: name a WebSocket/s, path);
  }
  assert.equal(
    (await fetchFrom(served, '/v2/tickets', { body: { path: '/v2/events/ws' }, isKnown: false })).status,
    401,
  );
  assert.match(served.log, /path=\/v2\/events\/ws/);
  for (const secret of [first, spoilt, plain]) assert.ok(!served.log.includes(secret));
});

test('tickets end after 30 s, and there are never many', () => {
  let now = 0;
  const tickets = new Tickets(() => now);
  const ann = { id: 'ann', tag: 'ann now' };
  const late = tickets.issue('/a', '::1', ann);
  now = 30_000;
  assert.equal(tickets.take(late, '/a', '::1'), undefined);
  const [one] = Array.from({ length: 128 }, () => tickets.issue('/a', '::1', ann));
  assert.throws(() => tickets.issue('/a', '::1', ann), /try again in 30 s/);
  assert.ok(tickets.issue('/a', '::1', { id: 'bob', tag: 'bob now' }), 'others get theirs');
  assert.equal(tickets.take(one!, '/a', '::1'), ann.tag);
  tickets.issue('/a', '::1', ann);
  now = 60_000;
  tickets.issue('/a', '::1', ann);
});

test('a new password closes the WebSockets of the old one, those of tickets too, and leaves new ones open', async (t) => {
  const served = await serve(t);
  const headers = () => ({ headers: { authorization: basicHeader(served.account) } });
  const old = await open(served, '/v2/events/ws', headers());
  const asked = await fetchFrom(served, '/v2/tickets', { body: { path: '/v2/other/ws' } });
  const ticketed = await open(served, `/v2/other/ws?ticket=${JSON.parse(asked.text).ticket}`);
  const unused = await fetchFrom(served, '/v2/tickets', { body: { path: '/v2/other/ws' } });
  assert.ok(old instanceof WebSocket && ticketed instanceof WebSocket);
  const ends = [old, ticketed].map((socket) => once(socket, 'close'));
  served.account = { user: 'ann', password: 'the second' };
  const fresh = await open(served, '/v2/events/ws', headers());
  assert.ok(fresh instanceof WebSocket);
  for (const [code, reason] of await Promise.all(ends))
    assert.deepEqual([code, String(reason)], [1008, 'The password was changed, or the account or token is gone.']);
  assert.equal(fresh.readyState, fresh.OPEN);
  assert.equal(await open(served, `/v2/other/ws?ticket=${JSON.parse(unused.text).ticket}`), 401);
  fresh.terminate();
});

test('what has ended is watched no more: answers whose clients left before them, and what has lost its right', async (t) => {
  const served = await serve(t);
  for (let count = 0; count < 3; count++) {
    const client = connect(served.port, '127.0.0.1').on('error', () => {});
    const [begun, answered] = [once(waiting, 'begun'), once(waiting, 'answered')];
    client.write(
      `GET /v2/waiting HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: ${basicHeader(served.account)}\r\n\r\n`,
    );
    await begun;
    client.resetAndDestroy();
    await answered;
  }
  served.reads = 0;
  await served.admissions.check();
  assert.equal(served.reads, 0);

  let ends = 0;
  served.admissions.watch({ tag: 'of a former password', end: () => ends++ });
  await served.admissions.check();
  await served.admissions.check();
  assert.equal(ends, 1);
});

test('what needs no login is sent to its end', async (t) => {
  const served = await serve(t);
  const response = await fetch(`http://127.0.0.1:${served.port}/v3/open`);
  assert.equal(response.status, 200);
  await served.admissions.check();
  waiting.emit('end');
  assert.equal(await response.text(), 'first second');
});
