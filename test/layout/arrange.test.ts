// How well labs can be read that are laid out by their links alone.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Alignment, align } from '../../src/layout/align.ts';
import { arrange, type Box, type Link } from '../../src/layout/arrange.ts';
import { arrangeNodes } from '../../src/layout/arrange-nodes.ts';
import { crossings, linksThroughNodes } from '../../src/layout/count-faults.ts';
import { around } from '../../src/layout/rectangles.ts';
import { STYLES, type Style } from '../../src/layout/style.ts';
import { count, LABS } from './labs.ts';

type Faults = readonly [crossings: number, linksThroughNodes: number];

/** The most faults that a lab may have; labs that are not here have none. */
const MOST: Readonly<Record<string, Faults>> = {
  'a campus of three floors': [6, 0],
  'a ring of 8 with stars': [1, 0],
  // No drawing in layers has fewer.
  'a fabric of 2 and 4': [5, 0],
  'a fabric of 4 and 8': [121, 2],
  'a fabric of 2 and 4 in pairs': [6, 0],
  'a fat tree of 4 pods': [40, 0],
  'a mesh of 5': [5, 0],
  'a mesh of 8': [56, 5],
  'a grid of 3 by 4': [5, 0],
  'a network of 20 routers': [1, 0],
  'a network of 50 routers': [13, 5],
  'the example class': [0, 1],
};
/** All labs in rows by the distance from the node with the most links, and in dagre's layers alone. */
const ROWS: Faults = [3539, 1679];
const DAGRE: Faults = [365, 295];
/** The best of dagre's layers and circles, without force. */
const WITHOUT_FORCE: Faults = [322, 19];

const boxesOf = (links: readonly Link[]): Box[] =>
  [...new Set(links.flat())].map((key) => ({ key, width: 90, height: 80 }));

function drawn(links: readonly Link[], style?: Style) {
  const boxes = boxesOf(links);
  const places = arrange(boxes, links, style);
  return { nodes: boxes.map((box) => ({ ...box, ...places.get(box.key)! })), links };
}

function assertApart({ nodes }: ReturnType<typeof drawn>): void {
  for (const [index, one] of nodes.entries()) {
    for (const other of nodes.slice(index + 1)) {
      const isApart = Math.abs(one.x - other.x) >= 90 || Math.abs(one.y - other.y) >= 80;
      assert.ok(isApart, `${one.key} covers ${other.key}`);
    }
  }
}

test('30 labs are laid out with their links beside nodes and names', () => {
  const total: [number, number] = [0, 0];
  assert.equal(Object.keys(LABS).length, 30);
  for (const [name, links] of Object.entries(LABS)) {
    const drawing = drawn(links);
    assertApart(drawing);
    const [cross, through] = [crossings(drawing), linksThroughNodes(drawing)];
    const [mostCross, mostThrough] = MOST[name] ?? [0, 0];
    assert.ok(through <= mostThrough, `${name}: ${through} links through nodes`);
    assert.ok(cross <= mostCross, `${name}: ${cross} crossings`);
    total[0] += cross;
    total[1] += through;
  }
  const { width, height } = around(drawn(LABS['a tree of 200, three each']!).nodes)!;
  assert.ok(width < 3 * height, `a large tree fits a window: ${width} x ${height}`);
  for (const [cross, through] of [ROWS, DAGRE]) assert.ok(total[0] < cross && total[1] < through / 10, `${total}`);
  assert.ok(total[0] < WITHOUT_FORCE[0] && total[1] < WITHOUT_FORCE[1], `${total}`);
});

for (const style of STYLES) {
  test(`no node covers another one in the style ${style}, and the same lab looks the same`, () => {
    for (const name of ['a star of 40', 'a campus of three floors', 'a mesh of 8', 'a network of 20 routers']) {
      const drawing = drawn(LABS[name]!, style);
      assertApart(drawing);
      assert.deepEqual(drawn(LABS[name]!, style), drawing);
    }
  });
}

test('a tree has each node above its children, and between them', () => {
  const { nodes, links } = drawn(LABS['a tree of 15, two each']!, 'tree');
  const at = new Map(nodes.map((node) => [node.key, node]));
  for (const parent of nodes) {
    const children = links.filter(([above]) => above === parent.key).map(([, below]) => at.get(below)!);
    if (children.length === 0) continue;
    for (const child of children) assert.ok(child.y > parent.y);
    const middle = children.reduce((sum, { x }) => sum + x, 0) / children.length;
    assert.ok(Math.abs(middle - parent.x) <= 1);
  }
});

