// Groups: rectangles and ellipses that take what lies in them along when they are moved. Other clients see ordinary drawings.
import { around, centreOf } from '../../../layout/rectangles.ts';
import type { DrawingObject, NodeObject } from '../server/types.ts';
import { type Filled, newShape, pictureSize, readShape } from './drawing.ts';
import { type MapThings, nodeTakes } from './free-place.ts';
import { type Box, isWithin, type Point } from './geometry.ts';

/** Pixels between the border of a new group and what it holds. */
const MARGIN = 20;

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
    return shape && 'isGroup' in shape && shape.isGroup && !group.locked ? [{ group, shape }] : [];
  });
  if (shapes.length === 0) return { nodes: [], drawings: [] };
  const holds = (is: (group: DrawingObject, shape: Filled) => boolean): boolean =>
    shapes.some(({ group, shape }) => is(group, shape));
  return {
    nodes: [...nodes.values()].filter((node) => holds((group, shape) => isInside(centreOf(node), group, shape))),
    drawings: [...drawings.values()].filter((drawing) =>
      holds((group) => group !== drawing && isWithin(boxOf(drawing), boxOf(group))),
    ),
  };
}

function boxOf({ x, y, svg }: DrawingObject): Box {
  return { x, y, ...pictureSize(svg) };
}

/** A drawing rotates around its upper left corner. */
function isInside(point: Point, { x, y, rotation }: DrawingObject, { kind, width, height }: Filled): boolean {
  const turn = (-rotation * Math.PI) / 180;
  const [right, down] = [point.x - x, point.y - y];
  const at = {
    x: right * Math.cos(turn) - down * Math.sin(turn),
    y: right * Math.sin(turn) + down * Math.cos(turn),
  };
  if (kind === 'ellipse') return Math.hypot((at.x * 2) / width - 1, (at.y * 2) / height - 1) <= 1;
  return at.x >= 0 && at.y >= 0 && at.x <= width && at.y <= height;
}
