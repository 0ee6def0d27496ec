// How much room the name of a node takes, and where it is: where a user has put it, or on a side of the symbol.
import type { LabelObject } from '../../../api/objects.ts';
import type { Box } from './geometry.ts';
import { readStyle } from './label-style.ts';

export const SIDES = ['below', 'above', 'right', 'left'] as const;
export type Side = (typeof SIDES)[number];
export type Size = Pick<Box, 'width' | 'height'>;

/** Pixels between a symbol and its name. */
export const GAP = 6;
/** Pixels of a usual name. */
const FONT_SIZE = 13;
/** Width and height of a letter relative to the font size; wide, because the font is unknown. */
const LETTER = { width: 0.65, height: 1.35 };
/** Height of a usual name. */
export const NAME_HEIGHT = Math.ceil(FONT_SIZE * LETTER.height);

export function nameSize({ text, style }: Pick<LabelObject, 'text' | 'style'>): Size {
  const size = readStyle(style).fontSize ?? FONT_SIZE;
  const lines = text.split('\n');
  return {
    width: Math.max(...lines.map(({ length }) => length)) * size * LETTER.width,
    height: lines.length * size * LETTER.height,
  };
}

/** Pixels from the top of a symbol to a name that has a place without `y`. */
export const DEFAULT_TOP = -20;

/** Where the server puts the top of a node's name. */
export function serverTop(height: number): number {
  return -Math.round(height / 2 + 10);
}

/** Whether the name is where the server puts all names, so that the page may choose its side. */
export function isUnplaced({ x, y, rotation }: LabelObject, height: number): boolean {
  return x == null && !rotation && (y == null || Math.abs(y - serverTop(height)) <= 1);
}

/** The place of a name on a side of its symbol. */
export function nameAt(side: Side, { x, y, width, height }: Box, size: Size): Box {
  const [middle, centre] = [y + (height - size.height) / 2, x + (width - size.width) / 2];
  const corner = {
    below: { x: centre, y: y + height + GAP },
    above: { x: centre, y: y - GAP - size.height },
    right: { x: x + width + GAP, y: middle },
    left: { x: x - GAP - size.width, y: middle },
  }[side];
  return { ...corner, ...size };
}
