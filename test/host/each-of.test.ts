// Tasks for many items, some at the same time.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { eachOf } from '../../src/host/values/each-of.ts';

test('after the first failure no other item begins', async () => {
  const begun: number[] = [];
  const failing = eachOf([1, 2, 3, 4, 5], 2, async (item) => {
    begun.push(item);
    await setImmediate();
    if (item === 1) throw new Error('one');
    await setImmediate();
  });
  await assert.rejects(failing, /one/);
  for (let turns = 0; turns < 10; turns += 1) await setImmediate();
  assert.deepEqual(begun, [1, 2]);
});
