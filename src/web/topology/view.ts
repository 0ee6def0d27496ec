// Where the window looks at: a place in the lab times `scale`, plus `x` and `y`, is a place in the window, in pixels.
export interface View {
  readonly x: number;
  readonly y: number;
  readonly scale: number;
}

const SMALLEST = 0.05;
const LARGEST = 4;

/** The view enlarged by `factor`, so that what is at this place of the window stays there. */
export function zoomedAt({ x, y, scale }: View, factor: number, atX: number, atY: number): View {
  const wanted = Math.min(LARGEST, Math.max(SMALLEST, scale * factor));
  const real = wanted / scale;
  return { x: atX - (atX - x) * real, y: atY - (atY - y) * real, scale: wanted };
}
