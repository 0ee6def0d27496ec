// Places for nodes that have none: each part of the lab as rows, the node with the most links on top.
import { nodeKey, type WantedLab } from './model.ts';

export interface Point {
  x: number;
  y: number;
}

const COLUMN = 130;
const ROW = 120;
/** More nodes than these go to a row below. */
const WIDEST_ROW = 12;
/** Between parts that no link joins. */
const GAP = 60;

/**
 * Places for these nodes of the lab. What stands already is left room.
 * @param wanted names of nodes
 * @param taken places that are
 */
export function layOut(lab: WantedLab, wanted: readonly string[], taken: readonly Point[]): Map<string, Point> {
  const neighbours = new Map<string, Set<string>>(wanted.map((name) => [nodeKey(name), new Set()]));
  for (const { ends } of lab.links) {
    const [one, other] = ends.map(({ node }) => nodeKey(node)) as [string, string];
    if (!neighbours.has(one) || !neighbours.has(other)) continue;
    neighbours.get(one)!.add(other);
    neighbours.get(other)!.add(one);
  }
  const degree = (key: string): number => neighbours.get(key)!.size;
  const left = new Set([...neighbours.keys()].toSorted((one, other) => degree(other) - degree(one)));
  const places = new Map<string, Point>();
  const top = taken.length === 0 ? 0 : Math.max(...taken.map(({ y }) => y)) + ROW;
  let right = 0;
  const alone = [...left].filter((key) => degree(key) === 0);
  while (left.size > alone.length) {
    const root = [...left].find((key) => degree(key) > 0)!;
    right = placeRows(rowsFrom(root, neighbours, left), { x: right, y: top }, places) + GAP;
  }
  const rows = Array.from({ length: Math.ceil(alone.length / WIDEST_ROW) }, (_, row) =>
    alone.slice(row * WIDEST_ROW, (row + 1) * WIDEST_ROW),
  );
  placeRows(rows, { x: right, y: top }, places);
  return centred(places, taken.length > 0);
}

/** Nodes by how far they are from the first; none is wider than a row may be. */
function rowsFrom(root: string, neighbours: ReadonlyMap<string, Set<string>>, left: Set<string>): string[][] {
  const rows: string[][] = [];
  left.delete(root);
  for (let row = [root]; row.length > 0; ) {
    for (let at = 0; at < row.length; at += WIDEST_ROW) rows.push(row.slice(at, at + WIDEST_ROW));
    const next: string[] = [];
    for (const key of row) for (const one of neighbours.get(key)!) if (left.delete(one)) next.push(one);
    row = next;
  }
  return rows;
}

/** Places rows in the middle of each other; answers where the room to their right begins. */
function placeRows(rows: readonly (readonly string[])[], { x, y }: Point, places: Map<string, Point>): number {
  const widest = Math.max(0, ...rows.map((row) => row.length)) * COLUMN;
  for (const [index, row] of rows.entries()) {
    const start = x + Math.round((widest - row.length * COLUMN) / 2);
    for (const [column, key] of row.entries()) places.set(key, { x: start + column * COLUMN, y: y + index * ROW });
  }
  return x + widest;
}

/** The whole in the middle of the map, unless something is there. */
function centred(places: Map<string, Point>, isBelow: boolean): Map<string, Point> {
  if (places.size === 0) return places;
  const xs = [...places.values()].map(({ x }) => x);
  const ys = [...places.values()].map(({ y }) => y);
  const middle = (values: number[]): number => Math.round((Math.min(...values) + Math.max(...values)) / 2);
  const [dx, dy] = [middle(xs), isBelow ? 0 : middle(ys)];
  return new Map([...places].map(([key, { x, y }]) => [key, { x: x - dx, y: y - dy }]));
}
