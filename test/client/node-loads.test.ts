// How busy the programs of nodes are.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NodeLoads } from '../../src/api/node-loads.ts';

test('the load of a program comes from two samples; a restarted program starts from zero', () => {
  const loads = new NodeLoads();
  const look = (cpu_seconds: number, at: number) => {
    loads.take([{ node_id: 'a', cpu_seconds, memory_bytes: 1 }], at);
    return loads.of('a').cpu_usage_percent;
  };
  assert.deepEqual(
    [look(10, 0), look(11.5, 2_000), look(11.5, 3_000), look(0.5, 4_000), look(1, 5_000)],
    [null, 75, 0, null, 50],
  );
  assert.deepEqual(loads.of('b'), { cpu_usage_percent: null, memory_bytes: null });
});
