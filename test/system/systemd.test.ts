// What systemd hears of the executable as a service of Type=notify with a watchdog.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noPython, receiver } from '../host/datagrams.ts';
import { ownDaemon } from './daemon.ts';

test('systemd learns when requests are answered, that the daemon is alive, and that it stops', {
  skip: noPython,
}, async (t) => {
  // Short: a socket's path has at most 107 bytes.
  const socket = `@labwire-system-${process.pid}`;
  const daemon = ownDaemon(t, { environment: { NOTIFY_SOCKET: socket, WATCHDOG_USEC: '200000' } });
  const { next } = await receiver(t, socket);
  await daemon.spawn();
  assert.equal(await next(), 'READY=1');
  assert.equal((await daemon.ask('GET', '/v2/version')).status, 200);
  assert.equal(await next(), `STATUS=Listening on ${daemon.url}`);
  assert.deepEqual([await next(), await next(), await next()], ['WATCHDOG=1', 'WATCHDOG=1', 'WATCHDOG=1']);

  const ended = daemon.end('SIGTERM');
  let last = await next();
  while (last === 'WATCHDOG=1') last = await next();
  assert.equal(last, 'STOPPING=1');
  assert.equal((await ended).code, 0);
});
