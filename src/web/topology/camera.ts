// Where the window looks at. A gesture moves the picture as a whole; it is drawn anew when the gesture rests.
import type { Box, Point } from '../model/lab/geometry.ts';
import { type View, zoomedAt } from './view.ts';

/** The picture is larger than its window by this share on each side, so that a gesture can move it as a whole. */
const MARGIN = 0.25;
/** A gesture that has rested for this time is over: the picture is drawn sharply again. */
const SETTLED_MS = 120;
/** A picture that was enlarged by more than this is drawn anew within the gesture. */
const COARSE = 1.8;
/** Below this scale names and port states are too small to be read. */
const FAR = 0.45;
/** Pixels of the lab around what is shown as a whole. */
const RIM = 40;

export class Camera {
  /** Told after each change of what is seen. */
  changed: () => void = () => {};
  /** Told after each time that the pictures were drawn anew. */
  drawn: () => void = () => {};
  readonly #host: HTMLElement;
  readonly #root: HTMLElement;
  readonly #worlds: readonly SVGGElement[];
  #view: View = { x: 0, y: 0, scale: 1 };
  /** What the pictures were drawn with last; a gesture moves the element as a whole from there. */
  #drawn: View = { x: 0, y: 0, scale: 1 };
  #size: { width: number; height: number };
  #settle: ReturnType<typeof setTimeout> | undefined;

  constructor(host: HTMLElement, root: HTMLElement, worlds: readonly SVGGElement[]) {
    this.#host = host;
    this.#root = root;
    this.#worlds = worlds;
    this.#size = { width: host.clientWidth, height: host.clientHeight };
  }

  stop(): void {
    clearTimeout(this.#settle);
  }

  get scale(): number {
    return this.#view.scale;
  }

  /** The part of the lab that the window shows. */
  get seen(): Box {
    const { x, y, scale } = this.#view;
    const { clientWidth: width, clientHeight: height } = this.#host;
    return { x: -x / scale, y: -y / scale, width: width / scale, height: height / scale };
  }

  /** The place in the lab at a point of the browser's window. */
  toLab(clientX: number, clientY: number): Point {
    const { left, top } = this.#host.getBoundingClientRect();
    return {
      x: (clientX - left - this.#view.x) / this.#view.scale,
      y: (clientY - top - this.#view.y) / this.#view.scale,
    };
  }

  /** The point of the browser's window at a place in the lab. */
  toWindow({ x, y }: Point): Point {
    const { left, top } = this.#host.getBoundingClientRect();
    return { x: left + this.#view.x + x * this.#view.scale, y: top + this.#view.y + y * this.#view.scale };
  }

  pan(dx: number, dy: number): void {
    this.#view = { ...this.#view, x: this.#view.x + dx, y: this.#view.y + dy };
    this.#glide();
  }

  zoomAt(factor: number, clientX: number, clientY: number): void {
    const { left, top } = this.#host.getBoundingClientRect();
    this.#view = zoomedAt(this.#view, factor, clientX - left, clientY - top);
    this.#glide();
  }

  /** Around the middle of the window. */
  zoom(factor: number): void {
    this.#view = zoomedAt(this.#view, factor, this.#host.clientWidth / 2, this.#host.clientHeight / 2);
    this.draw();
  }

  /** Shows a part of the lab as a whole, not larger than it is. */
  fit(box: Box | undefined): void {
    const { clientWidth: width, clientHeight: height } = this.#host;
    if (!box || width === 0) {
      this.#view = { x: width / 2, y: height / 2, scale: 1 };
    } else {
      const scale = Math.min(width / (box.width + 2 * RIM), height / (box.height + 2 * RIM), 1);
      this.#view = {
        x: width / 2 - (box.x + box.width / 2) * scale,
        y: height / 2 - (box.y + box.height / 2) * scale,
        scale,
      };
    }
    this.draw();
  }

  /** Brings a place into the middle of the window. */
  centre({ x, y }: Point): void {
    const { clientWidth: width, clientHeight: height } = this.#host;
    this.#view = { ...this.#view, x: width / 2 - x * this.#view.scale, y: height / 2 - y * this.#view.scale };
    this.draw();
  }

  /** The window has another size: its middle stays where it was. */
  resized(): void {
    const { clientWidth: width, clientHeight: height } = this.#host;
    const { x, y, scale } = this.#view;
    this.#view = { x: x + (width - this.#size.width) / 2, y: y + (height - this.#size.height) / 2, scale };
    this.#size = { width, height };
    this.draw();
  }

  /** Moves what is drawn as a whole, and draws it anew when the margin is used up or the gesture rests. */
  #glide(): void {
    const { clientWidth: width, clientHeight: height } = this.#host;
    const factor = this.#view.scale / this.#drawn.scale;
    const dx = this.#view.x - this.#drawn.x * factor;
    const dy = this.#view.y - this.#drawn.y * factor;
    const [marginX, marginY] = [width * MARGIN, height * MARGIN];
    const isShort =
      dx - marginX * factor > 0 ||
      dy - marginY * factor > 0 ||
      dx + (width + marginX) * factor < width ||
      dy + (height + marginY) * factor < height;
    if (factor > COARSE || isShort) {
      this.draw();
      return;
    }
    const { style } = this.#root;
    style.willChange = 'transform';
    style.transformOrigin = `${marginX}px ${marginY}px`;
    style.transform = `translate(${dx}px, ${dy}px) scale(${factor})`;
    clearTimeout(this.#settle);
    this.#settle = setTimeout(() => this.draw(), SETTLED_MS);
    this.changed();
  }

  draw(): void {
    clearTimeout(this.#settle);
    const { clientWidth: width, clientHeight: height } = this.#host;
    const { style } = this.#root;
    style.transform = '';
    style.willChange = '';
    this.#drawn = this.#view;
    const { x, y, scale } = this.#view;
    this.#root.classList.toggle('far', scale < FAR);
    const transform = `translate(${x + width * MARGIN} ${y + height * MARGIN}) scale(${scale})`;
    for (const world of this.#worlds) world.setAttribute('transform', transform);
    this.drawn();
    this.changed();
  }
}
