// Positions a lab's nodes by their links. dagre lays out trees and layers; this code ranks the nodes, folds many leaves of one node into a
// block, and chooses the better of several layouts. Pure.
import { Graph, layout } from '@dagrejs/dagre';
import { faultsOf, type Point } from './faults.ts';

/** A node with the size of its symbol and name, in pixels. */
export interface Box {
  key: string;
  width: number;
  height: number;
}

export type Link = readonly [one: string, other: string];

const GAP_X = 40;
const GAP_Y = 60;
/** Leaves of one node per row; more become a block of staggered rows, so that links pass between them. */
const MOST_IN_ROW = 12;
/** Width of a row of unconnected parts. */
const SHELF = 1600;
/** Gaps between ranks: links to the end of a wide row need more, so as not to cross the row. */
const RANK_GAPS = [GAP_Y, 2.5 * GAP_Y, 5 * GAP_Y];
/** Parts with more nodes are not drawn in several ways for comparison. */
const MOST_TO_COMPARE = 120;
const MOST_IN_CIRCLE = 48;

/** Something to place: a node, or a block of leaves. */
interface Unit extends Box {
  /** Where its nodes are from its middle. */
  inner: { key: string; x: number; y: number }[];
}

type Neighbours = ReadonlyMap<string, ReadonlySet<string>>;

/** The middle of each node, by its key. The whole has its middle at 0, 0. Links to unknown nodes are ignored. */
export function arrange(boxes: readonly Box[], links: readonly Link[]): Map<string, Point> {
  const neighbours = neighboursOf(boxes, links);
  const byKey = new Map(boxes.map((box) => [box.key, box]));
  const alone = boxes.filter(({ key }) => neighbours.get(key)!.size === 0);
  const parts = partsOf(neighbours).map((keys) =>
    arrangePart(
      keys.map((key) => byKey.get(key)!),
      neighbours,
    ),
  );
  if (alone.length > 0)
    parts.push(new Map(block(alone, MOST_IN_ROW, false).inner.map(({ key, x, y }) => [key, { x, y }])));
  return shelved(parts, byKey);
}

function neighboursOf(boxes: readonly Box[], links: readonly Link[]): Neighbours {
  const neighbours = new Map(boxes.map(({ key }) => [key, new Set<string>()]));
  for (const [one, other] of links) {
    if (one === other || !neighbours.has(one) || !neighbours.has(other)) continue;
    neighbours.get(one)!.add(other);
    neighbours.get(other)!.add(one);
  }
  return neighbours;
}

/** The keys of each part of more than one node that no link joins to another. */
function partsOf(neighbours: Neighbours): string[][] {
  const left = new Set(neighbours.keys());
  const parts: string[][] = [];
  for (const start of left) {
    const part = [...depthsFrom([start], neighbours).keys()];
    for (const key of part) left.delete(key);
    if (part.length > 1) parts.push(part);
  }
  return parts;
}

function depthsFrom(roots: readonly string[], neighbours: Neighbours): Map<string, number> {
  const depths = new Map(roots.map((key) => [key, 0]));
  // A map is walked in the order in which it grows.
  for (const [key, depth] of depths)
    for (const one of neighbours.get(key)!) if (!depths.has(one)) depths.set(one, depth + 1);
  return depths;
}

function arrangePart(boxes: readonly Box[], neighbours: Neighbours): Map<string, Point> {
  const links = boxes.flatMap(({ key }) =>
    [...neighbours.get(key)!].filter((other) => key < other).map((other): Link => [key, other]),
  );
  const tries = triesOf(boxes, neighbours, links.length);
  let best: { places: Map<string, Point>; faults: number } | undefined;
  for (const draw of boxes.length > MOST_TO_COMPARE ? tries.slice(0, 1) : tries) {
    const places = draw();
    const faults = faultsOf({ nodes: boxes.map((box) => ({ ...box, ...places.get(box.key)! })), links });
    if (best === undefined || faults < best.faults) best = { places, faults };
    if (best.faults === 0) break;
  }
  return inOrder(boxes, best!.places);
}

