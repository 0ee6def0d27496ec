import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DelayQueue, type HoldingDirection } from '../../src/fabric/plane/delay-queue.ts';
import { SLOT_BYTES } from '../../src/host/system-calls.ts';

interface Arrival {
  content: Buffer;
  since: number;
  number: number;
}

/** A direction that keeps what arrives, and what places it. */
function recorder(): { direction: HoldingDirection; place: Parameters<DelayQueue['release']>[1]; arrived: Arrival[] } {
  const arrived: Arrival[] = [];
  let placed = Buffer.alloc(0);
  return {
    arrived,
    place: (bytes, offset, length) => {
      placed = Buffer.from(bytes.subarray(offset, offset + length));
      return 7;
    },
    direction: {
      heldFrames: 0,
      heldBytes: 0,
      lastHeld: 0,
      arrive: (slot, _length, since, number) => {
        assert.equal(slot, 7);
        arrived.push({ content: placed, since, number });
      },
    },
  };
}

test('frames leave by their time, and as they came when that is the same, with their content', () => {
  const queue = new DelayQueue();
  const { direction, place, arrived } = recorder();
  const dues = Array.from({ length: 3000 }, (_, index) => (index * 7919) % 50);
  for (const [index, due] of dues.entries()) {
    // Of many lengths, so that they lie in cells of all sizes.
    const frame = Buffer.alloc(1 + ((index * 37) % 9000), index & 255);
    assert.equal(queue.push(direction, frame, frame.length, due, index / 2, index), true);
  }
  while (queue.release(100, place));
  const expected = dues.map((due, index) => ({ due, index })).sort((one, other) => one.due - other.due);
  assert.deepEqual(
    arrived.map(({ number }) => number),
    expected.map(({ index }) => index),
  );
  for (const { content, number, since } of arrived) {
    assert.ok(content.equals(Buffer.alloc(1 + ((number * 37) % 9000), number & 255)), `frame ${number}`);
    assert.equal(since, number / 2);
  }
  assert.deepEqual([direction.heldFrames, direction.heldBytes, queue.nextDue], [0, 0, undefined]);
});

test('a frame is not given out before its time', () => {
  const queue = new DelayQueue();
  const { direction, place, arrived } = recorder();
  queue.push(direction, Buffer.from('x'), 1, 10, 0, 0);
  assert.equal(queue.release(9.9, place), false);
  assert.equal(queue.nextDue, 10);
  assert.equal(queue.release(10, place), true);
  assert.equal(String(arrived[0]?.content), 'x');
});

test('the longest frame that can be received is held as all others', () => {
  const queue = new DelayQueue();
  const { direction, place, arrived } = recorder();
  const frame = Buffer.alloc(SLOT_BYTES, 'labwire');
  assert.equal(queue.push(direction, frame, frame.length, 0, 0, 0), true);
  assert.equal(queue.release(0, place), true);
  assert.ok(arrived[0]?.content.equals(frame));
});

test('an altered frame is altered in the copy alone', () => {
  const queue = new DelayQueue();
  const { direction, place, arrived } = recorder();
  const frame = Buffer.from('abc');
  queue.push(direction, frame, 3, 0, 0, 0, (bytes, offset) => bytes.write('XY', offset));
  queue.release(0, place);
  assert.deepEqual([String(arrived[0]?.content), String(frame)], ['XYc', 'abc']);
});

test('a direction has room for a gigabit a second over 100 ms, and a full one leaves room for the others', () => {
  const queue = new DelayQueue();
  const [full, other] = [recorder(), recorder()];
  const frame = Buffer.alloc(1000);
  let taken = 0;
  while (queue.push(full.direction, frame, 1000, taken, 0, 0)) taken++;
  assert.ok(taken >= 12_500, `${taken} frames`);
  assert.equal(queue.push(other.direction, frame, 1000, 0, 0, 0), true);
  queue.release(0, full.place);
  assert.equal(queue.push(full.direction, frame, 1000, 0, 0, 0), true);
});

test('memory is bounded whatever is held, and is there again for frames of another length', () => {
  const queue = new DelayQueue();
  const most = 128 << 20;
  const all: ReturnType<typeof recorder>[] = [];
  for (const length of [65, 130, 600, 5000, 65_535]) {
    let taken = 0;
    for (let count = 0; count < 8; count++) {
      const cable = recorder();
      all.push(cable);
      while (queue.push(cable.direction, Buffer.alloc(length), length, 1, 0, 0)) taken++;
    }
    assert.ok(taken * length > 16 << 20, `${taken} frames of ${length} bytes`);
    assert.ok(queue.memory <= most, `${queue.memory} bytes`);
    while (queue.release(1, () => 7)) all.length = 0;
  }
  assert.ok(queue.memory <= 20 << 20, `${queue.memory} bytes are kept`);
});
