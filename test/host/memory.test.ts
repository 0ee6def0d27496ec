// What an idle daemon costs its host.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { getHeapStatistics } from 'node:v8';
import { releaseMemory } from '../../src/host/processes/memory.ts';

test('memory that only the start needed goes back to the host, what was compiled for it, too', () => {
  const functions = Array.from({ length: 1_200 }, (_, number) => {
    const lines = Array.from({ length: 200 }, (_, line) => `n = n * ${line + 2} + ${number} - (n >> ${line % 31});`);
    return new Function('n', `${lines.join('')} return n;`) as (n: number) => number;
  });
  const results = functions.map((one) => one(1));
  let needed: unknown[] | undefined = Array.from({ length: 300_000 }, (_, number) => ({ number }));
  assert.equal(needed.length, 300_000);
  const before = getHeapStatistics();
  needed = undefined;
  releaseMemory();
  const released = before.total_physical_size - getHeapStatistics().total_physical_size;
  assert.ok(released > 5_000_000, `${released} bytes were released`);
  // The objects above are 16 MB.
  const own = before.used_heap_size - getHeapStatistics().used_heap_size;
  assert.ok(own > 21_000_000, `${own} bytes are not needed any more`);
  assert.deepEqual(
    functions.map((one) => one(1)),
    results,
  );
  assert.equal(globalThis.gc, undefined);
});