test('links of a tree of 1,000 nodes stay beside other nodes', () => {
  const drawing = drawn(count(999).map((at): Link => [`n${Math.floor(at / 3)}`, `n${at + 1}`]));
  assertApart(drawing);
  assert.deepEqual([crossings(drawing), linksThroughNodes(drawing)], [0, 0]);
});

test('a circle has all nodes equally far from the middle, neighbours side by side', () => {
  const { nodes } = drawn(LABS['a ring of 20']!, 'circle');
  const far = nodes.map(({ x, y }) => Math.hypot(x, y));
  assert.ok(Math.max(...far) - Math.min(...far) < 2);
  for (const [index, { x, y }] of nodes.entries()) {
    const next = nodes[(index + 1) % nodes.length]!;
    assert.ok(Math.hypot(x - next.x, y - next.y) < 150);
  }
});

test('nodes without links and parts of a lab stand apart, and links to nowhere are ignored', () => {
  const links: Link[] = [
    ['A', 'B'],
    ['C', 'D'],
    ['A', 'nowhere'],
    ['A', 'A'],
  ];
  const boxes = [...'ABCD', ...count(30).map((at) => `alone${at}`)].map((key) => ({ key, width: 90, height: 80 }));
  for (const style of STYLES) {
    const places = arrange(boxes, links, style);
    assert.equal(places.size, boxes.length);
    assert.equal(new Set([...places.values()].map(({ x, y }) => `${x} ${y}`)).size, boxes.length);
    assert.deepEqual(arrange([], [], style), new Map());
  }
});

test('nodes are aligned at an edge or in the middle, and spaced evenly between the outermost ones', () => {
  const nodes = [
    { key: 'A', x: 0, y: 10, width: 60, height: 40 },
    { key: 'B', x: 300, y: -5, width: 40, height: 20 },
    { key: 'C', x: 90, y: 50, width: 20, height: 30 },
  ];
  const xs = (alignment: Alignment): (number | undefined)[] =>
    ['A', 'B', 'C'].map((key) => align(nodes, alignment).get(key)?.x);
  const ys = (alignment: Alignment): (number | undefined)[] =>
    ['A', 'B', 'C'].map((key) => align(nodes, alignment).get(key)?.y);
  assert.deepEqual(xs('left'), [0, 0, 0]);
  assert.deepEqual(xs('right'), [280, 300, 320]);
  assert.deepEqual(xs('centre'), [140, 150, 160]);
  assert.deepEqual(ys('left'), [10, -5, 50], 'the other axis stays');
  assert.deepEqual(ys('top'), [-5, -5, -5]);
  assert.deepEqual(ys('bottom'), [40, 60, 50]);
  assert.deepEqual(ys('middle'), [18, 28, 23]);
  // 340 pixels, of which nodes take 120: two gaps of 110.
  assert.deepEqual(xs('across'), [0, 300, 170]);
  assert.deepEqual(ys('down'), [13, -5, 50]);
  assert.deepEqual(align([], 'across'), new Map());
});

test('nodes on a map are placed again around where they were, by their symbols and names', () => {
  const nodes = ['A long name of a router', 'B', 'C', 'D'].map((name, at) => ({
    ...{ key: name[0]!, name, x: 1000 + at, y: -500, width: 66, height: 60 },
  }));
  const links: Link[] = ['B', 'C', 'D'].map((leaf): Link => ['A', leaf]);
  const places = arrangeNodes(nodes, links, 'layered');
  const [xs, ys] = [[...places.values()].map(({ x }) => x), [...places.values()].map(({ y }) => y)];
  const middle = (values: number[], size: number): number => (Math.min(...values) + Math.max(...values) + size) / 2;
  assert.ok(Math.abs(middle(xs, 66) - 1034.5) <= 1 && Math.abs(middle(ys, 60) + 470) <= 1);
  assert.ok(places.get('B')!.y - places.get('A')!.y >= 140);
  assert.deepEqual(arrangeNodes([], [], 'auto'), new Map());
});
