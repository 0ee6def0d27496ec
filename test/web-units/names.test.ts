// Names of nodes on a map that is zoomed out.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { overlap } from '../../src/web/model/lab/geometry.ts';
import { type NameBox, namesWithRoom } from '../../src/web/topology/names.ts';

const node = (id: string, rank: number, x: number, y: number): NameBox => ({
  id,
  rank,
  symbol: { x, y, width: 60, height: 60 },
  name: { x: x - 40, y: y - 30, width: 140, height: 26 },
});

test('names of the nodes with the most links are shown first, and none covers another or a symbol', () => {
  assert.deepEqual(namesWithRoom([]), new Set());
  const row = [node('PC1', 1, 0, 0), node('Core', 9, 100, 0), node('PC2', 1, 200, 0), node('PC3', 1, 300, 0)];
  assert.deepEqual([...namesWithRoom(row)].sort(), ['Core', 'PC3']);
  const below = [node('Above', 1, 0, 0), node('Below', 5, 0, 70)];
  assert.deepEqual([...namesWithRoom(below)], ['Above'], 'the symbol above has the place of the name');

  const many = Array.from({ length: 2_000 }, (_, at) =>
    node(`N${at}`, at % 7, (at % 50) * 90, Math.floor(at / 50) * 90),
  );
  const shown = namesWithRoom(many);
  assert.ok(shown.size > 400, String(shown.size));
  const names = many.filter(({ id }) => shown.has(id));
  for (const [at, one] of names.entries())
    for (const other of names.slice(at + 1)) assert.ok(!overlap(one.name, other.name), `${one.id} ${other.id}`);
});
