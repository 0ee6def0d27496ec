// Two-finger gesture: pans and zooms so that the point between the fingers stays between them.
import type { Point } from '../model/lab/geometry.ts';
import type { Camera } from './camera.ts';

/** Distances below this are too small to zoom by. */
const LEAST = 10;

export class Pinch {
  readonly #camera: Camera;
  /** By pointer id. */
  readonly #fingers = new Map<number, Point>();

  constructor(camera: Camera) {
    this.#camera = camera;
  }

  /** Whether two fingers are down. */
  get isOn(): boolean {
    return this.#fingers.size === 2;
  }

  /** Ignores a third finger. True if a gesture starts. */
  down({ pointerType, pointerId, clientX: x, clientY: y }: PointerEvent): boolean {
    if (pointerType !== 'touch' || this.isOn) return false;
    this.#fingers.set(pointerId, { x, y });
    return this.isOn;
  }

  move({ pointerId, clientX: x, clientY: y }: PointerEvent): void {
    const former = this.#fingers.get(pointerId);
    if (!former) return;
    this.#fingers.set(pointerId, { x, y });
    const other = [...this.#fingers].find(([id]) => id !== pointerId)?.[1];
    if (!other) return;
    const [before, now] = [spanOf(former, other), spanOf({ x, y }, other)];
    this.#camera.pan(now.middle.x - before.middle.x, now.middle.y - before.middle.y);
    if (before.length > LEAST && now.length > LEAST)
      this.#camera.zoomAt(now.length / before.length, now.middle.x, now.middle.y);
  }

  up({ pointerId }: PointerEvent): void {
    this.#fingers.delete(pointerId);
  }
}

function spanOf(one: Point, other: Point): { middle: Point; length: number } {
  return {
    middle: { x: (one.x + other.x) / 2, y: (one.y + other.y) / 2 },
    length: Math.hypot(one.x - other.x, one.y - other.y),
  };
}
