// Geometry of the map: boxes, the grid, and the nearest object in a direction.
import type { Point as LayoutPoint, Rectangle } from '../../../layout/rectangles.ts';

export type Point = Readonly<LayoutPoint>;
export type Box = Readonly<Rectangle>;

export function overlap(one: Box, other: Box): boolean {
  return (
    one.x < other.x + other.width &&
    other.x < one.x + one.width &&
    one.y < other.y + other.height &&
    other.y < one.y + one.height
  );
}

/** Whether `inner` lies inside `outer` as a whole. */
export function isWithin(inner: Box, outer: Box): boolean {
  return (
    inner.x >= outer.x &&
    inner.y >= outer.y &&
    inner.x + inner.width <= outer.x + outer.width &&
    inner.y + inner.height <= outer.y + outer.height
  );
}

/** The nearest position whose centre is on the grid; rounded to pixels if the grid is 0. */
export function snapped({ x, y, width, height }: Box, grid: number): Point {
  if (grid <= 0) return { x: Math.round(x), y: Math.round(y) };
  const snap = (value: number, half: number): number => Math.round(Math.round((value + half) / grid) * grid - half);
  return { x: snap(x, width / 2), y: snap(y, height / 2) };
}

/** The nearest place in the direction `dx`, `dy` (one of them is 0); straight ahead is preferred. */
export function nearest<T extends { at: Point }>(
  from: Point,
  dx: number,
  dy: number,
  others: readonly T[],
): T | undefined {
  let best: T | undefined;
  let least = Infinity;
  for (const other of others) {
    const along = (other.at.x - from.x) * dx + (other.at.y - from.y) * dy;
    const aside = Math.abs((other.at.x - from.x) * dy) + Math.abs((other.at.y - from.y) * dx);
    if (along <= 0 || aside > along * 3) continue;
    const cost = along + aside * 2;
    if (cost < least) [best, least] = [other, cost];
  }
  return best;
}

/** A drawing rotates around its upper left corner. */
export function turned({ x, y }: Point, degrees: number): Point {
  const angle = (degrees * Math.PI) / 180;
  const [sin, cos] = [Math.sin(angle), Math.cos(angle)];
  return { x: x * cos - y * sin, y: x * sin + y * cos };
}
