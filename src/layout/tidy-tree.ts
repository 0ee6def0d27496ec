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

/** Rings around the root, each branch in a sector of its own. */
export function radialTree(part: Part, root: string, ringGap: number): Places {
  const units = part.boxes.map((box): Unit => ({ ...box, inner: [{ key: box.key, x: 0, y: 0 }] }));
  const placed = tree<Unit>()
    .size([2 * Math.PI, 1])
    .separation((one, other) => (one.parent === other.parent ? 1 : 2) / Math.max(1, one.depth))(
    treeOf(part, units, root),
  );
  return new Map(
    [...placed].map(({ data: { key }, depth, x: angle }) => [
      key,
      { x: depth * ringGap * Math.cos(angle), y: depth * ringGap * Math.sin(angle) },
    ]),
  );
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