/** Mirrored if the first node would be on the right. */
function inOrder(boxes: readonly Box[], places: ReadonlyMap<string, Point>): Map<string, Point> {
  const middle = (boxes.length - 1) / 2;
  const lean = boxes.reduce((sum, { key }, index) => sum + (index - middle) * places.get(key)!.x, 0);
  return new Map([...places].map(([key, { x, y }]) => [key, { x: lean < 0 ? -x : x, y }]));
}

/** Layouts to try for a part, most compact first. */
function triesOf(boxes: readonly Box[], neighbours: Neighbours, links: number): (() => Map<string, Point>)[] {
  const isTree = links === boxes.length - 1;
  const layered = RANK_GAPS.flatMap((rankGap) =>
    (isTree ? rootsOf(boxes, neighbours).slice(0, 1) : rootsOf(boxes, neighbours)).flatMap((roots) =>
      (isTree ? [true] : [false, true]).map((isLevel) => () => layers(boxes, neighbours, { roots, isLevel, rankGap })),
    ),
  );
  return boxes.length > MOST_IN_CIRCLE ? layered : [...layered, () => circle(boxes, neighbours)];
}

/** A circle with neighbours side by side where possible; a node linked to all others is in the middle. */
function circle(boxes: readonly Box[], neighbours: Neighbours): Map<string, Point> {
  const hubs = boxes.filter(({ key }) => neighbours.get(key)!.size === boxes.length - 1);
  const middle = hubs.length === 1 ? hubs[0] : undefined;
  const order: string[] = [];
  const visit = (key: string): void => {
    if (order.includes(key)) return;
    order.push(key);
    for (const other of neighbours.get(key)!) if (other !== middle?.key) visit(other);
  };
  for (const { key } of boxes) if (key !== middle?.key) visit(key);
  const step = Math.max(...boxes.map(({ width, height }) => Math.max(width, height))) + GAP_X;
  const radius = Math.max(1.5 * step, (step * order.length) / (2 * Math.PI));
  const places = order.map((key, index): [string, Point] => {
    const angle = (2 * Math.PI * index) / order.length - Math.PI / 2;
    return [key, { x: radius * Math.cos(angle), y: radius * Math.sin(angle) }];
  });
  return new Map(middle === undefined ? places : [[middle.key, { x: 0, y: 0 }], ...places]);
}

/** Candidates for the top: the nodes farthest from the leaves, such as the spines of a fabric, or the node with the most links. */
function rootsOf(boxes: readonly Box[], neighbours: Neighbours): string[][] {
  const degree = (key: string): number => neighbours.get(key)!.size;
  const busiest = boxes.map(({ key }) => key).reduce((best, key) => (degree(key) > degree(best) ? key : best));
  const leaves = boxes.map(({ key }) => key).filter((key) => degree(key) === 1);
  const depths = depthsFrom(leaves, neighbours);
  const deepest = Math.max(...depths.values());
  const cores = [...depths].filter(([, depth]) => depth === deepest).map(([key]) => key);
  return cores.length === 0 ? [[busiest]] : [[busiest], cores];
}

