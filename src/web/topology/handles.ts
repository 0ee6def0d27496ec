// Handles of the hovered or selected object: where a link starts and where a drawing is resized.
import type { Shape } from '../model/lab/drawing.ts';
import { readShape } from '../model/lab/drawing.ts';
import type { Box } from '../model/lab/geometry.ts';
import type { DrawingObject } from '../model/server/types.ts';
import type { Stage } from './stage.ts';
import { make, set } from './svg.ts';

export class Handles {
  readonly #stage: Stage;
  readonly #port: SVGGElement;
  readonly #sizes: SVGGElement;
  #hovered: string | undefined;

  constructor(stage: Stage) {
    this.#stage = stage;
    this.#sizes = make('g', { class: 'sizes', 'aria-hidden': 'true' }, stage.layers.over);
    this.#port = make('g', { class: 'port-handle', visibility: 'hidden', 'aria-hidden': 'true' }, stage.layers.over);
    make('circle', { r: 8 }, this.#port);
    make('path', { d: 'M-4 0H4M0 -4V4' }, this.#port);
  }

  /** The hovered node; undefined for none. */
  hover(nodeId: string | undefined): void {
    if (nodeId === this.#hovered) return;
    this.#hovered = nodeId;
    this.draw();
  }

  draw(): void {
    const { context } = this.#stage;
    const { nodes, drawings } = context.selection.value;
    const mayChange = context.lab.whyNotChange === '';
    const node = context.lab.nodes.get(this.#hovered ?? (nodes.length === 1 ? nodes[0]! : ''));
    if (!node || !mayChange || this.#stage.held.size > 0) set(this.#port, { visibility: 'hidden' });
    else {
      const { x, y, width, height } = this.#stage.boxOf(node);
      const transform = `translate(${x + width + 6} ${y + height / 2})`;
      set(this.#port, { visibility: 'visible', 'data-port': node.node_id, transform });
    }
    const drawing =
      mayChange && drawings.length === 1 && nodes.length === 0 ? context.lab.drawings.get(drawings[0]!) : undefined;
    this.#drawSizes(drawing);
  }

  #drawSizes(drawing: DrawingObject | undefined): void {
    const reshaped = this.#stage.reshaped.get(drawing?.drawing_id ?? '');
    const shape = drawing && !drawing.locked ? (reshaped?.shape ?? readShape(drawing.svg)) : undefined;
    this.#sizes.replaceChildren();
    if (!drawing || !shape) return;
    const { x, y } = reshaped ?? this.#stage.held.get(drawing.drawing_id) ?? drawing;
    set(this.#sizes, { transform: `translate(${x} ${y}) rotate(${drawing.rotation})` });
    for (const [handle, at] of placesOf(shape)) {
      make('rect', { x: at.x - 5, y: at.y - 5, width: 10, height: 10, 'data-handle': handle }, this.#sizes);
    }
  }
}

function placesOf(shape: Shape): [handle: string, at: Pick<Box, 'x' | 'y'>][] {
  if (shape.kind === 'text') return [];
  if (shape.kind === 'line') {
    return [
      ['start', { x: shape.x1, y: shape.y1 }],
      ['end', { x: shape.x2, y: shape.y2 }],
    ];
  }
  const { width, height } = shape;
  return [
    ['e', { x: width, y: height / 2 }],
    ['s', { x: width / 2, y: height }],
    ['se', { x: width, y: height }],
  ];
}
