// Positions nodes that have no position in the file.
import { arrange } from '../../layout/arrange.ts';
import { boxOf } from '../../layout/arrange-nodes.ts';
import type { Point } from '../../layout/rectangles.ts';
import { nodeKey, type WantedLab } from './model.ts';

/** Distance below positioned nodes. */
const GAP = 120;

/**
 * Places for these nodes of the lab, below those that are taken.
 * @param wanted names of nodes
 * @param taken places that are
 */
export function layOut(lab: WantedLab, wanted: readonly string[], taken: readonly Point[]): Map<string, Point> {
  const boxes = wanted.map((name) => boxOf(nodeKey(name), name));
  const links = lab.links.map(({ ends: [one, other] }) => [nodeKey(one.node), nodeKey(other.node)] as const);
  const places = arrange(boxes, links);
  if (taken.length === 0) return places;
  const top = Math.min(...[...places.values()].map(({ y }) => y));
  const below = Math.max(...taken.map(({ y }) => y)) + GAP - top;
  return new Map([...places].map(([key, { x, y }]) => [key, { x, y: y + below }]));
}
