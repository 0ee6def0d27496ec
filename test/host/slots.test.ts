// Work of which only so much is done at the same time.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { Slots } from '../../src/host/values/slots.ts';

test('no more than the slots are held, in the order of arrival, whatever fails', async () => {
  const slots = new Slots(3);
  let held = 0;
  let most = 0;
  const order: number[] = [];
  const work = async (number: number): Promise<void> => {
    using _slot = await slots.take();
    order.push(number);
    held += 1;
    most = Math.max(most, held);
    await turn();
    held -= 1;
    if (number % 2 === 0) throw new Error('failed');
  };
  const numbers = Array.from({ length: 300 }, (_none, number) => number);
  const outcomes = await Promise.allSettled(numbers.map(work));
  assert.equal(outcomes.filter(({ status }) => status === 'rejected').length, 150);
  assert.deepEqual([most, held, order], [3, 0, numbers]);
});

test('a slot that is given back twice is free once', async () => {
  const slots = new Slots(1);
  const slot = await slots.take();
  slot[Symbol.dispose]();
  slot[Symbol.dispose]();
  const next = await slots.take();
  let isThird = false;
  const third = slots.take().then(() => {
    isThird = true;
  });
  await turn();
  assert.equal(isThird, false);
  next[Symbol.dispose]();
  await third;
});

test('waiting requests leave the queue when they are cancelled, and take no slot', async () => {
  const slots = new Slots(1);
  const held = await slots.take();
  const leaving = new AbortController();
  const reason = new Error('not wanted any more');
  const gone = assert.rejects(slots.take(leaving.signal), reason);
  const last = slots.take();
  leaving.abort(reason);
  await gone;
  await assert.rejects(slots.take(leaving.signal), reason);
  held[Symbol.dispose]();
  (await last)[Symbol.dispose]();
});
