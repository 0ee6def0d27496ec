// How well labs can be read that are laid out by their links alone.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { arrange, type Link } from '../../src/layout/arrange.ts';
import { crossings, linksThroughNodes } from '../../src/layout/faults.ts';

const count = (length: number): number[] => Array.from({ length }, (_, index) => index);
const star = (length: number): Link[] => count(length).map((leaf): Link => ['SW', `PC${leaf}`]);
const ring = (length: number): Link[] => count(length).map((at): Link => [`R${at}`, `R${(at + 1) % length}`]);
const below = (nodes: readonly string[], leaves: number): Link[] =>
  nodes.flatMap((node) => count(leaves).map((leaf): Link => [node, `${node}-${leaf}`]));
const between = (some: readonly string[], others: readonly string[]): Link[] =>
  some.flatMap((one) => others.map((other): Link => [one, other]));
const LEAVES = ['leaf1', 'leaf2', 'leaf3', 'leaf4'];
const fabric = [...between(['spine1', 'spine2'], LEAVES), ...below(LEAVES, 2)];

/** With the most crossings, and of links through nodes or names, that a lab may have; rows by depth have those behind. */
const LABS: Record<string, { links: Link[]; cross: number; through: number; rows: [cross: number, through: number] }> =
  {
    'a star of 10': { links: star(10), cross: 0, through: 0, rows: [0, 6] },
    'a star of 40': { links: star(40), cross: 0, through: 0, rows: [0, 82] },
    'a tree of 25': { links: [...between(['R'], LEAVES), ...below(LEAVES, 5)], cross: 0, through: 0, rows: [10, 18] },
    'a tree of 200': {
      links: count(199).map((at): Link => [`N${Math.floor(at / 3)}`, `N${at + 1}`]),
      ...{ cross: 0, through: 0, rows: [2849, 1027] },
    },
    'two switches': { links: [['SW1', 'SW2'], ...below(['SW1', 'SW2'], 4)], cross: 0, through: 0, rows: [0, 6] },
    'a ring': { links: ring(8), cross: 0, through: 0, rows: [0, 0] },
    'a ring of routers with PCs': {
      links: [...ring(6), ...below(['R0', 'R1', 'R2', 'R3', 'R4', 'R5'], 1)],
      ...{ cross: 0, through: 0, rows: [1, 0] },
    },
    'the OSPF triangle of the examples': {
      links: [...ring(3), ...below(['R0', 'R1', 'R2'], 1)],
      cross: 0,
      through: 0,
      rows: [0, 0],
    },
    // Two spines with four leaves below them: no drawing in layers has fewer.
    'a fabric of spines and leaves': { links: fabric, cross: 6, through: 0, rows: [12, 10] },
    'a fabric of pairs of leaves': {
      links: [...fabric, ['spine1', 'spine2'], ['leaf1', 'leaf2'], ['leaf3', 'leaf4']],
      ...{ cross: 6, through: 0, rows: [0, 10] },
    },
    'five routers, each linked to each': {
      links: count(5).flatMap((one) => count(one).map((other): Link => [`R${one}`, `R${other}`])),
      ...{ cross: 5, through: 0, rows: [0, 4] },
    },
  };

for (const [what, { links, cross, through }] of Object.entries(LABS)) {
  test(`${what} is laid out with its links beside nodes and names`, () => {
    const boxes = [...new Set(links.flat())].map((key) => ({ key, width: 90, height: 80 }));
    const places = arrange(boxes, links);
    const nodes = boxes.map((box) => ({ ...box, ...places.get(box.key)! }));
    assert.ok(linksThroughNodes({ nodes, links }) <= through, `${linksThroughNodes({ nodes, links })} through nodes`);
    assert.ok(crossings({ nodes, links }) <= cross, `${crossings({ nodes, links })} crossings`);
    for (const [index, one] of nodes.entries()) {
      for (const other of nodes.slice(index + 1)) {
        const isApart = Math.abs(one.x - other.x) >= 90 || Math.abs(one.y - other.y) >= 80;
        assert.ok(isApart, `${one.key} covers ${other.key}`);
      }
    }
    assert.deepEqual(arrange(boxes, links), places, 'the same lab looks the same');
  });
}

test('nodes without links and parts of a lab stand apart, and links to nowhere are ignored', () => {
  const links: Link[] = [
    ['A', 'B'],
    ['C', 'D'],
    ['A', 'nowhere'],
    ['A', 'A'],
  ];
  const boxes = [...'ABCD', ...count(30).map((at) => `alone${at}`)].map((key) => ({ key, width: 90, height: 80 }));
  const places = arrange(boxes, links);
  assert.equal(places.size, boxes.length);
  assert.equal(new Set([...places.values()].map(({ x, y }) => `${x} ${y}`)).size, boxes.length);
  assert.deepEqual(arrange([], []), new Map());
});
