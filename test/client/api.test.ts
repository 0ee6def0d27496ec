// Requests of the client to servers that want a password.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Api } from '../../src/client/server/api.ts';

test('a "%" by itself in a password is named, with its fix, and the password is not shown', () => {
  const message =
    'The user or password in "http://ann@h" (--server or $LABWIRE_SERVER) has a "%" by itself: write % as %25.';
  assert.throws(() => new Api({ url: 'http://ann:5%secret@h' }), { name: 'Failure', message });
  assert.equal(new Api({ url: 'http://ann:5%25@h' }).address, 'http://h');
});

test('the time that a user takes to type the password is not that of the server', async (t) => {
  const server = createServer((request, response) => {
    response.statusCode = request.headers.authorization === undefined ? 401 : 200;
    response.end('[]');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const { timeout } = AbortSignal;
  t.mock.method(AbortSignal, 'timeout', (milliseconds: number) => timeout.call(AbortSignal, milliseconds / 60));
  const askPassword = (): Promise<string> => sleep(1_500, 'secret');
  const api = new Api({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, askPassword });
  assert.deepEqual(await api.get('/v2/projects'), []);
});
