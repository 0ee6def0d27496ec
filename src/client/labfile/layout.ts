// Positions nodes that have no position in the file.
import { arrange, type Box } from '../../layout/arrange.ts';
import type { Point } from '../../layout/faults.ts';
import { nodeKey, type WantedLab } from './model.ts';

/** Room of a symbol with its name, in pixels; a long name takes more. */
const SYMBOL = { width: 90, height: 80 };
const LETTER = 8;
/** Distance below positioned nodes. */
const GAP = 120;

/**
 * Places for these nodes of the lab, below those that are taken.
 * @param wanted names of nodes
 * @param taken places that are
 */
export function layOut(lab: WantedLab, wanted: readonly string[], taken: readonly Point[]): Map<string, Point> {
  const boxes = wanted.map((name): Box => {
    const width = Math.max(SYMBOL.width, name.length * LETTER);
    return { key: nodeKey(name), width, height: SYMBOL.height };
  });
  const links = lab.links.map(({ ends: [one, other] }) => [nodeKey(one.node), nodeKey(other.node)] as const);
  const places = arrange(boxes, links);
  if (taken.length === 0) return places;
  const top = Math.min(...[...places.values()].map(({ y }) => y));
  const below = Math.max(...taken.map(({ y }) => y)) + GAP - top;
  return new Map([...places].map(([key, { x, y }]) => [key, { x, y: y + below }]));
}
