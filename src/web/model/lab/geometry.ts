// Geometry of the map: boxes, the grid, and the nearest object in a direction.
export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Box extends Point {
  readonly width: number;
  readonly height: number;
}

export function centreOf({ x, y, width, height }: Box): Point {
  return { x: x + width / 2, y: y + height / 2 };
}

/** The bounding box; undefined for an empty list. */
export function around(boxes: readonly Box[]): Box | undefined {
  if (boxes.length === 0) return undefined;
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const { x, y, width, height } of boxes) {
    left = Math.min(left, x);
    top = Math.min(top, y);
    right = Math.max(right, x + width);
    bottom = Math.max(bottom, y + height);
  }
  return { x: left, y: top, width: right - left, height: bottom - top };
}

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
