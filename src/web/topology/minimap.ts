// The whole lab in a corner, with the visible part; click or drag to move the view.
import { around, centreOf } from '../../layout/rectangles.ts';
import type { Box } from '../model/lab/geometry.ts';
import { WORDS } from '../words.ts';
import type { Stage } from './stage.ts';

const WIDTH = 160;
const HEIGHT = 110;
const RIM = 60;

export class Minimap {
  readonly #stage: Stage;
  readonly #canvas = document.createElement('canvas');
  #frame = 0;
  /** The part of the lab on the canvas, and its scale there. */
  #shown: Box & { scale: number } = { x: 0, y: 0, width: 1, height: 1, scale: 1 };

  constructor(stage: Stage) {
    this.#stage = stage;
    const canvas = this.#canvas;
    canvas.className = 'minimap';
    // Lists and keys replace it for screen readers.
    canvas.setAttribute('aria-hidden', 'true');
    canvas.title = WORDS.lab.minimap;
    canvas.width = WIDTH * 2;
    canvas.height = HEIGHT * 2;
    stage.host.append(canvas);
    canvas.addEventListener('pointerdown', (event) => {
      canvas.setPointerCapture(event.pointerId);
      this.#look(event);
    });
    canvas.addEventListener('pointermove', (event) => {
      if (event.buttons === 1) this.#look(event);
    });
  }

  stop(): void {
    cancelAnimationFrame(this.#frame);
    this.#canvas.remove();
  }

  /** Redraws with the next frame. */
  mark(): void {
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      this.#draw();
    });
  }

  #look({ offsetX, offsetY }: PointerEvent): void {
    const { x, y, scale } = this.#shown;
    this.#stage.camera.centre({ x: x + offsetX / scale, y: y + offsetY / scale });
  }

  #draw(): void {
    const { context, camera } = this.#stage;
    const nodes = [...context.lab.nodes.values()];
    const all = around(nodes.map((node) => this.#stage.boxOf(node)));
    const { seen } = camera;
    const isWhole =
      !all ||
      (seen.x <= all.x &&
        seen.y <= all.y &&
        seen.x + seen.width >= all.x + all.width &&
        seen.y + seen.height >= all.y + all.height);
    this.#canvas.hidden = isWhole || !context.view.isShown('minimap');
    const pen = this.#canvas.getContext('2d');
    if (this.#canvas.hidden || !pen || !all) return;
    const scale = Math.min(WIDTH / (all.width + 2 * RIM), HEIGHT / (all.height + 2 * RIM));
    const middle = centreOf(all);
    const shown = { width: WIDTH / scale, height: HEIGHT / scale, scale };
    this.#shown = { ...shown, x: middle.x - shown.width / 2, y: middle.y - shown.height / 2 };
    const style = getComputedStyle(this.#canvas);
    pen.setTransform(2 * scale, 0, 0, 2 * scale, -2 * scale * this.#shown.x, -2 * scale * this.#shown.y);
    pen.clearRect(this.#shown.x, this.#shown.y, shown.width, shown.height);
    pen.fillStyle = style.color;
    const least = 3 / scale;
    for (const node of nodes) {
      const { x, y, width, height } = this.#stage.boxOf(node);
      pen.fillRect(x, y, Math.max(width, least), Math.max(height, least));
    }
    pen.strokeStyle = style.outlineColor;
    pen.lineWidth = 1.5 / scale;
    pen.strokeRect(seen.x, seen.y, seen.width, seen.height);
  }
}
