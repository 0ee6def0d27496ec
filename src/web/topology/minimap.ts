// The whole lab in a corner, with the visible part; click or drag to move the view.
import { around, centreOf } from '../../layout/rectangles.ts';
import { type Box, isWithin } from '../model/lab/geometry.ts';
import { WORDS } from '../words.ts';
import type { Stage } from './stage.ts';

const WIDTH = 160;
const HEIGHT = 110;
const RIM = 60;

export class Minimap {
  readonly #stage: Stage;
  readonly #map = document.createElement('div');
  readonly #canvas = document.createElement('canvas');
  /** The visible part: an element of its own, so that a gesture need not draw the nodes again. */
  readonly #seen = document.createElement('div');
  readonly #over = new AbortController();
  #frame = 0;
  /** Around all nodes when they were drawn; undefined without any. */
  #all: Box | undefined;
  /** Nodes have changed since they were drawn. */
  #isStale = true;
  /** The part of the lab on the canvas, and its scale there. */
  #shown: Box & { scale: number } = { x: 0, y: 0, width: 1, height: 1, scale: 1 };

  constructor(stage: Stage) {
    this.#stage = stage;
    const [map, canvas] = [this.#map, this.#canvas];
    const { signal } = this.#over;
    map.className = 'minimap';
    map.hidden = true;
    // Lists and keys replace it for screen readers.
    map.setAttribute('aria-hidden', 'true');
    map.title = WORDS.lab.minimap;
    canvas.width = WIDTH * 2;
    canvas.height = HEIGHT * 2;
    map.append(canvas, this.#seen);
    stage.host.append(map);
    canvas.addEventListener('pointerdown', (event) => {
      canvas.setPointerCapture(event.pointerId);
      this.#look(event);
    });
    canvas.addEventListener('pointermove', (event) => {
      if (event.buttons === 1) this.#look(event);
    });
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.markNodes(), { signal });
  }

  stop(): void {
    cancelAnimationFrame(this.#frame);
    this.#over.abort();
    this.#map.remove();
  }

  /** Redraws the visible part with the next frame. */
  mark(): void {
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      this.#draw();
    });
  }

  /** The same for the nodes. */
  markNodes(): void {
    this.#isStale = true;
    this.mark();
  }

  #look({ offsetX, offsetY }: PointerEvent): void {
    const { x, y, scale } = this.#shown;
    this.#stage.camera.centre({ x: x + offsetX / scale, y: y + offsetY / scale });
  }

  #draw(): void {
    const { context, camera, held } = this.#stage;
    // Dragged nodes are drawn where they are dropped.
    const isStale = this.#isStale && held.size === 0;
    const boxes = isStale ? [...context.lab.nodes.values()].map((node) => this.#stage.boxOf(node)) : [];
    if (isStale) this.#all = around(boxes);
    const all = this.#all;
    const { seen } = camera;
    const isHidden = !all || isWithin(all, seen) || !context.view.isShown('minimap');
    // An attribute that is set again counts as a change of style, in each frame of a drag.
    if (this.#map.hidden !== isHidden) this.#map.hidden = isHidden;
    if (isStale && all) this.#drawNodes(boxes, all);
    if (isHidden) return;
    const { x, y, scale } = this.#shown;
    const { style } = this.#seen;
    style.width = `${seen.width * scale}px`;
    style.height = `${seen.height * scale}px`;
    style.transform = `translate(${(seen.x - x) * scale}px, ${(seen.y - y) * scale}px)`;
  }

  #drawNodes(boxes: readonly Box[], all: Box): void {
    const pen = this.#canvas.getContext('2d');
    if (!pen) return;
    this.#isStale = false;
    const scale = Math.min(WIDTH / (all.width + 2 * RIM), HEIGHT / (all.height + 2 * RIM));
    const middle = centreOf(all);
    const shown = { width: WIDTH / scale, height: HEIGHT / scale, scale };
    this.#shown = { ...shown, x: middle.x - shown.width / 2, y: middle.y - shown.height / 2 };
    pen.setTransform(2 * scale, 0, 0, 2 * scale, -2 * scale * this.#shown.x, -2 * scale * this.#shown.y);
    pen.clearRect(this.#shown.x, this.#shown.y, shown.width, shown.height);
    pen.fillStyle = getComputedStyle(this.#canvas).color;
    const least = 3 / scale;
    for (const { x, y, width, height } of boxes) pen.fillRect(x, y, Math.max(width, least), Math.max(height, least));
  }
}
