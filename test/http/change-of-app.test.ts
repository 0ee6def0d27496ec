// The application behind a port is exchanged while clients are connected, as when the controller of a cluster comes to a host or leaves it.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, request as ask } from 'node:http';
import { type TestContext, test } from 'node:test';
import { WebSocket } from 'ws';
import { temporary } from '../../src/failures.ts';
import { App } from '../../src/http/app/app.ts';
import { route, socketRoute } from '../../src/http/app/route.ts';
import { HttpServer } from '../../src/http/app/server.ts';

const LEFT = temporary('The controller left.');

interface Answered {
  status: number;
  text: string;
  retryAfter: string | undefined;
  localPort: number;
}

async function served(t: TestContext) {
  const stuck = Promise.withResolvers<void>();
  const appOf = (name: string): App =>
    new App([
      route('GET /v2/who', {}, () => ({ name })),
      route('GET /v2/stuck', {}, async () => {
        stuck.resolve();
        await new Promise(() => {});
      }),
      socketRoute('/v2/ws', () => (socket) => socket.send(name)),
    ]);
  const server = new HttpServer(appOf('first'), { host: '127.0.0.1', port: 0 });
  t.after(() => server.stop(0));
  const { port } = await server.start();
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.after(() => agent.destroy());
  const get = (path: string, through?: Agent): Promise<Answered> =>
    new Promise((resolve, reject) => {
      const sent = ask({ host: '127.0.0.1', port, path, ...(through && { agent: through }) }, (response) => {
        const { statusCode: status = 0, headers } = response;
        let text = '';
        response.setEncoding('utf8').on('data', (piece: string) => (text += piece));
        response.on('end', () =>
          resolve({ status, text, retryAfter: headers['retry-after'], localPort: sent.socket?.localPort ?? 0 }),
        );
      });
      sent.on('error', reject);
      sent.end();
    });
  return { server, port, agent, get, stuck: stuck.promise, second: appOf('second') };
}

test('the port stays open: the next request of a connection is answered by the other application', async (t) => {
  const { server, agent, get, second, port } = await served(t);
  const before = await get('/v2/who', agent);
  assert.match(before.text, /first/);
  const socket = new WebSocket(`ws://127.0.0.1:${port}/v2/ws`);
  await once(socket, 'message');
  const closed = once(socket, 'close');
  await server.change(second, LEFT);
  assert.equal((await closed)[0], 1001);
  const after = await get('/v2/who', agent);
  assert.match(after.text, /second/);
  assert.equal(after.localPort, before.localPort, 'the same connection');
});

test('a request that the former application does not answer gets 503, the time to try again, and the reason', async (t) => {
  const { server, get, second, stuck } = await served(t);
  const pending = get('/v2/stuck');
  await stuck;
  await server.change(second, LEFT, 100);
  const { status, text, retryAfter } = await pending;
  assert.deepEqual([status, retryAfter], [503, '2']);
  assert.match(text, /The controller left\./);
});
