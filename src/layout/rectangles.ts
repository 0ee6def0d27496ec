// Points, and rectangles along the axes. Pure.
export interface Point {
  x: number;
  y: number;
}

/** A rectangle by its top left corner. */
export interface Rectangle extends Point {
  width: number;
  height: number;
}

export function centreOf({ x, y, width, height }: Readonly<Rectangle>): Point {
  return { x: x + width / 2, y: y + height / 2 };
}

/** The bounding box; undefined for an empty list. */
export function around(rectangles: Iterable<Readonly<Rectangle>>): Rectangle | undefined {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const { x, y, width, height } of rectangles) {
    left = Math.min(left, x);
    top = Math.min(top, y);
    right = Math.max(right, x + width);
    bottom = Math.max(bottom, y + height);
  }
  return left > right ? undefined : { x: left, y: top, width: right - left, height: bottom - top };
}
