// What makes a drawing of a lab hard to read, with its links as straight lines. Pure.
export interface Point {
  x: number;
  y: number;
}

export interface Drawing {
  /** Each with its middle and the room that it takes. */
  nodes: readonly { key: string; x: number; y: number; width: number; height: number }[];
  /** Keys of the nodes at both ends. */
  links: readonly (readonly [string, string])[];
}

/** A link through a node or its name misleads; a crossing only disturbs. */
const THROUGH = 10;

export function faultsOf(drawing: Drawing): number {
  return THROUGH * linksThroughNodes(drawing) + crossings(drawing);
}

/** How often a link runs through a node that it does not end at. */
export function linksThroughNodes({ nodes, links }: Drawing): number {
  const byKey = new Map(nodes.map((node) => [node.key, node]));
  let count = 0;
  for (const [one, other] of links)
    for (const node of nodes)
      if (node.key !== one && node.key !== other && meets(byKey.get(one)!, byKey.get(other)!, node)) count += 1;
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

/** Whether a line meets a rectangle: what is left of it between the rectangle's sides, one axis after the other. */
function meets(a: Point, b: Point, node: Drawing['nodes'][number]): boolean {
  let [from, to] = [0, 1];
  for (const [start, end, middle, size] of [
    [a.x, b.x, node.x, node.width],
    [a.y, b.y, node.y, node.height],
  ] as const) {
    const sides = [middle - size / 2 - start, middle + size / 2 - start];
    if (start === end) {
      if (sides[0]! > 0 || sides[1]! < 0) return false;
      continue;
    }
    const [first, second] = sides.map((side) => side / (end - start)).toSorted((one, two) => one - two);
    [from, to] = [Math.max(from, first!), Math.min(to, second!)];
  }
  return from < to;
}
