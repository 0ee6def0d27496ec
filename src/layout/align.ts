// Lines nodes up, or spaces them evenly, in the way of drawing programs. Pure.
import type { Point, Rectangle } from './rectangles.ts';

export const ALIGNMENTS = ['left', 'centre', 'right', 'top', 'middle', 'bottom', 'across', 'down'] as const;
/** `across` and `down` leave the same gap between neighbours; the outermost nodes stay. */
export type Alignment = (typeof ALIGNMENTS)[number];

interface Keyed extends Readonly<Rectangle> {
  readonly key: string;
}

/** The new top left corners, in whole pixels. */
export function align(nodes: readonly Keyed[], alignment: Alignment): Map<string, Point> {
  if (nodes.length === 0) return new Map();
  if (alignment === 'across') return spaced(nodes, 'x', 'width');
  if (alignment === 'down') return spaced(nodes, 'y', 'height');
  const isAcross = alignment === 'left' || alignment === 'centre' || alignment === 'right';
  const [axis, size] = isAcross ? (['x', 'width'] as const) : (['y', 'height'] as const);
  const start = Math.min(...nodes.map((node) => node[axis]));
  const end = Math.max(...nodes.map((node) => node[axis] + node[size]));
  const share = { left: 0, top: 0, centre: 0.5, middle: 0.5, right: 1, bottom: 1 }[alignment];
  return new Map(
    nodes.map((node) => [
      node.key,
      { x: node.x, y: node.y, [axis]: Math.round(start + share * (end - start - node[size])) },
    ]),
  );
}

function spaced(nodes: readonly Keyed[], axis: 'x' | 'y', size: 'width' | 'height'): Map<string, Point> {
  const inOrder = nodes.toSorted((one, other) => one[axis] + one[size] / 2 - other[axis] - other[size] / 2);
  const [first, last] = [inOrder[0]!, inOrder.at(-1)!];
  const taken = inOrder.reduce((sum, node) => sum + node[size], 0);
  const gap = (last[axis] + last[size] - first[axis] - taken) / Math.max(1, nodes.length - 1);
  let at = first[axis];
  return new Map(
    inOrder.map((node) => {
      const place = { x: node.x, y: node.y, [axis]: Math.round(at) };
      at += node[size] + gap;
      return [node.key, place];
    }),
  );
}
