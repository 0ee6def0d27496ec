// Groups: rectangles and ellipses that take what lies in them along when they are moved. Other clients see ordinary drawings.
import { around, centreOf } from '../../../layout/rectangles.ts';
import type { DrawingObject, NodeObject } from '../server/types.ts';
import { type Filled, isGroup, newShape, pictureSize, readShape } from './drawing.ts';
import { type MapThings, nodeTakes } from './free-place.ts';
import { type Point, turned } from './geometry.ts';
import { GAP, NAME_HEIGHT } from './label-place.ts';

/** Pixels between the border of a new group and what it holds. A name that is shown above its symbol fits in, too. */
const MARGIN = GAP + NAME_HEIGHT + 6;
const ROUNDING = 1e-6;

/** A group around these nodes and their names. */
export function groupAround(nodes: readonly NodeObject[]): Point & { shape: Filled } {
  const { x, y, width, height } = around(nodes.flatMap(nodeTakes))!;
  const size = { width: Math.round(width + 2 * MARGIN), height: Math.round(height + 2 * MARGIN) };
  const colours = { fill: '#4a90d9', fillOpacity: 0.12, stroke: '#4a90d9', strokeWidth: 1, radius: 8 };
  const shape = { ...newShape('rect'), ...size, ...colours, isGroup: true };
  return { x: Math.round(x - MARGIN), y: Math.round(y - MARGIN), shape };
}

/** Nodes with their middle in one of these groups, and drawings that lie in one as a whole. Locked groups do not move. */
export function inGroups(
  groups: readonly DrawingObject[],
  { nodes, drawings }: MapThings,
): { nodes: NodeObject[]; drawings: DrawingObject[] } {
  const shapes = groups.flatMap((group) => {
    const shape = readShape(group.svg);
    return isGroup(shape) && !group.locked ? [{ group, shape }] : [];
  });
  if (shapes.length === 0) return { nodes: [], drawings: [] };
  const hold = (points: readonly Point[], itself?: DrawingObject): boolean =>
    shapes.some(({ group, shape }) => group !== itself && points.every((point) => isInside(point, group, shape)));
  return {
    nodes: [...nodes.values()].filter((node) => hold([centreOf(node)])),
    drawings: [...drawings.values()].filter((drawing) => hold(cornersOf(drawing), drawing)),
  };
}

function cornersOf({ x, y, rotation, svg }: DrawingObject): Point[] {
  const { width, height } = pictureSize(svg);
  const corners = [
    { x: 0, y: 0 },
    { x: width, y: 0 },
    { x: 0, y: height },
    { x: width, y: height },
  ];
  return corners.map((corner) => {
    const at = turned(corner, rotation);
    return { x: x + at.x, y: y + at.y };
  });
}

function isInside(point: Point, { x, y, rotation }: DrawingObject, { kind, width, height }: Filled): boolean {
  const at = turned({ x: point.x - x, y: point.y - y }, -rotation);
  if (kind === 'ellipse') return Math.hypot((at.x * 2) / width - 1, (at.y * 2) / height - 1) <= 1;
  // Rounding must not move what lies on the border out.
  return at.x >= -ROUNDING && at.y >= -ROUNDING && at.x <= width + ROUNDING && at.y <= height + ROUNDING;
}
