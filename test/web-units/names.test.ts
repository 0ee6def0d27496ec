// Names of nodes on the map: on which side of the symbol they are, and which are shown when it is zoomed out.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { arrange } from '../../src/layout/arrange.ts';
import { isCrossed } from '../../src/layout/count-faults.ts';
import { centreOf } from '../../src/layout/rectangles.ts';
import { overlap } from '../../src/web/model/lab/geometry.ts';
import { isUnplaced, nameAt, type Side } from '../../src/web/model/lab/label-place.ts';
import {
  choosingSides,
  type LinkLine,
  type NameBox,
  type NamedNode,
  namesWithRoom,
} from '../../src/web/topology/names.ts';
import { LABS } from '../layout/labs.ts';

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

const named = (id: string, x: number, y: number, rank = 1): NamedNode => ({
  ...{ id, rank, symbol: { x, y, width: 60, height: 60 } },
  ...{ size: { width: 50, height: 18 }, placed: undefined },
});
const link = (one: NamedNode, other: NamedNode) => ({
  ends: [one.id, other.id] as const,
  from: centreOf(one.symbol),
  to: centreOf(other.symbol),
});

/** Without its pauses. */
function sidesOf(nodes: readonly NamedNode[], links: readonly LinkLine[]): Map<string, Side> {
  const choosing = choosingSides(nodes, links);
  for (;;) {
    const { done, value } = choosing.next();
    if (done) return value;
  }
}

test('a name is below its symbol, unless a link, a symbol or another name is there', () => {
  const alone = named('Alone', 0, 0);
  assert.deepEqual([...sidesOf([alone], [])], [['Alone', 'below']]);
  const [root, child] = [named('Root', 0, 0, 2), named('Child', 0, 200)];
  assert.deepEqual(Object.fromEntries(sidesOf([root, child], [link(root, child)])), { Root: 'above', Child: 'below' });
  const middle = named('Middle', 0, 100, 2);
  const chain = [link(root, middle), link(middle, child)];
  assert.equal(sidesOf([root, middle, child], chain).get('Middle'), 'right');
  // The link of two others passes below.
  const [west, east] = [named('West', -300, 45), named('East', 300, 45)];
  assert.equal(sidesOf([alone, west, east], [link(west, east)]).get('Alone'), 'above');
  const placed = { ...named('Placed', 200, 0), placed: { x: 0, y: 66, width: 60, height: 18 } };
  const sides = sidesOf([alone, placed], []);
  assert.deepEqual([sides.get('Alone'), sides.has('Placed')], ['above', false]);
});

test('a node far away and a huge symbol cost no more than others, and still count', () => {
  const [near, alone] = [named('Near', 0, 0), named('Alone', 0, 500)];
  for (const far of [1e7, 1e12, 2 ** 53 - 100]) {
    const [away, crossed] = [named('Far', far, far), named('Crossed', 300, 230)];
    const sides = sidesOf([near, alone, away, crossed], [link(near, away)]);
    assert.deepEqual([sides.get('Alone'), sides.get('Crossed')], ['below', 'above'], String(far));
  }
  for (const width of [30_000, 2 ** 32]) {
    const symbol = { x: 40, y: 60, width, height: width };
    assert.equal(sidesOf([near, { ...named('Huge', 40, 60), symbol }], []).get('Near'), 'above', String(width));
    assert.deepEqual([...namesWithRoom([{ ...node('Huge', 1, 40, 60), symbol }, node('In', 9, 200, 200)])], ['Huge']);
  }
  const many = Array.from({ length: 200 }, (_, at) => named(`N${at}`, (at % 25) * 1e11, Math.floor(at / 25) * 1e11));
  const links = many.flatMap((each, at) => [link(each, many[(at * 7) % 200]!), link(each, many[(at * 11) % 200]!)]);
  assert.equal(sidesOf(many, links).size, 200);
});

test('names that the server or a client has left in the middle above are placed by the page', () => {
  for (const y of [-40, -39, null, undefined]) assert.ok(isUnplaced({ text: 'A', x: null, y }, 59), String(y));
  assert.ok(!isUnplaced({ text: 'A', x: 3, y: -40 }, 59));
  assert.ok(!isUnplaced({ text: 'A', x: null, y: -10 }, 59));
  assert.ok(!isUnplaced({ text: 'A', x: null, y: -40, rotation: 30 }, 59));
});

test('in 30 labs names cover no symbol and no other name, and fewer links than names above all symbols', () => {
  let [now, above, covered] = [0, 0, 0];
  for (const [lab, links] of Object.entries(LABS)) {
    const names = [...new Set(links.flat())];
    const places = arrange(
      names.map((key) => ({ key, width: 90, height: 80 })),
      links,
    );
    const rank = (id: string): number => links.filter((ends) => ends.includes(id)).length;
    const nodes = names.map((id) => named(id, places.get(id)!.x - 30, places.get(id)!.y - 30, rank(id)));
    const byId = new Map(nodes.map((each) => [each.id, each]));
    const lines = links.map(([one, other]) => link(byId.get(one)!, byId.get(other)!));
    const sides = sidesOf(nodes, lines);
    const boxes = nodes.map(({ id, symbol, size }) => ({ id, box: nameAt(sides.get(id)!, symbol, size) }));
    const crossed = (box: (typeof boxes)[number]['box']): number =>
      lines.filter(({ from, to }) => isCrossed(from, to, box)).length;
    now += boxes.reduce((sum, { box }) => sum + crossed(box), 0);
    above += nodes.reduce((sum, { symbol, size }) => sum + crossed(nameAt('above', symbol, size)), 0);
    for (const [at, { id, box }] of boxes.entries()) {
      const others = [
        ...nodes.filter((each) => each.id !== id).map(({ symbol }) => symbol),
        ...boxes.slice(at + 1).map((each) => each.box),
      ];
      if (others.some((other) => overlap(other, box))) covered += 1;
    }
    assert.ok(sides.size === nodes.length, lab);
  }
  assert.equal(covered, 0);
  assert.ok(now < above / 3, `${now} links below names, ${above} if all were above`);
});
