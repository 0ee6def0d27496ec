// Signals: which of them end the daemon in order, with and without its nodes, and what a watchdog's leaves.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually, ownDaemon, startDaemon } from './daemon.ts';
import { Lab, missing } from './lab.ts';
import { processesIn } from './processes.ts';
import { openAgain, pidsOf, pingIsAnswered } from './survivors.ts';

const skip = missing('vpcs');

test('SIGINT, SIGQUIT and SIGHUP end the daemon in order and its nodes with it, also where SIGTERM keeps them', {
  skip,
}, async (t) => {
  const daemon = await startDaemon(t, { config: '[Server]\nnodes_on_stop = keep\n' });
  const lab = await Lab.create(daemon);
  const { pcs } = await lab.pcsOnHub(1);
  for (const signal of ['SIGINT', 'SIGQUIT', 'SIGHUP'] as const) {
    assert.equal(pidsOf(pcs).filter(Boolean).length, 1);
    const { code, signal: by } = await daemon.end(signal);
    assert.deepEqual({ code, by }, { code: 0, by: null }, `${signal}: ${daemon.log}`);
    assert.deepEqual(processesIn(daemon.directory), [], signal);
    await daemon.start();
    await daemon.post(`${lab.path}/open`);
    await lab.start(pcs[0]!);
  }
});

test('a signal that comes before the server listens ends it in order', async (t) => {
  const daemon = ownDaemon(t, { flags: ['--debug'] });
  await daemon.spawn();
  await eventually('the start', () => daemon.log.includes('started program'));
  const { code, signal } = await daemon.end('SIGTERM');
  assert.deepEqual({ code, signal }, { code: 0, signal: null }, daemon.log);
});

test('a second signal while the daemon stops changes nothing', { skip }, async (t) => {
  const daemon = await startDaemon(t);
  const lab = await Lab.create(daemon);
  await lab.pcsOnHub(3);
  const ended = daemon.end('SIGTERM');
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.kill(daemon.pid, signal);
  const { code, signal } = await ended;
  assert.deepEqual({ code, signal }, { code: 0, signal: null }, daemon.log);
  assert.deepEqual(processesIn(daemon.directory), []);
});

test('the nodes outlive a daemon that does not answer its watchdog, which systemd ends with SIGABRT', {
  skip,
}, async (t) => {
  const daemon = await startDaemon(t);
  const lab = await Lab.create(daemon);
  const { pcs } = await lab.pcsOnHub(2);
  const pids = pidsOf(pcs);
  process.kill(daemon.pid, 'SIGSTOP');
  const ending = daemon.ending();
  process.kill(daemon.pid, 'SIGABRT');
  process.kill(daemon.pid, 'SIGCONT');
  assert.equal((await ending).signal, 'SIGABRT');
  await daemon.start();
  await openAgain(lab);
  assert.deepEqual(pidsOf(pcs), pids);
  await pingIsAnswered(lab, pcs[0]!, '10.0.0.2');
});
