// A listener in front of an application that is not whole yet: real requests and WebSockets.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { App } from '../../src/http/app.ts';
import { ArrivingApp } from '../../src/http/arriving-app.ts';
import { route, socketRoute } from '../../src/http/route.ts';
import { HttpServer } from '../../src/http/server.ts';

test('what has an early answer is answered at once, all else by the application when that is there', async (t) => {
  const whole = new App([
    route('GET /v2/version', {}, () => ({ by: 'whole' })),
    route('GET /v2/thing', {}, () => ({ by: 'whole' })),
    route('POST /v2/thing', {}, ({ body }) => ({ got: body })),
    socketRoute('/v2/socket', () => (socket) => socket.send('open')),
  ]);
  const app = new ArrivingApp(({ method, target }, response) => {
    const isEarly = method === 'GET' && target === '/v2/version';
    if (isEarly) response.end('{"by":"first"}');
    return isEarly;
  });
  const server = new HttpServer(app, { host: '127.0.0.1', port: 0 });
  const { port } = await server.start();
  t.after(() => server.stop(0));
  const address = `127.0.0.1:${port}`;
  const ask = async (path: string, init?: RequestInit) => {
    const answer = await fetch(`http://${address}${path}`, init);
    const text = await answer.text();
    return { status: answer.status, body: answer.ok ? (JSON.parse(text) as unknown) : undefined };
  };

  const waiting = [
    ask('/v2/thing'),
    ask('/v2/thing', { method: 'POST', body: '{"a":1}' }),
    ask('/v2/nothing'),
    ask('/v2/version', { method: 'POST', body: '{}' }),
  ];
  const socket = new WebSocket(`ws://${address}/v2/socket`);
  const message = once(socket, 'message');
  const noSocket = new WebSocket(`ws://${address}/v2/thing`);
  const refusal = once(noSocket, 'unexpected-response');
  noSocket.on('error', () => {});
  let answered = 0;
  for (const one of [...waiting, message, refusal]) void one.then(() => (answered += 1));
  assert.deepEqual(await ask('/v2/version'), { status: 200, body: { by: 'first' } });
  for (let count = 0; server.connectionCount < 6 && count < 10_000; count += 1) await turn();
  assert.equal(answered, 0);

  app.arrived(whole);
  const [got, posted, nothing, wrongMethod] = await Promise.all(waiting);
  assert.deepEqual(got, { status: 200, body: { by: 'whole' } });
  assert.deepEqual(posted, { status: 200, body: { got: { a: 1 } } });
  assert.equal(nothing!.status, 404);
  assert.equal(wrongMethod!.status, 405);
  assert.equal(String((await message)[0]), 'open');
  const [, plain] = await refusal;
  assert.equal(plain.statusCode, 200);
  plain.resume();
  socket.close();
  await once(socket, 'close');
  assert.deepEqual(await ask('/v2/version'), { status: 200, body: { by: 'whole' } });
});
