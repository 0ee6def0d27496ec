// What systemd hears of the daemon.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { configureLog } from '../../src/host/log.ts';
import { createNotifier } from '../../src/host/processes/systemd-notify.ts';
import { scratchDirectory } from '../store/scratch.ts';
import { noPython, receiver } from './datagrams.ts';

for (const kind of ['a path', 'an abstract address']) {
  test(`systemd learns over ${kind} that the daemon is ready and that it stops`, { skip: noPython }, async (t) => {
    const directory = await scratchDirectory(t);
    const socket = kind === 'a path' ? join(directory, 'notify') : `@${directory}`;
    const { next } = await receiver(t, socket);
    const notifier = createNotifier({ socket });
    notifier.status('3 projects\nopen');
    notifier.ready();
    notifier.stopping();
    assert.deepEqual([await next(), await next(), await next()], ['STATUS=3 projects open', 'READY=1', 'STOPPING=1']);
  });
}

test('the watchdog is fed from the moment of readiness until the end, so that systemd does not kill a healthy daemon', {
  skip: noPython,
}, async (t) => {
  const socket = `@labwire-watchdog-${process.pid}`;
  const { next } = await receiver(t, socket);
  const notifier = createNotifier({ socket, watchdogMicroseconds: '20000', watchdogPid: String(process.pid) });
  notifier.ready();
  const keepAlive = setInterval(() => {}, 1000);
  assert.deepEqual([await next(), await next(), await next()], ['READY=1', 'WATCHDOG=1', 'WATCHDOG=1']);
  clearInterval(keepAlive);
  notifier.close();
});

test('a watchdog that is meant for another process is left to that process', { skip: noPython }, async (t) => {
  const socket = `@labwire-other-${process.pid}`;
  const { next } = await receiver(t, socket);
  const notifier = createNotifier({ socket, watchdogMicroseconds: '10000', watchdogPid: '1' });
  notifier.ready();
  await new Promise((done) => setTimeout(done, 50));
  notifier.status('the next after READY');
  assert.deepEqual([await next(), await next()], ['READY=1', 'STATUS=the next after READY']);
});

test('a daemon goes on when no program listens to its notifications, and says so once', (t) => {
  const lines: string[] = [];
  configureLog({ write: (line) => lines.push(line) });
  t.after(() => configureLog({ write: (line) => process.stderr.write(line) }));
  createNotifier({ socket: undefined }).ready();
  assert.deepEqual(lines, []);
  const notifier = createNotifier({ socket: '/nonexistent/notify' });
  notifier.ready();
  notifier.stopping();
  assert.equal(lines.length, 1);
  assert.match(lines[0] ?? '', /systemd does not take notifications socket=\/nonexistent\/notify/);
});
