// When clouds and NATs of a host of a cluster are cut off, and connected again.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { OutsideAccess } from '../../src/compute/uplinks/outside-access.ts';
import { until } from '../fabric/peers.ts';

function access(t: TestContext): { access: OutsideAccess; said: string[] } {
  const said: string[] = [];
  const access = new OutsideAccess((isOpen, projects) => said.push(`${isOpen} ${[...projects].join()}`));
  t.after(() => access.stop());
  access.add({
    projectId: 'lab',
    connect: async () => void said.push('connect'),
    disconnect: async () => void said.push('disconnect'),
  });
  return { access, said };
}

test('without a limit, and outside of a cluster, nothing is ever cut off', async (t) => {
  const { access: own, said } = access(t);
  assert.throws(() => own.open(1_000), /close_after_seconds: this host holds no lease/);
  own.renewed(performance.now() - 10_000, true);
  own.open(undefined);
  own.renewed(performance.now() - 10_000, false);
  await sleep(50);
  assert.deepEqual([own.isOpen, own.limitMs, said], [true, undefined, []]);
});

test('a lease that is not renewed in time cuts them off, until they are opened with a lease again', async (t) => {
  const { access: own, said } = access(t);
  const limit = 60_000;
  /** So much (ms) is left of it. */
  const renewed = (left: number): void => own.renewed(performance.now() - limit + left, true);
  renewed(limit);
  own.open(limit);
  renewed(50);
  renewed(limit);
  await sleep(200);
  assert.equal(own.isOpen, true, 'renewed in time');
  renewed(50);
  await until(async () => !own.isOpen);
  assert.deepEqual(said, ['disconnect', 'false lab']);
  assert.throws(() => own.open(limit), /holds no lease/);
  renewed(limit);
  assert.equal(own.isOpen, false, 'others may still run them');
  own.open(limit);
  assert.deepEqual([own.isOpen, said.slice(2)], [true, ['true lab', 'connect']]);
});

test('a lease that had ended meanwhile cuts them off at once', (t) => {
  const { access: own, said } = access(t);
  own.renewed(performance.now(), false);
  own.open(60_000);
  assert.equal(own.isOpen, true, 'the first lease of a server is a new one');
  own.renewed(performance.now(), false);
  assert.deepEqual([own.isOpen, said], [false, ['disconnect', 'false lab']]);
});
