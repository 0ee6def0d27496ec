// Every combination of Host, Origin, Sec-Fetch-Site, method and upgrade, over real connections, with the exact answer to each:
// what a browser may be made to send to this server, and what comes of it.
import assert from 'node:assert/strict';
import { type IncomingHttpHeaders, request } from 'node:http';
import { type TestContext, test } from 'node:test';
import { gate } from '../../src/http/access/gate.ts';
import { App } from '../../src/http/app/app.ts';
import { route, socketRoute } from '../../src/http/app/route.ts';
import { HttpServer } from '../../src/http/app/server.ts';

/** `%` is the port. */
const HOSTS: Record<string, string> = {
  address: '127.0.0.1:%',
  name: 'labs.example.net:%',
  rebound: 'evil.example:%',
  lookalike: '127.0.0.1.evil.example:%',
  malformed: 'labs.example.net:%/@evil.example',
};

/** `HOST` is what the Host header says: a page of this very site, or, under a rebound name, one that pretends to be. */
const ORIGINS: Record<string, string | undefined> = {
  none: undefined,
  same: 'http://HOST',
  allowed: 'https://portal.example.net',
  foreign: 'https://evil.example',
  null: 'null',
};

const SITES = ['-', 'same-origin', 'same-site', 'cross-site'] as const;
const METHODS = ['GET', 'POST', 'OPTIONS', 'upgrade'] as const;

// Rows are Host and Origin; in a row, for each of the four sites (absent, same-origin, same-site, cross-site) the answers to GET,
// POST, OPTIONS and a WebSocket's GET. "+": a page of that origin may read the answer.
const TABLE = `
address   none     200  201  403  101  | 200  201  403  101  | 403  403  403  403  | 403  403  403  403
address   same     200+ 201+ 200+ 101+ | 200+ 201+ 200+ 101+ | 200+ 201+ 200+ 101+ | 200+ 201+ 200+ 101+
address   allowed  200+ 201+ 200+ 101+ | 200+ 201+ 200+ 101+ | 200+ 201+ 200+ 101+ | 200+ 201+ 200+ 101+
address   foreign  403  403  403  403  | 403  403  403  403  | 403  403  403  403  | 403  403  403  403
address   null     403  403  403  403  | 403  403  403  403  | 403  403  403  403  | 403  403  403  403
name      none     200  201  403  101  | 200  201  403  101  | 403  403  403  403  | 403  403  403  403
name      same     200+ 201+ 200+ 101+ | 200+ 201+ 200+ 101+ | 200+ 201+ 200+ 101+ | 200+ 201+ 200+ 101+
name      allowed  200+ 201+ 200+ 101+ | 200+ 201+ 200+ 101+ | 200+ 201+ 200+ 101+ | 200+ 201+ 200+ 101+
name      foreign  403  403  403  403  | 403  403  403  403  | 403  403  403  403  | 403  403  403  403
name      null     403  403  403  403  | 403  403  403  403  | 403  403  403  403  | 403  403  403  403
rebound   none     403  403  403  403  | 403  403  403  403  | 403  403  403  403  | 403  403  403  403
rebound   same     403  403  403  403  | 403  403  403  403  | 403  403  403  403  | 403  403  403  403
rebound   allowed  403  403  403  403  | 403  403  403  403  | 403  403  403  403  | 403  403  403  403
rebound   foreign  403  403  403  403  | 403  403  403  403  | 403  403  403  403  | 403  403  403  403
rebound   null     403  403  403  403  | 403  403  403  403  | 403  403  403  403  | 403  403  403  403
lookalike none     403  403  403  403  | 403  403  403  403  | 403  403  403  403  | 403  403  403  403
lookalike same     403  403  403  403  | 403  403  403  403  | 403  403  403  403  | 403  403  403  403
lookalike allowed  403  403  403  403  | 403  403  403  403  | 403  403  403  403  | 403  403  403  403
lookalike foreign  403  403  403  403  | 403  403  403  403  | 403  403  403  403  | 403  403  403  403
lookalike null     403  403  403  403  | 403  403  403  403  | 403  403  403  403  | 403  403  403  403
malformed none     400  400  400  400  | 400  400  400  400  | 400  400  400  400  | 400  400  400  400
malformed same     400  400  400  400  | 400  400  400  400  | 400  400  400  400  | 400  400  400  400
malformed allowed  400  400  400  400  | 400  400  400  400  | 400  400  400  400  | 400  400  400  400
malformed foreign  400  400  400  400  | 400  400  400  400  | 400  400  400  400  | 400  400  400  400
malformed null     400  400  400  400  | 400  400  400  400  | 400  400  400  400  | 400  400  400  400
`;

