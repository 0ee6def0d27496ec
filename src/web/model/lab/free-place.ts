// Finds a free place on the map, clear of nodes and their names, links and drawings.
import { isCrossed } from '../../../layout/count-faults.ts';
import { around, centreOf } from '../../../layout/rectangles.ts';
import type { DrawingObject, LinkObject, NodeObject } from '../server/types.ts';
import { pictureSize, readShape } from './drawing.ts';
import { type Box, overlap, type Point } from './geometry.ts';
import { DEFAULT_TOP, isUnplaced, GAP as LABEL_GAP, NAME_HEIGHT, nameAt, nameSize } from './label-place.ts';

type Line = readonly [Point, Point];

/** Occupied areas. */
export interface Taken {
  readonly boxes: readonly Box[];
  readonly lines: readonly Line[];
}

/** The objects on a lab's map. */
export interface MapThings {
  readonly nodes: ReadonlyMap<string, NodeObject>;
  readonly links: ReadonlyMap<string, LinkObject>;
  readonly drawings: ReadonlyMap<string, DrawingObject>;
}

/** Pixels between a new object and existing ones. */
const GAP = 10;
/** Smallest distance between tried places: a usual node fits between its neighbours. */
const STEP = { x: 120, y: 130 };
/** Estimated pixels of a new node's name, which the server chooses. */
const NEW_NAME = 80;

/** The area of a new node with its name. */
export function withName({ x, y, width, height }: Box): Box {
  const wide = Math.max(width, NEW_NAME);
  return { x: x + (width - wide) / 2, y, width: wide, height: height + LABEL_GAP + NAME_HEIGHT };
}

/** The areas of a node and its name. */
export function nodeTakes({ x, y, width, height, label }: NodeObject): Box[] {
  const node = { x, y, width, height };
  if (label.text.trim() === '') return [node];
  const text = nameSize(label);
  // The map may show it on another side, but not where something else is.
  if (isUnplaced(label, height)) return [node, nameAt('below', node, text)];
  const left = label.x ?? (width - text.width) / 2;
  const top = label.y ?? DEFAULT_TOP;
  const turn = ((label.rotation ?? 0) * Math.PI) / 180;
  const [sin, cos] = [Math.sin(turn), Math.cos(turn)];
  // A label rotates around its start, or around its middle if centred.
  const pivot = label.x == null ? text.width / 2 : 0;
  const corners = [
    [-pivot, 0],
    [text.width - pivot, 0],
    [-pivot, text.height],
    [text.width - pivot, text.height],
  ].map(([dx = 0, dy = 0]) => ({
    x: x + left + pivot + dx * cos - dy * sin,
    y: y + top + dx * sin + dy * cos,
    width: 0,
    height: 0,
  }));
  return [node, around(corners)!];
}

function drawingTakes({ x, y, svg }: DrawingObject): Taken {
  const { width, height } = pictureSize(svg);
  const shape = readShape(svg);
  if (shape?.kind === 'line')
    return {
      boxes: [],
      lines: [
        [
          { x: x + shape.x1, y: y + shape.y1 },
          { x: x + shape.x2, y: y + shape.y2 },
        ],
      ],
    };
  const isFrame = (shape?.kind === 'rect' || shape?.kind === 'ellipse') && width > 2 * STEP.x && height > 2 * STEP.y;
  if (!isFrame) return { boxes: [{ x, y, width, height }], lines: [] };
  // Objects may be inside a drawing, but not on its border.
  const [a, b, c, d] = [
    { x, y },
    { x: x + width, y },
    { x: x + width, y: y + height },
    { x, y: y + height },
  ];
  return {
    boxes: [],
    lines: [
      [a, b],
      [b, c],
      [c, d],
      [d, a],
    ],
  };
}

/** All occupied areas of a lab. */
export function takenIn({ nodes, links, drawings }: MapThings): Taken {
  const drawn = [...drawings.values()].map(drawingTakes);
  const linked = [...links.values()].flatMap(({ nodes: [one, other] }): Line[] => {
    const ends = [nodes.get(one.node_id), nodes.get(other.node_id)];
    return ends[0] && ends[1] ? [[centreOf(ends[0]), centreOf(ends[1])]] : [];
  });
  return {
    boxes: [...[...nodes.values()].flatMap(nodeTakes), ...drawn.flatMap(({ boxes }) => boxes)],
    lines: [...linked, ...drawn.flatMap(({ lines }) => lines)],
  };
}

/** The shortest move of a box to a free place; zero if there is none. */
export function wayToRoom(wanted: Box, { boxes, lines }: Taken): Point {
  const step = { x: Math.max(STEP.x, wanted.width + GAP), y: Math.max(STEP.y, wanted.height + GAP) };
  for (let ring = 0; ring < 40; ring += 1) {
    for (let down = -ring; down <= ring; down += 1) {
      for (let right = -ring; right <= ring; right += 1) {
        if (Math.max(Math.abs(down), Math.abs(right)) !== ring) continue;
        const way = { x: right * step.x, y: down * step.y };
        const at = {
          x: wanted.x + way.x - GAP,
          y: wanted.y + way.y - GAP,
          width: wanted.width + 2 * GAP,
          height: wanted.height + 2 * GAP,
        };
        if (!boxes.some((box) => overlap(at, box)) && !lines.some(([from, to]) => isCrossed(from, to, at))) return way;
      }
    }
  }
  return { x: 0, y: 0 };
}
