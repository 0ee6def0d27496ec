// A lab as its layouts see it: nodes with the room that they take, and which are linked. Pure.
import type { Point } from './rectangles.ts';

/** A node with the size of its symbol and name, in pixels. */
export interface Box {
  key: string;
  width: number;
  height: number;
}

export type Link = readonly [one: string, other: string];

export type Neighbours = ReadonlyMap<string, ReadonlySet<string>>;

/** The middle of each node, by its key. */
export type Places = Map<string, Point>;

/** Nodes that links join, directly or through each other. */
export interface Part {
  readonly boxes: readonly Box[];
  readonly neighbours: Neighbours;
  /** Each pair of linked nodes once. */
  readonly links: readonly Link[];
}

export const GAP_X = 40;
export const GAP_Y = 60;
/** Leaves of one node per row; more become a block of staggered rows, so that links pass between them. */
export const MOST_IN_ROW = 12;

/** Something to place: a node, or a block of leaves. */
export interface Unit extends Box {
  /** Where its nodes are from its middle. */
  inner: { key: string; x: number; y: number }[];
}

/** Links to unknown nodes and from a node to itself are ignored. */
export function neighboursOf(boxes: readonly Box[], links: readonly Link[]): Neighbours {
  const neighbours = new Map(boxes.map(({ key }) => [key, new Set<string>()]));
  for (const [one, other] of links) {
    if (one === other || !neighbours.has(one) || !neighbours.has(other)) continue;
    neighbours.get(one)!.add(other);
    neighbours.get(other)!.add(one);
  }
  return neighbours;
}

/** The parts of more than one node. */
export function partsOf(boxes: readonly Box[], neighbours: Neighbours): Part[] {
  const byKey = new Map(boxes.map((box) => [box.key, box]));
  const left = new Set(neighbours.keys());
  const parts: Part[] = [];
  for (const start of left) {
    const keys = [...depthsFrom([start], neighbours).keys()];
    for (const key of keys) left.delete(key);
    if (keys.length === 1) continue;
    const links = keys.flatMap((key) =>
      [...neighbours.get(key)!].filter((other) => key < other).map((other): Link => [key, other]),
    );
    parts.push({ boxes: keys.map((key) => byKey.get(key)!), neighbours, links });
  }
  return parts;
}

/** How many links each node is away from the nearest root; nearest first. */
export function depthsFrom(roots: readonly string[], neighbours: Neighbours): Map<string, number> {
  const depths = new Map(roots.map((key) => [key, 0]));
  // A map is walked in the order in which it grows.
  for (const [key, depth] of depths)
    for (const one of neighbours.get(key)!) if (!depths.has(one)) depths.set(one, depth + 1);
  return depths;
}

export function isTree({ boxes, links }: Part): boolean {
  return links.length === boxes.length - 1;
}

/** Whether it has leaves, such as PCs, so that there is an above and a below. */
export function isHierarchy({ boxes, neighbours }: Part): boolean {
  return boxes.some(({ key }) => neighbours.get(key)!.size === 1);
}

/** Candidates for the top: the node with the most links, and the nodes farthest from the leaves, such as the spines of a fabric. */
export function rootsOf({ boxes, neighbours }: Part): string[][] {
  const degree = (key: string): number => neighbours.get(key)!.size;
  const busiest = boxes.map(({ key }) => key).reduce((best, key) => (degree(key) > degree(best) ? key : best));
  const leaves = boxes.map(({ key }) => key).filter((key) => degree(key) === 1);
  const depths = depthsFrom(leaves, neighbours);
  const deepest = Math.max(...depths.values());
  const cores = [...depths].filter(([, depth]) => depth === deepest).map(([key]) => key);
  return cores.length === 0 ? [[busiest]] : [[busiest], cores];
}

/** The nodes of a part, many leaves of one node as a block. */
export function unitsOf({ boxes, neighbours }: Part, depths: ReadonlyMap<string, number>): Unit[] {
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
export function block(boxes: readonly Box[], columns: number, isStaggered: boolean): Unit {
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

/** The places of nodes, from the middles of their units. */
export function unpacked(units: readonly Unit[], middleOf: (unit: Unit) => Point): Places {
  return new Map(
    units.flatMap((unit) => {
      const middle = middleOf(unit);
      return unit.inner.map(({ key, x, y }): [string, Point] => [key, { x: middle.x + x, y: middle.y + y }]);
    }),
  );
}
