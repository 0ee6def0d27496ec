// The visible part of the map. A gesture transforms the rendered picture; it is redrawn when the gesture pauses.
import type { Box, Point } from '../model/lab/geometry.ts';

/** Lab position times `scale`, plus `x` and `y`, is the window position in pixels. */
interface View {
  readonly x: number;
  readonly y: number;
  readonly scale: number;
}

const SMALLEST = 0.05;
const LARGEST = 4;
/** The picture extends beyond the window by this share on each side, so that a gesture can move it. */
const MARGIN = 0.25;
/** After this pause a gesture is over and the picture is redrawn sharply. */
const SETTLED_MS = 120;
/** A picture scaled by more than this is redrawn during the gesture. */
const COARSE = 1.8;
/** Below this scale port states and names are illegible, and not drawn. */
const FAR = 0.45;
/** Below this scale the ring of what is off is smaller than a pixel, and not drawn. */
const TINY = 0.2;
/** Names keep at least this share of their size on the screen, so that they can be read. */
const SMALLEST_NAME = 11 / 13;
/** Names and dots become no larger on the screen than this many times their size. */
const LARGEST_SIGN = 1.3;
/** Margin in lab pixels when fitting. */
const RIM = 40;

export class Camera {
  /** Called after each change of the view. */
  changed: () => void = () => {};
  /** Called after each redraw of the pictures. */
  drawn: () => void = () => {};
  readonly #host: HTMLElement;
  readonly #root: HTMLElement;
  readonly #worlds: readonly SVGGElement[];
  #view: View = { x: 0, y: 0, scale: 1 };
  /** The view of the last redraw; a gesture transforms the element relative to it. */
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

  /** Links are drawn without the signs at their ends. */
  get isFar(): boolean {
    return this.#drawn.scale < FAR;
  }

  /** How many times larger than the map names are drawn. */
  get nameSize(): number {
    return signSize(this.#drawn.scale, SMALLEST_NAME);
  }

  get scale(): number {
    return this.#view.scale;
  }

  /** The visible part of the lab. */
  get seen(): Box {
    const { x, y, scale } = this.#view;
    const { clientWidth: width, clientHeight: height } = this.#host;
    return { x: -x / scale, y: -y / scale, width: width / scale, height: height / scale };
  }

  /** Converts a window point to a lab position. */
  toLab(clientX: number, clientY: number): Point {
    const { left, top } = this.#host.getBoundingClientRect();
    return {
      x: (clientX - left - this.#view.x) / this.#view.scale,
      y: (clientY - top - this.#view.y) / this.#view.scale,
    };
  }

  /** Converts a lab position to a window point. */
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

  /** Zooms around the middle of the window. */
  zoom(factor: number): void {
    this.#view = zoomedAt(this.#view, factor, this.#host.clientWidth / 2, this.#host.clientHeight / 2);
    this.draw();
  }

  /** Fits a part of the lab into the window, at most at scale 1. */
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

  /** Centres a lab position. */
  centre({ x, y }: Point): void {
    const { clientWidth: width, clientHeight: height } = this.#host;
    this.#view = { ...this.#view, x: width / 2 - x * this.#view.scale, y: height / 2 - y * this.#view.scale };
    this.draw();
  }

  /** After a change of the window's size: the middle stays in place. */
  resized(): void {
    const { clientWidth: width, clientHeight: height } = this.#host;
    const { x, y, scale } = this.#view;
    this.#view = { x: x + (width - this.#size.width) / 2, y: y + (height - this.#size.height) / 2, scale };
    this.#size = { width, height };
    this.draw();
  }

  /** Transforms the picture, and redraws it when the margin is used up or the gesture pauses. */
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
    this.#drawn = this.#view;
    const { x, y, scale } = this.#view;
    this.#root.classList.toggle('far', this.isFar);
    this.#root.classList.toggle('tiny', scale < TINY);
    style.setProperty('--name-size', String(this.nameSize));
    style.setProperty('--dot-size', String(signSize(scale, 0)));
    const transform = `translate(${x + width * MARGIN} ${y + height * MARGIN}) scale(${scale})`;
    for (const world of this.#worlds) world.setAttribute('transform', transform);
    this.drawn();
    this.changed();
  }
}

/** What a sign's size is multiplied with, so that it stays within bounds on the screen. Rounded: each change costs a layout of all names. */
function signSize(scale: number, least: number): number {
  const size = scale < 1 ? Math.max(1, least / scale) : Math.min(1, LARGEST_SIGN / scale);
  return Math.round(size * 20) / 20;
}

/** Zooms by `factor`; this point of the window stays in place. */
function zoomedAt({ x, y, scale }: View, factor: number, atX: number, atY: number): View {
  const wanted = Math.min(LARGEST, Math.max(SMALLEST, scale * factor));
  const real = wanted / scale;
  return { x: atX - (atX - x) * real, y: atY - (atY - y) * real, scale: wanted };
}
