// The answer before the application is there: the same bytes as the application's, and never to a request that the gate has a say in.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { versionRoute } from '../../src/controller/server/version-route.ts';
import { answerText } from '../../src/events/json.ts';
import { configureLog } from '../../src/host/log.ts';
import { App } from '../../src/http/app.ts';
import { ArrivingApp } from '../../src/http/arriving-app.ts';
import { Authentication } from '../../src/http/authentication.ts';
import { earlyAnswer } from '../../src/http/early-answers.ts';
import { gate } from '../../src/http/gate.ts';
import { Observation } from '../../src/http/observation.ts';
import { HttpServer } from '../../src/http/server.ts';
import { exchange, opening } from './raw-client.ts';

const HOSTS = ['lab.example'];

async function serve(t: TestContext) {
  const served = { port: 0, open: true, asked: 0, log: [] as string[], arrive: () => {}, connections: () => 0 };
  configureLog({ write: (line) => void served.log.push(line) });
  t.after(() => configureLog({ write: () => {} }));
  const observation = new Observation();
  const isOpen = () => {
    served.asked += 1;
    return served.open;
  };
  const early = earlyAnswer({
    ...{ path: '/v2/version', hosts: HOSTS, observation, isOpen },
    text: answerText({ version: '2.2.57', local: false }),
  });
  const app = new ArrivingApp(early);
  const server = new HttpServer(app, { host: '127.0.0.1', port: 0 });
  served.port = (await server.start()).port;
  t.after(() => server.stop(0));
  const authentication = new Authentication(() => ({ asked: false, accounts: [], tokens: [] }));
  const guards = gate({ rules: { hosts: HOSTS, origins: [] }, authentication });
  served.arrive = () =>
    app.arrived(new App([versionRoute('2.2.57', false)], { middleware: [observation.middleware, ...guards] }));
  served.connections = () => server.connectionCount;
  return served;
}

const plain = (...headers: string[]): string =>
  ['GET /v2/version HTTP/1.1', ...headers, 'Connection: close', '', ''].join('\r\n');

const whole = (text: string): boolean => text.endsWith('}');

/** Without what differs from one answer to the next: the time, and the number of the request. */
const alike = (text: string): string =>
  text.replace(/^Date: .*$/im, '').replace(/^(x-request-id: [0-9a-f]{6}-)\w+/im, '$1');

test('an early answer, and what is noted of it, are those of the application', async (t) => {
  const served = await serve(t);
  const asked = plain('Host: Lab.example:3080', 'User-Agent: x', 'Accept: */*', 'Authorization: Basic YTpi');
  const before = await exchange(served.port, asked, whole);
  assert.match(before, /^HTTP\/1\.1 200 OK\r\n.*"version": "2\.2\.57"\n\}$/s);
  served.arrive();
  const after = await exchange(served.port, asked, whole);
  assert.equal(alike(before), alike(after));
  const noted = served.log.map((line) => line.replace(/^\S+ |milliseconds=\S+ request=\S+ /g, ''));
  assert.equal(noted.length, 2);
  assert.equal(noted[0], noted[1]);
});

test('what the gate, or the reading of a body, has a say in waits for the application', async (t) => {
  const served = await serve(t);
  const host = 'Host: 127.0.0.1';
  const expected: [string, RegExp][] = [
    [plain('Host: evil.example'), / 403 /],
    [plain(host, 'Origin: http://evil.example'), / 403 /],
    [plain(host, 'Origin: http://127.0.0.1'), / 200 .*^access-control-allow-origin: /ims],
    [plain(host, 'Sec-Fetch-Site: cross-site'), / 403 /],
    [plain(host, 'X-Forwarded-For: 10.0.0.1'), / 200 /],
    [plain(host, 'Content-Length: 2').concat('{}'), / 200 /],
    [plain(host, 'Content-Length: 1').concat('{'), / 400 /],
    [plain(host).replace('GET', 'POST'), / 405 /],
    [plain(host).replace('GET', 'HEAD'), / 405 /],
    [plain(host).replace('version', 'version?a=1'), / 200 /],
    [plain(host).replace('version', 'version/'), / 404 /],
    [opening('/v2/version', { Connection: 'Upgrade, close' }), / 200 /],
  ];
  let answered = 0;
  const counted = (bytes: string): Promise<string> =>
    exchange(served.port, bytes, () => {
      answered += 1;
      return false;
    });
  const answers = expected.map(([bytes]) => counted(bytes));
  for (let count = 0; served.connections() < expected.length && count < 10_000; count += 1) await turn();
  assert.equal(served.connections(), expected.length);
  // One behind the other: what had an early answer would have it before this one.
  await exchange(served.port, plain(host), whole);
  served.open = false;
  const closed = counted(plain(host));
  for (let count = 0; served.asked < 2 && count < 10_000; count += 1) await turn();
  assert.equal(answered, 0);
  assert.equal(served.asked, 2);
  served.arrive();
  for (const [number, [bytes, answer]] of expected.entries()) assert.match((await answers[number])!, answer, bytes);
  assert.match(await closed, / 200 /);
});
