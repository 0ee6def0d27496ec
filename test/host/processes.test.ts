// Processes of a former life: found by their environment, ended, and nobody else's.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { childEnvironment, findOurs, processToken, reapOurs } from '../../src/host/processes/child-processes.ts';

/** A running shell script that said it was ready. */
async function run(t: TestContext, environment: Record<string, string>, script = 'echo ready; exec sleep 1000') {
  const child = spawn('/bin/sh', ['-c', script], { env: environment, stdio: ['ignore', 'pipe', 'ignore'] });
  t.after(() => child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  return child;
}

const ended = (child: ChildProcess) => child.exitCode !== null || child.signalCode !== null;

test('a child gets a few plain variables and its token, nothing of the daemon', () => {
  process.env['DAEMON_SECRET'] = 'secret';
  const environment = childEnvironment({ ...processToken('instance', 'node'), LANG: 'de_DE.UTF-8' });
  delete process.env['DAEMON_SECRET'];
  assert.deepEqual(Object.keys(environment).sort(), [
    'HOME',
    'LABWIRE_INSTANCE',
    'LABWIRE_NODE',
    'LANG',
    'PATH',
    'TERM',
  ]);
  assert.equal(environment['LANG'], 'de_DE.UTF-8');
});

test('exactly the processes of this state directory are found, with the nodes they belong to', async (t) => {
  const [ours, others] = [randomUUID(), randomUUID()];
  const first = await run(t, childEnvironment(processToken(ours, 'node-1')));
  const second = await run(t, childEnvironment(processToken(ours, 'node-2')));
  await run(t, childEnvironment(processToken(others, 'node-1')));
  await run(t, childEnvironment({ ...processToken(`${ours}0`, 'node-1'), X: `LABWIRE_INSTANCE=${ours}` }));
  const found = findOurs(ours).map(({ pid, nodeId }) => [pid, nodeId]);
  assert.deepEqual(
    found.sort(),
    [
      [first.pid, 'node-1'],
      [second.pid, 'node-2'],
    ].sort(),
  );
});

test('our processes are ended, also those that ignore SIGTERM; a decoy with another token lives on', async (t) => {
  const [ours, others] = [randomUUID(), randomUUID()];
  const polite = await run(t, childEnvironment(processToken(ours, 'polite')));
  const stubborn = await run(
    t,
    childEnvironment(processToken(ours, 'stubborn')),
    'trap "" TERM; echo ready; while :; do sleep 0.1; done',
  );
  const decoy = await run(t, childEnvironment(processToken(others, 'polite')));
  const { found, left } = await reapOurs(ours);
  assert.ok(found.some(({ nodeId }) => nodeId === 'polite'));
  assert.ok(found.some(({ nodeId }) => nodeId === 'stubborn'));
  assert.deepEqual(left, []);
  assert.deepEqual(findOurs(ours), []);
  await Promise.all([polite, stubborn].map(async (child) => ended(child) || once(child, 'exit')));
  assert.deepEqual([polite.signalCode, stubborn.signalCode], ['SIGTERM', 'SIGKILL']);
  assert.equal(ended(decoy), false);
  assert.equal(findOurs(others).length, 1);
});

test('where nothing is left, nothing is done', async () => {
  assert.deepEqual(await reapOurs(randomUUID()), { found: [], left: [] });
});
