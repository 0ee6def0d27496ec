// Guides while the selection is dragged: it comes in line with the edges and middles of visible nodes and drawings.
import { guide } from '../../layout/guides.ts';
import { around } from '../../layout/rectangles.ts';
import { pictureSize, readShape } from '../model/lab/drawing.ts';
import { type Box, overlap, type Point } from '../model/lab/geometry.ts';
import type { Stage } from './stage.ts';
import { make } from './svg.ts';

/** Pixels on the screen from which the selection jumps into line. */
const REACH = 5;

export class Guides {
  readonly #stage: Stage;
  readonly #group: SVGGElement;
  readonly #moved: Box | undefined;
  readonly #others: readonly Box[] = [];

  /** Notes where everything is now, before the drag. */
  constructor(stage: Stage) {
    this.#stage = stage;
    this.#group = make('g', { class: 'guides', 'aria-hidden': 'true' }, stage.layers.over);
    // No guides are shown from afar.
    if (stage.camera.isFar) return;
    const { lab } = stage.context;
    const { nodes, drawings } = stage.movable();
    const moved = new Set([...nodes.map(({ node_id: id }) => id), ...drawings.map(({ drawing_id: id }) => id)]);
    const { seen } = stage.camera;
    const boxes: [string, Box][] = [...lab.nodes.values()].map((node) => [node.node_id, stage.boxOf(node)]);
    for (const drawing of lab.drawings.values()) {
      const { drawing_id: id, svg, rotation } = drawing;
      const shape = readShape(svg);
      // Texts and lines have no edges that could be seen.
      const hasEdges = shape?.kind === 'rect' || shape?.kind === 'ellipse';
      if (rotation === 0 && (moved.has(id) || hasEdges))
        boxes.push([id, stage.boxOfDrawing(drawing, shape, pictureSize(svg))]);
    }
    this.#moved = around(boxes.filter(([id]) => moved.has(id)).map(([, box]) => box));
    this.#others = boxes.filter(([id, box]) => !moved.has(id) && overlap(box, seen)).map(([, box]) => box);
  }

  /** Draws the guides for this distance of the drag, and returns the distance that follows them. */
  follow({ x, y }: Point): Point {
    const box = this.#moved;
    if (!box || this.#stage.camera.isFar) return this.ignore({ x, y });
    const wanted = { ...box, x: Math.round(box.x + x), y: Math.round(box.y + y) };
    const { way, guides } = guide(wanted, this.#others, REACH / this.#stage.camera.scale);
    if (guides.length > 0 || this.#group.childElementCount > 0) {
      this.#group.replaceChildren(
        ...guides.map(([from, to]) => make('line', { x1: from.x, y1: from.y, x2: to.x, y2: to.y })),
      );
    }
    return { x: wanted.x + way.x - box.x, y: wanted.y + way.y - box.y };
  }

  /** Removes the guides; the drag goes where the pointer is. */
  ignore(way: Point): Point {
    if (this.#group.childElementCount > 0) this.#group.replaceChildren();
    return way;
  }

  end(): void {
    this.#group.remove();
  }
}
