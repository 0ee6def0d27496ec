// Every call of the page's client, whatever comes in the place of an answer: the caller gets a sentence.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { api, lastRefusal, Refusal, stopWaiting, unanswered } from '../../src/web/model/server/api.ts';

const CALLS: Readonly<Record<string, () => Promise<unknown>>> = {
  get: () => api.get('/x'),
  text: () => api.text('/x', 100),
  mustHave: () => api.mustHave('/x'),
  post: () => api.post('/x', { a: 1 }),
  put: () => api.put('/x', { a: 1 }),
  delete: () => api.delete('/x'),
  upload: () => api.upload('/x', new Blob(['content'])),
};
const SILENT = 'The server does not answer.';

/** What a page would call by a path alone. */
async function answering(t: TestContext, listener: RequestListener): Promise<void> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { fetch } = globalThis;
  globalThis.fetch = (path, init) => fetch(`${base}${String(path)}`, init);
  t.after(() => {
    globalThis.fetch = fetch;
    server.closeAllConnections();
    server.close();
  });
}

async function refusalOf(call: () => Promise<unknown>): Promise<Refusal> {
  const error = await call().then(
    () => assert.fail('it is not refused'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof Refusal, String(error));
  return error;
}

test('all calls of the client are tried', () => {
  assert.deepEqual(Object.keys(CALLS), Object.keys(api));
});

test('a status is reported in the words of the server, or by its number', async (t) => {
  let withSentence = true;
  let status = 0;
  await answering(t, (_request, response) => {
    response.writeHead(status, { 'X-Request-Id': 'r-1', ...(status === 429 && { 'Retry-After': '30' }) });
    response.end(withSentence ? JSON.stringify({ status, message: `because ${status}` }) : '<html>proxy</html>');
  });
  for (const [name, call] of Object.entries(CALLS)) {
    for (status of [401, 403, 409, 413, 429, 500, 502, 507]) {
      withSentence = true;
      const refusal = await refusalOf(call);
      assert.deepEqual([refusal.status, refusal.message, refusal.request], [status, `because ${status}`, 'r-1'], name);
      assert.equal(refusal.again !== undefined, status === 429);
      assert.equal(lastRefusal.value, refusal);
      withSentence = false;
      assert.equal((await refusalOf(call)).message, `The server answered ${status}.`, name);
    }
  }
});

test('an answer that is cut off, in its head or in its body, and one of something else than the server', async (t) => {
  let cut: 'head' | 'body' | 'other' = 'head';
  await answering(t, ({ socket }, response) => {
    if (cut === 'head') socket.destroy();
    else if (cut === 'other') response.writeHead(200, { 'Content-Type': 'text/html' }).end('<html>Log in</html>');
    else {
      response.writeHead(200, { 'Content-Length': '100' });
      response.write('{"a":', () => socket.destroy());
    }
  });
  for (const [name, call] of Object.entries(CALLS)) {
    // What follows the head is the browser's own download.
    const cuts = name === 'mustHave' ? (['head'] as const) : (['head', 'body'] as const);
    for (cut of cuts) assert.equal((await refusalOf(call)).message, SILENT, `${name}, ${cut}`);
    cut = 'other';
    if (['get', 'post', 'put'].includes(name)) assert.match((await refusalOf(call)).message, /is not the server/, name);
  }
});

test('what is not answered for ten seconds is reported, and can be given up', async (t) => {
  await answering(t, () => {});
  t.mock.timers.enable({ apis: ['setTimeout'] });
  for (const [name, call] of Object.entries(CALLS)) {
    const refusal = refusalOf(call);
    t.mock.timers.tick(9_999);
    assert.equal(unanswered.value, 0, name);
    t.mock.timers.tick(1);
    assert.equal(unanswered.value, 1, name);
    stopWaiting();
    assert.match((await refusal).message, /may have been made all the same/, name);
    assert.equal(unanswered.value, 0, name);
  }
  // Long work is in the list of tasks.
  const work = refusalOf(() => api.post('/x', {}, 'operation-1'));
  t.mock.timers.tick(60_000);
  assert.equal(unanswered.value, 0);
  t.mock.timers.reset();
  void work.catch(() => {});
});
