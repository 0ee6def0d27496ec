// The line that shows how far a transfer is.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { progressLine } from '../../src/client/terminal/progress.ts';
import { textWidth } from '../../src/host/terminal/text-width.ts';

const MIB = 2 ** 20;

test('a transfer is shown as far as the width has room', () => {
  const transfer = { done: 60 * MIB, before: 20 * MIB, total: 100 * MIB, elapsed: 4_000 };
  assert.equal(
    progressLine(transfer, 80),
    ' 60 %  ================>----------  60.0 MiB of 100.0 MiB  10.0 MiB/s  0:04 left',
  );
  assert.equal(progressLine(transfer, 40), ' 60 %  60.0 MiB of 100.0 MiB  10.0 MiB/…');
  assert.equal(progressLine({ ...transfer, total: undefined }, 40), '60.0 MiB  10.0 MiB/s');
  assert.match(progressLine({ done: 0, before: 0, total: 0, elapsed: 0 }, 80), /^100 % /);
  assert.match(progressLine({ done: 1, before: 0, total: 7_200, elapsed: 1_000 }, 80), / 1:59:59 left$/);
  const bytes = fc.nat(2 ** 31);
  fc.assert(
    fc.property(
      bytes,
      bytes,
      bytes,
      fc.nat(1e6),
      fc.integer({ min: 1, max: 120 }),
      (done, before, total, elapsed, width) => {
        const line = progressLine({ done: Math.max(done, before), before, total, elapsed }, width);
        return textWidth(line) <= width;
      },
    ),
  );
});
