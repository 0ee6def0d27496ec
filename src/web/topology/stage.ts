// What the parts of the map share: its elements, its camera, what a hand holds, and what is to be drawn anew.
import type { LabContext } from '../lab-context.ts';
import { type Shape, sizeOf, writeShape } from '../model/drawing.ts';
import { type Box, type Point, snapped } from '../model/geometry.ts';
import type { DrawingObject, NodeObject } from '../model/types.ts';
import { WORDS } from '../words.ts';
import { Camera } from './camera.ts';
import { make } from './svg.ts';

export type Kind = 'node' | 'link' | 'drawing';

/** A drawing as a hand changes it. */
export interface Reshaped extends Point {
  shape: Shape;
}

export class Stage {
  readonly host: HTMLElement;
  readonly context: LabContext;
  readonly svg: SVGSVGElement;
  readonly grid: SVGGElement;
  /** Drawings below everything, links, nodes with other drawings, and what only gestures show. */
  readonly layers: Readonly<Record<'below' | 'links' | 'things' | 'over', SVGGElement>>;
  readonly camera: Camera;
  /** Where nodes and drawings are that a hand holds: the server is told when it lets go. */
  readonly held = new Map<string, Point>();
  readonly heldLabels = new Map<string, Point>();
  readonly reshaped = new Map<string, Reshaped>();
  readonly dirty = new Map<string, Kind>();
  readonly #flush: () => void;
  #frame = 0;

  constructor(host: HTMLElement, context: LabContext, flush: () => void) {
    this.host = host;
    this.context = context;
    this.svg = make('svg', {
      class: 'topology',
      role: 'listbox',
      tabindex: 0,
      'aria-multiselectable': 'true',
      'aria-label': WORDS.lab.topology,
      'aria-describedby': 'keys',
    });
    const world = make('g', {}, this.svg);
    this.grid = make('g', { class: 'grid' }, world);
    this.layers = {
      below: make('g', { class: 'drawings' }, world),
      links: make('g', { class: 'links' }, world),
      things: make('g', { class: 'things' }, world),
      over: make('g', { class: 'over' }, world),
    };
    host.append(this.svg);
    this.camera = new Camera(host, this.svg, world);
    this.#flush = () => {
      this.#frame = 0;
      flush();
    };
  }

  stop(): void {
    cancelAnimationFrame(this.#frame);
    this.camera.stop();
    this.svg.remove();
  }

  mark(kind: Kind, id: string): void {
    this.dirty.set(id, kind);
    this.#frame ||= requestAnimationFrame(this.#flush);
  }

  /** Where a node is, in a hand or not. */
  boxOf(node: NodeObject): Box {
    const { x, y } = this.held.get(node.node_id) ?? node;
    return { x, y, width: node.width, height: node.height };
  }

  /** Where a drawing is, with its size as it is drawn. */
  boxOfDrawing(drawing: DrawingObject, shape: Shape | undefined, size: { width: number; height: number }): Box {
    const { x, y } = this.reshaped.get(drawing.drawing_id) ?? this.held.get(drawing.drawing_id) ?? drawing;
    return { x, y, ...(shape ? sizeOf(shape) : size) };
  }

  /** Holds what is selected, moved by this from where the server has it. `isFree`: not on the grid. */
  hold(dx: number, dy: number, isFree: boolean): void {
    const { context } = this;
    const project = context.lab.project.value;
    const grid = (size: number | undefined): number => (isFree || !project?.snap_to_grid ? 0 : (size ?? 0));
    for (const node of context.selectedNodes()) {
      if (node.locked) continue;
      this.held.set(node.node_id, snapped({ ...node, x: node.x + dx, y: node.y + dy }, grid(project?.grid_size)));
      this.mark('node', node.node_id);
    }
    for (const drawing of context.selectedDrawings()) {
      if (drawing.locked) continue;
      const box = { x: drawing.x + dx, y: drawing.y + dy, width: 0, height: 0 };
      this.held.set(drawing.drawing_id, snapped(box, grid(project?.drawing_grid_size)));
      this.mark('drawing', drawing.drawing_id);
    }
  }

  /** Things are again where the server says. */
  release(ids: readonly string[]): void {
    const { lab } = this.context;
    for (const id of ids) {
      this.held.delete(id);
      this.heldLabels.delete(id);
      this.reshaped.delete(id);
      this.mark(lab.drawings.has(id) ? 'drawing' : lab.links.has(id) ? 'link' : 'node', id);
    }
  }

  /** Tells the server where what is held was put; it stays held until the server has said so. */
  keep(): void {
    const { lab, attempt, history } = this.context;
    const updates = [...this.held].flatMap(([id, { x, y }]) => {
      const kind = lab.nodes.has(id) ? ('node' as const) : ('drawing' as const);
      const now = lab[`${kind}s`].get(id);
      return now && (now.x !== x || now.y !== y) ? [{ kind, id, fields: { x, y } }] : [];
    });
    const ids = [...this.held.keys()];
    if (updates.length === 0) this.release(ids);
    else void attempt(() => history.update(updates)).then(() => this.release(ids));
  }

  /** Tells the server the new shape of a drawing. */
  keepShape(id: string): void {
    const { attempt, history } = this.context;
    const reshaped = this.reshaped.get(id);
    if (!reshaped) return;
    const { x, y, shape } = reshaped;
    const update = { kind: 'drawing' as const, id, fields: { x, y, svg: writeShape(shape) } };
    void attempt(() => history.update([update])).then(() => this.release([id]));
  }
}
