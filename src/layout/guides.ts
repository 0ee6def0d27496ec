// Guides while something is moved: where its edges or its middle come in line with others. Pure.
import { around, type Point, type Rectangle } from './rectangles.ts';

/** From one end to the other. */
export type Guide = readonly [Readonly<Point>, Readonly<Point>];

export interface Guided {
  /** How far to move the box so that it is in line. */
  way: Point;
  guides: Guide[];
}

type Box = Readonly<Rectangle>;

/** Shares of a box's size that come in line with the same ones of another; the middle first, where links end. */
const SHARES = [0.5, 0, 1];

/** The nearest lines that edges or the middle of the box have in common with the others, at most `reach` away. */
export function guide(box: Box, others: readonly Box[], reach: number): Guided {
  const across = nearestLine(box, others, ['x', 'width'], reach);
  const down = nearestLine(box, others, ['y', 'height'], reach);
  const way = { x: across?.way ?? 0, y: down?.way ?? 0 };
  const placed = { ...box, x: box.x + way.x, y: box.y + way.y };
  const lineAt = (line: Line, axis: 'x' | 'y'): Guide => {
    const whole = around([placed, ...line.others])!;
    return axis === 'x'
      ? [
          { x: line.at, y: whole.y },
          { x: line.at, y: whole.y + whole.height },
        ]
      : [
          { x: whole.x, y: line.at },
          { x: whole.x + whole.width, y: line.at },
        ];
  };
  return { way, guides: [...(across ? [lineAt(across, 'x')] : []), ...(down ? [lineAt(down, 'y')] : [])] };
}

interface Line {
  way: number;
  at: number;
  /** All boxes that are in line there. */
  others: Box[];
}

function nearestLine(
  box: Box,
  others: readonly Box[],
  [axis, size]: readonly ['x', 'width'] | readonly ['y', 'height'],
  reach: number,
): Line | undefined {
  let best: Line | undefined;
  for (const share of SHARES) {
    const here = box[axis] + share * box[size];
    for (const other of others) {
      const at = other[axis] + share * other[size];
      const way = at - here;
      if (Math.abs(way) > reach) continue;
      if (best?.at === at && best.way === way) best.others.push(other);
      else if (!best || Math.abs(way) < Math.abs(best.way)) best = { way, at, others: [other] };
    }
  }
  return best;
}