/** @param isLevel leaves nodes beside each other that are equally far from the roots, though a link joins them */
function layers(
  boxes: readonly Box[],
  neighbours: Neighbours,
  { roots, isLevel, rankGap }: { roots: readonly string[]; isLevel: boolean; rankGap: number },
): Map<string, Point> {
  const depths = depthsFrom(roots, neighbours);
  const units = unitsOf(boxes, neighbours, depths);
  const unitOf = new Map(units.flatMap((unit) => unit.inner.map(({ key }) => [key, unit.key] as const)));
  const graph = new Graph();
  graph.setGraph({ rankdir: 'TB', nodesep: GAP_X, ranksep: rankGap, edgesep: GAP_X / 2 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const { key, width, height } of units) graph.setNode(key, { width, height });
  for (const [key, depth] of depths) {
    for (const other of neighbours.get(key)!) {
      const [from, to, below] = [unitOf.get(key)!, unitOf.get(other)!, depths.get(other)!];
      if (from !== to && (below > depth || (below === depth && key < other && !isLevel))) graph.setEdge(from, to);
    }
  }
  layout(graph);
  const places = new Map<string, Point>();
  for (const unit of units) {
    const middle = graph.node(unit.key) as Point;
    for (const { key, x, y } of unit.inner) places.set(key, { x: middle.x + x, y: middle.y + y });
  }
  return places;
}

function unitsOf(boxes: readonly Box[], neighbours: Neighbours, depths: ReadonlyMap<string, number>): Unit[] {
  const byParent = new Map<string, Box[]>();
  for (const box of boxes) {
    const [parent, ...others] = neighbours.get(box.key)!;
    if (parent === undefined || others.length > 0 || depths.get(box.key) === 0) continue;
    byParent.set(parent, [...(byParent.get(parent) ?? []), box]);
  }
  const blocks = [...byParent.values()].filter(({ length }) => length > MOST_IN_ROW);
  const inBlocks = new Set(blocks.flat());
  return [
    ...boxes.filter((box) => !inBlocks.has(box)).map((box) => ({ ...box, inner: [{ key: box.key, x: 0, y: 0 }] })),
    ...blocks.map((leaves) => block(leaves, MOST_IN_ROW, true)),
  ];
}

/** Rows of nodes, each of which may be half a column beside the one above. */
function block(boxes: readonly Box[], columns: number, isStaggered: boolean): Unit {
  const width = Math.max(...boxes.map((box) => box.width)) + GAP_X;
  const height = Math.max(...boxes.map((box) => box.height)) + GAP_Y / 2;
  const rows = Math.ceil(boxes.length / columns);
  const shift = isStaggered && rows > 1 ? width / 4 : 0;
  const inner = boxes.map(({ key }, index) => {
    const [row, column] = [Math.floor(index / columns), index % columns];
    const inRow = Math.min(columns, boxes.length - row * columns);
    const side = row % 2 === 0 ? -shift : shift;
    return { key, x: (column - (inRow - 1) / 2) * width + side, y: (row - (rows - 1) / 2) * height };
  });
  return {
    key: boxes[0]!.key,
    width: Math.min(columns, boxes.length) * width + 2 * shift - GAP_X,
    height: rows * height,
    inner,
  };
}

/** The parts beside each other, as far as the shelf goes, and then below. */
function shelved(parts: readonly ReadonlyMap<string, Point>[], byKey: ReadonlyMap<string, Box>): Map<string, Point> {
  const placed = new Map<string, Point>();
  let [left, top, bottom] = [0, 0, 0];
  for (const part of parts) {
    const edges = edgesOf(part, byKey);
    const width = edges.right - edges.left;
    if (left > 0 && left + width > SHELF) [left, top] = [0, bottom + GAP_Y];
    for (const [key, { x, y }] of part) placed.set(key, { x: x - edges.left + left, y: y - edges.top + top });
    left += width + 2 * GAP_X;
    bottom = Math.max(bottom, top + edges.bottom - edges.top);
  }
  if (placed.size === 0) return placed;
  const all = edgesOf(placed, byKey);
  const middle = { x: (all.left + all.right) / 2, y: (all.top + all.bottom) / 2 };
  return new Map(
    [...placed].map(([key, { x, y }]) => [key, { x: Math.round(x - middle.x), y: Math.round(y - middle.y) }]),
  );
}

function edgesOf(part: ReadonlyMap<string, Point>, byKey: ReadonlyMap<string, Box>) {
  const edges = { left: Infinity, right: -Infinity, top: Infinity, bottom: -Infinity };
  for (const [key, { x, y }] of part) {
    const { width, height } = byKey.get(key)!;
    edges.left = Math.min(edges.left, x - width / 2);
    edges.right = Math.max(edges.right, x + width / 2);
    edges.top = Math.min(edges.top, y - height / 2);
    edges.bottom = Math.max(edges.bottom, y + height / 2);
  }
  return edges;
}
