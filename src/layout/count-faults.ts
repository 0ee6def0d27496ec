// Counts what makes a lab's drawing hard to read, with straight links. Pure.
import type { Point, Rectangle } from './rectangles.ts';

export interface Drawing {
  /** Each with its middle and the room that it takes. */
  nodes: readonly { key: string; x: number; y: number; width: number; height: number }[];
  /** Keys of the nodes at both ends. */
  links: readonly (readonly [string, string])[];
}

/** A link through a node or its name misleads; a crossing only disturbs, so it counts less. */
const THROUGH = 10;

export function faultsOf(drawing: Drawing): number {
  return THROUGH * linksThroughNodes(drawing) + crossings(drawing);
}

/** Number of links running through nodes that are not their ends. */
export function linksThroughNodes({ nodes, links }: Drawing): number {
  const byKey = new Map(nodes.map((node) => [node.key, node]));
  let count = 0;
  for (const [one, other] of links)
    for (const node of nodes)
      if (node.key !== one && node.key !== other && isCrossed(byKey.get(one)!, byKey.get(other)!, roomOf(node)))
        count += 1;
  return count;
}

/** Pairs of links that cross, other than at a node that both end at. */
export function crossings({ nodes, links }: Drawing): number {
  const byKey = new Map(nodes.map((node) => [node.key, node]));
  let count = 0;
  for (const [index, [a, b]] of links.entries()) {
    for (const [c, d] of links.slice(index + 1)) {
      if (a === c || a === d || b === c || b === d) continue;
      if (cross(byKey.get(a)!, byKey.get(b)!, byKey.get(c)!, byKey.get(d)!)) count += 1;
    }
  }
  return count;
}

/** Twice the area of a triangle; its sign says which way round its corners are. */
function area(a: Point, b: Point, c: Point): number {
  return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

function cross(a: Point, b: Point, c: Point, d: Point): boolean {
  return area(a, b, c) * area(a, b, d) < 0 && area(c, d, a) * area(c, d, b) < 0;
}

function roomOf({ x, y, width, height }: Drawing['nodes'][number]): Rectangle {
  return { x: x - width / 2, y: y - height / 2, width, height };
}

/** Whether the line between two points crosses a rectangle: clips it to the sides, axis by axis. */
export function isCrossed(
  from: Readonly<Point>,
  to: Readonly<Point>,
  { x, y, width, height }: Readonly<Rectangle>,
): boolean {
  let [enters, leaves] = [0, 1];
  const axes = [
    [from.x, to.x - from.x, x, x + width],
    [from.y, to.y - from.y, y, y + height],
  ] as const;
  for (const [start, way, least, most] of axes) {
    if (way === 0) {
      if (start <= least || start >= most) return false;
      continue;
    }
    const [one, other] = [(least - start) / way, (most - start) / way];
    enters = Math.max(enters, Math.min(one, other));
    leaves = Math.min(leaves, Math.max(one, other));
  }
  return enters < leaves;
}