/** Without Origin release 3.0.6 has no OPTIONS; who may not ask learns nothing of that. */
const TABLES: Readonly<Record<string, string>> = {
  v2: TABLE,
  v3: TABLE.replaceAll(/^(?:address|name) +none .*$/gm, (row) => row.replaceAll('201  403', '201  405')),
};

const RULES = { hosts: ['labs.example.net'], origins: ['https://portal.example.net'] };

async function answer(
  { port, dialect }: { port: number; dialect: string },
  method: (typeof METHODS)[number],
  headers: Record<string, string>,
): Promise<string> {
  const upgrade = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' };
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; headers: IncomingHttpHeaders }>();
  const sent = request({
    ...{ host: '127.0.0.1', port, agent: false, setHost: false },
    ...(method === 'upgrade' ? { method: 'GET', path: `/${dialect}/socket` } : { method, path: `/${dialect}/thing` }),
    headers: {
      ...headers,
      ...(method === 'upgrade' ? { ...upgrade, 'sec-websocket-key': Buffer.alloc(16).toString('base64') } : {}),
    },
  });
  sent.on('response', (response) => {
    response.resume();
    resolve({ status: response.statusCode!, headers: response.headers });
  });
  sent.on('upgrade', (response, socket) => {
    socket.destroy();
    resolve({ status: response.statusCode!, headers: response.headers });
  });
  sent.on('error', reject);
  sent.end();
  const { status, headers: received } = await promise;
  const allowed = received['access-control-allow-origin'];
  assert.ok(allowed === undefined || allowed === headers['origin'], `${allowed} for ${headers['origin']}`);
  assert.notEqual(allowed, '*');
  return `${status}${allowed === undefined ? '' : '+'}`;
}

async function walk(t: TestContext, dialect: string): Promise<void> {
  const reached: string[] = [];
  const routes = [
    route(`GET /${dialect}/thing`, {}, () => ({ read: true })),
    route(`POST /${dialect}/thing`, { status: 201 }, () => {
      reached.push('POST');
      return { made: true };
    }),
    socketRoute(`/${dialect}/socket`, () => (socket) => socket.close(1000, '')),
  ];
  const server = new HttpServer(new App(routes, { middleware: gate({ rules: RULES, authentication: undefined }) }), {
    host: '127.0.0.1',
    port: 0,
  });
  const { port } = await server.start();
  t.after(() => server.stop(0));
  const put = (text: string): string => text.replace('%', String(port));
  const rows: string[] = [];
  for (const [host, hostHeader] of Object.entries(HOSTS)) {
    for (const [origin, originHeader] of Object.entries(ORIGINS)) {
      const cells: string[] = [];
      for (const site of SITES) {
        const answers: string[] = [];
        for (const method of METHODS) {
          const before = reached.length;
          const headers = {
            host: put(hostHeader),
            ...(originHeader === undefined ? {} : { origin: put(originHeader.replace('HOST', hostHeader)) }),
            ...(site === '-' ? {} : { 'sec-fetch-site': site, 'sec-fetch-mode': 'cors' }),
          };
          const cell = await answer({ port, dialect }, method, headers);
          if (cell.startsWith('403')) assert.equal(reached.length, before, 'what is refused does nothing');
          answers.push(cell);
        }
        cells.push(answers.map((cell) => cell.padEnd(4)).join(' '));
      }
      rows.push(`${host.padEnd(10)}${origin.padEnd(9)}${cells.join(' | ')}`.trimEnd());
    }
  }
  assert.deepEqual(rows, TABLES[dialect]!.trim().split('\n'));
}

for (const dialect of Object.keys(TABLES))
  test(`400 combinations of Host, Origin, Sec-Fetch-Site, method and upgrade get the answers of the table by /${dialect}`, (t) =>
    walk(t, dialect));
