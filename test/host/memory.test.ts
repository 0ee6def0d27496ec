// What an idle daemon costs its host.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { getHeapStatistics } from 'node:v8';
import { releaseMemory } from '../../src/host/memory.ts';

test('memory that only the start needed goes back to the host', () => {
  let needed: unknown[] | undefined = Array.from({ length: 300_000 }, (_, number) => ({ number }));
  assert.equal(needed.length, 300_000);
  const before = getHeapStatistics().total_physical_size;
  needed = undefined;
  releaseMemory();
  const released = before - getHeapStatistics().total_physical_size;
  assert.ok(released > 5_000_000, `${released} bytes were released`);
  assert.equal(globalThis.gc, undefined);
});
