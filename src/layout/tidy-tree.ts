// Draws a part as a tidy tree by d3-hierarchy: each node in the middle above its children. Links that are not the tree's are drawn across. Pure.
import { type HierarchyPointNode, hierarchy, tree } from 'd3-hierarchy';
import { depthsFrom, GAP_X, type Part, type Places, type Unit, unitsOf, unpacked } from './graph.ts';

/** @param rankGap pixels between rows */
export function tidyTree(part: Part, root: string, rankGap: number): Places {
  const units = unitsOf(part, depthsFrom([root], part.neighbours));
  const placed = tree<Unit>()
    .nodeSize([1, 1])
    .separation((one, other) => (one.data.width + other.data.width) / 2 + GAP_X)(treeOf(part, units, root));
  const rows: number[] = [];
  for (const { depth, data } of placed) rows[depth] = Math.max(rows[depth] ?? 0, data.height);
  const tops = rows.map((_, depth) => rows.slice(0, depth).reduce((sum, height) => sum + height + rankGap, 0));
  const byKey = new Map([...placed].map((node) => [node.data.key, node]));
  return unpacked(units, ({ key }) => middleOf(byKey.get(key)!, tops, rows));
}

/**
 * Rings around the root, each branch in a sector of its own.
 * @param ringGap pixels between rings; without it so many that no node covers another one
 */
export function radialTree(part: Part, root: string, ringGap?: number): Places {
  const units = part.boxes.map((box): Unit => ({ ...box, inner: [{ key: box.key, x: 0, y: 0 }] }));
  const placed = tree<Unit>()
    .size([2 * Math.PI, 1])
    .separation(
      (one, other) => (one.parent === other.parent ? 1 : 2) / (ringGap === undefined ? 1 : Math.max(1, one.depth)),
    )(treeOf(part, units, root));
  const nodes = [...placed];
  const size = Math.max(...nodes.map(({ data: { width, height } }) => Math.hypot(width, height)));
  const further = ringGap === undefined ? furtherLeaves(nodes) : new Set();
  const gap = ringGap ?? roomyGap(nodes, further, size);
  return new Map(
    nodes.map((node) => {
      const radius = node.depth * gap + (further.has(node) ? size : 0);
      return [node.data.key, { x: radius * Math.cos(node.x), y: radius * Math.sin(node.x) }];
    }),
  );
}

/** Room of a node in its ring, in its sizes, so that links pass between nodes to those behind them. */
const ROOM = 1.25;

type TreeNode = HierarchyPointNode<Unit>;

function ringsOf(nodes: readonly TreeNode[]): TreeNode[][] {
  return [...Map.groupBy(nodes, ({ depth }) => depth).values()].map((ring) =>
    ring.toSorted((one, other) => one.x - other.x),
  );
}

/** Every second leaf of a ring, which stands behind the gap between two others: so the ring has room for twice as many. */
function furtherLeaves(nodes: readonly TreeNode[]): Set<unknown> {
  return new Set(ringsOf(nodes).flatMap((ring) => ring.filter(({ children }, at) => !children && at % 2 === 1)));
}

/** The smallest gap between rings at which no two nodes of a ring cover each other. */
function roomyGap(nodes: readonly TreeNode[], further: ReadonlySet<unknown>, size: number): number {
  let gap = 2 * size + GAP_X;
  for (const ring of ringsOf(nodes)) {
    for (const [at, node] of ring.entries()) {
      for (const other of [ring[(at + 1) % ring.length]!, ring[(at + 2) % ring.length]!]) {
        if (other === node || further.has(other) !== further.has(node)) continue;
        const angle = Math.abs(other.x - node.x);
        gap = Math.max(gap, (ROOM * size) / (2 * node.depth * Math.sin(Math.min(angle, 2 * Math.PI - angle) / 2)));
      }
    }
  }
  return gap;
}

function treeOf({ neighbours }: Part, units: readonly Unit[], root: string) {
  const unitOf = new Map(units.flatMap((unit) => unit.inner.map(({ key }) => [key, unit] as const)));
  const seen = new Set([root]);
  const children = new Map<Unit, Unit[]>(units.map((unit) => [unit, []]));
  // Breadth first: each node hangs below the first of its neighbours that is reached.
  for (const key of seen) {
    for (const other of neighbours.get(key)!) {
      if (seen.has(other)) continue;
      seen.add(other);
      const [above, unit] = [unitOf.get(key)!, unitOf.get(other)!];
      if (above !== unit && !children.get(above)!.includes(unit)) children.get(above)!.push(unit);
    }
  }
  return hierarchy(unitOf.get(root)!, (unit) => children.get(unit));
}

function middleOf({ x, depth, data }: HierarchyPointNode<Unit>, tops: readonly number[], rows: readonly number[]) {
  // A block begins at the top of its row, like its neighbours, so that links to it are short.
  const height = rows[depth]!;
  return { x, y: tops[depth]! + (data.inner.length > 1 ? data.height / 2 : Math.min(height, data.height) / 2) };
}
