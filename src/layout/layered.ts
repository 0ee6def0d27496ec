// Draws a part in layers by dagre, which orders each layer so that few links cross. This code chooses the layers. Pure.
import { Graph, layout } from '@dagrejs/dagre';
import { depthsFrom, GAP_X, type Part, type Places, unitsOf, unpacked } from './graph.ts';
import type { Point } from './rectangles.ts';

export interface Layers {
  /** The nodes of the first layer. */
  roots: readonly string[];
  /** Leaves nodes beside each other that are equally far from the roots, though a link joins them. */
  isLevel: boolean;
  /** Pixels between layers. */
  rankGap: number;
}

export function layered(part: Part, { roots, isLevel, rankGap }: Layers): Places {
  const { neighbours } = part;
  const depths = depthsFrom(roots, neighbours);
  const units = unitsOf(part, depths);
  const unitOf = new Map(units.flatMap((unit) => unit.inner.map(({ key }) => [key, unit.key] as const)));
  const graph = new Graph();
  // dagre's own ranker takes the square of the time, and nothing is left to it where layers are given by depth.
  graph.setGraph({ rankdir: 'TB', ranker: 'tight-tree', nodesep: GAP_X, ranksep: rankGap, edgesep: GAP_X / 2 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const { key, width, height } of units) graph.setNode(key, { width, height });
  for (const [key, depth] of depths) {
    for (const other of neighbours.get(key)!) {
      const [from, to, below] = [unitOf.get(key)!, unitOf.get(other)!, depths.get(other)!];
      if (from !== to && (below > depth || (below === depth && key < other && !isLevel))) graph.setEdge(from, to);
    }
  }
  layout(graph);
  return unpacked(units, ({ key }) => graph.node(key) as Point);
}
