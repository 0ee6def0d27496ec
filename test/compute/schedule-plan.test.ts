// The steps of a schedule as the fabric goes through them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { planOf } from '../../src/compute/nodes/ports/impairments.ts';

const base = { outgoing: { delay: { ms: 5 } }, incoming: {} };

test('a step changes what holds for as long as it lasts', () => {
  const { changes, period, rounds } = planOf(base, {
    steps: [{ at: 30, for: 5, outgoing: { loss: { percent: 100 } } }],
    period: 60,
    rounds: 3,
  });
  assert.deepEqual(changes, [
    { at: 0, impairments: base },
    { at: 30_000, impairments: { outgoing: { delay: { ms: 5 }, loss: { percent: 100 } }, incoming: {} } },
    { at: 35_000, impairments: base },
  ]);
  assert.deepEqual([period, rounds], [60_000, 3]);
});

test('of steps at the same time the later one wins, member by member', () => {
  const { changes, period } = planOf(base, {
    steps: [
      { at: 2, for: 2, outgoing: { delay: null }, incoming: { delay: { ms: 9 } } },
      { at: 0, for: 6, outgoing: { delay: { ms: 7 }, loss: { percent: 1 } } },
    ],
  });
  assert.deepEqual(
    changes.map(({ at, impairments }) => [at, impairments.outgoing, impairments.incoming]),
    [
      [0, { delay: { ms: 7 }, loss: { percent: 1 } }, {}],
      [2000, { loss: { percent: 1 } }, { delay: { ms: 9 } }],
      [4000, { delay: { ms: 7 }, loss: { percent: 1 } }, {}],
    ],
  );
  assert.equal(period, 6000);
});

test('a step without an end holds until the round is over', () => {
  assert.equal(planOf(base, { steps: [{ at: 1, outgoing: { delay: { ms: 1 } } }] }).period, Infinity);
  const again = planOf(base, { steps: [{ at: 1, outgoing: { delay: { ms: 1 } } }], period: 2, rounds: 0 });
  assert.deepEqual(
    again.changes.map(({ at }) => at),
    [0, 1000],
  );
});

test('times that are invalid are refused by name', () => {
  const steps = [{ at: 1, outgoing: {} }];
  assert.throws(() => planOf(base, { steps, rounds: 2 }), /period: is required/);
  assert.throws(() => planOf(base, { steps, period: 1 }), /steps\.0\.at: must be less than the period/);
});
