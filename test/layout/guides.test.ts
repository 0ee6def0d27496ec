// Guides of a drag: what comes in line with what, and how far it jumps.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { guide } from '../../src/layout/guides.ts';

const box = (x: number, y: number, width = 60, height = 60) => ({ x, y, width, height });

test('middles and edges come in line within reach, both ways at once, and nothing beyond', () => {
  const others = [box(0, 0), box(300, 200, 100, 40)];
  assert.deepEqual(guide(box(4, 300), others, 5), {
    way: { x: -4, y: 0 },
    guides: [
      [
        { x: 30, y: 0 },
        { x: 30, y: 360 },
      ],
    ],
  });
  assert.deepEqual(guide(box(6, 300), others, 5), { way: { x: 0, y: 0 }, guides: [] });
  // The middle of the wide box is at 350 and 220.
  const both = guide(box(318, 188), others, 5);
  assert.deepEqual(both.way, { x: 2, y: 2 });
  assert.deepEqual(both.guides, [
    [
      { x: 350, y: 190 },
      { x: 350, y: 250 },
    ],
    [
      { x: 300, y: 220 },
      { x: 400, y: 220 },
    ],
  ]);
  // Its left edge, where no middle is near.
  assert.deepEqual(guide(box(297, 500), others, 5).way, { x: 3, y: 0 });
});

test('the nearest line wins, and reaches to all that are in line with it', () => {
  const others = [box(0, 0), box(3, 100), box(0, 200)];
  const { way, guides } = guide(box(1, 400), others, 5);
  assert.equal(way.x, -1);
  assert.deepEqual(guides, [
    [
      { x: 30, y: 0 },
      { x: 30, y: 460 },
    ],
  ]);
});
