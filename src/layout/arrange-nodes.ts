// Arranges nodes that are already on a map, around the place where they are. Pure.
import { arrange, type Box, type Link } from './arrange.ts';
import { around, centreOf, type Point, type Rectangle } from './rectangles.ts';
import type { Style } from './style.ts';

/** A node as the API has it: its top left corner, the size of its symbol, and its name, all in pixels. */
export interface PlacedNode extends Readonly<Rectangle> {
  readonly key: string;
  readonly name: string;
}

/** Room of the smallest symbol with its name; a long name takes more. */
const LEAST = { width: 90, height: 80 };
const LETTER = 8;
const NAME_HEIGHT = 25;

/** The room that a node of this name takes. */
export function boxOf(key: string, name: string, size = { width: 0, height: 0 }): Box {
  return {
    key,
    width: Math.max(LEAST.width, size.width, name.length * LETTER),
    height: Math.max(LEAST.height, size.height + NAME_HEIGHT),
  };
}

/** The new top left corner of each node, in whole pixels. Links to other nodes are ignored. */
export function arrangeNodes(nodes: readonly PlacedNode[], links: readonly Link[], style: Style): Map<string, Point> {
  const places = arrange(
    nodes.map((node) => boxOf(node.key, node.name, node)),
    links,
    style,
  );
  // Corners in whole pixels, so that the same layout once more moves nothing.
  const corners = nodes.map((node) => {
    const { x, y } = places.get(node.key)!;
    return { ...node, x: Math.round(x - node.width / 2), y: Math.round(y - node.height / 2) };
  });
  const [before, after] = [around(nodes), around(corners)];
  if (!before || !after) return new Map();
  const [from, to] = [centreOf(before), centreOf(after)];
  const [dx, dy] = [Math.round(from.x - to.x), Math.round(from.y - to.y)];
  return new Map(corners.map(({ key, x, y }) => [key, { x: x + dx, y: y + dy }]));
}
