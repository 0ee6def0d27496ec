import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DelayQueue, type HoldingDirection } from '../../src/fabric/plane/delay-queue.ts';

function direction(): HoldingDirection {
  return { heldFrames: 0, heldBytes: 0, arrive: () => {} };
}

test('frames leave by their time, and as they came when that is the same', () => {
  const queue = new DelayQueue();
  const cable = direction();
  const dues = Array.from({ length: 500 }, (_, index) => (index * 7919) % 50);
  for (const [index, due] of dues.entries()) queue.push({ due, bytes: Buffer.from([index & 255]), direction: cable });
  const left: [number, number][] = [];
  for (let frame = queue.shift(100); frame !== undefined; frame = queue.shift(100))
    left.push([frame.due, frame.bytes[0]!]);
  const expected = dues
    .map((due, index): [number, number] => [due, index & 255])
    .map((pair, index) => ({ pair, index }))
    .sort((one, other) => one.pair[0] - other.pair[0] || one.index - other.index)
    .map(({ pair }) => pair);
  assert.deepEqual(left, expected);
  assert.deepEqual([cable.heldFrames, cable.heldBytes, queue.nextDue], [0, 0, undefined]);
});

test('a frame is not given out before its time', () => {
  const queue = new DelayQueue();
  queue.push({ due: 10, bytes: Buffer.from('x'), direction: direction() });
  assert.equal(queue.shift(9.9), undefined);
  assert.equal(queue.nextDue, 10);
  assert.equal(queue.shift(10)?.bytes.toString(), 'x');
});

test('a direction has room for 8,192 frames, and full directions leave room for the others', () => {
  const queue = new DelayQueue();
  const [full, other] = [direction(), direction()];
  for (let count = 0; count < 8192; count++) {
    assert.equal(queue.hasRoom(full, 64), true);
    queue.push({ due: count, bytes: Buffer.alloc(64), direction: full });
  }
  assert.equal(queue.hasRoom(full, 64), false);
  assert.equal(queue.hasRoom(other, 64), true);
  queue.shift(0);
  assert.equal(queue.hasRoom(full, 64), true);
});
