// Shared by the parts of the map: elements, camera, dragged objects, and pending redraws.
import type { LabContext } from '../lab-context.ts';
import { type Shape, sizeOf, writeShape } from '../model/lab/drawing.ts';
import { type Box, type Point, snapped } from '../model/lab/geometry.ts';
import { inGroups } from '../model/lab/groups.ts';
import type { DrawingObject, NodeObject } from '../model/server/types.ts';
import { WORDS } from '../words.ts';
import { Camera } from './camera.ts';
import { Lifted } from './dragged-layer.ts';
import { make, putAt, set } from './svg.ts';

/** A part of the map with its own stacking order. */
export type Layer = 'below' | 'links' | 'things';
export type Kind = 'node' | 'link' | 'drawing';

/** Drawings below this layer are below the links. */
export const LOWEST_UPON_LINKS = 1;

/** Key of the port at an end of a link. */
export function portKey(link: string, end: 0 | 1): string {
  return `${link} ${end}`;
}

/** A drawing during a resize. */
export interface Reshaped extends Point {
  shape: Shape;
}

export class Stage {
  readonly host: HTMLElement;
  readonly context: LabContext;
  /** The map's element. Its pictures are stacked, so that a change in one does not repaint the others. */
  readonly root: HTMLDivElement;
  readonly grid: SVGGElement;
  /** Drawings below the links, links, nodes with other drawings, and temporary elements of gestures. */
  readonly layers: Readonly<Record<Layer | 'over', SVGGElement>>;
  /** The dragged objects. */
  readonly lifted: Lifted;
  readonly camera: Camera;
  /** Positions of dragged nodes and drawings; sent to the server at the end of the drag. */
  readonly held = new Map<string, Point>();
  /** Where objects were dropped that the server has not answered about: the next drag begins there. */
  readonly #sent = new Map<string, Point>();
  readonly heldLabels = new Map<string, Point>();
  /** Positions of port names relative to their nodes, by `portKey`. */
  readonly heldPorts = new Map<string, Point>();
  readonly reshaped = new Map<string, Reshaped>();
  readonly dirty = new Map<string, Kind>();
  /** Nodes that are dragged from now on, and look as before. */
  readonly raised = new Set<string>();
  readonly #flush: (isWhole: boolean) => void;
  /** How far keys have moved the selection from where it was dropped last. */
  #nudged: Point = { x: 0, y: 0 };
  #isPreview = false;
  #frame = 0;

  constructor(host: HTMLElement, context: LabContext, flush: (isWhole: boolean) => void) {
    this.host = host;
    this.context = context;
    this.root = document.createElement('div');
    this.root.className = 'topology';
    set(this.root, {
      role: 'listbox',
      tabindex: 0,
      'aria-multiselectable': 'true',
      'aria-label': WORDS.lab.topology,
      'aria-describedby': 'keys',
    });
    const worlds = Array.from({ length: 5 }, () => make('g', {}, make('svg', { role: 'presentation' }, this.root)));
    const [ground, border, upon, moved, over] = worlds as [
      SVGGElement,
      SVGGElement,
      SVGGElement,
      SVGGElement,
      SVGGElement,
    ];
    this.grid = make('g', { class: 'grid' }, ground);
    this.layers = {
      below: make('g', { class: 'drawings' }, ground),
      links: make('g', { class: 'links' }, ground),
      things: make('g', { class: 'things' }, upon),
      over: make('g', { class: 'over' }, over),
    };
    this.lifted = new Lifted(border, moved);
    host.append(this.root);
    this.camera = new Camera(host, this.root, worlds);
    this.#flush = (isWhole) => {
      cancelAnimationFrame(this.#frame);
      this.#frame = 0;
      flush(isWhole);
    };
  }

  stop(): void {
    cancelAnimationFrame(this.#frame);
    this.camera.stop();
    this.root.remove();
  }

  mark(kind: Kind, id: string): void {
    this.dirty.set(id, kind);
    this.ask();
  }

  /** Draws what is marked with the next frames. */
  ask(): void {
    this.#frame ||= requestAnimationFrame(() => this.#flush(false));
  }

  /** Puts back what a former drag has left among the dragged objects, as they all move with the next one. */
  #endFormer(): void {
    if (this.held.size === 0 && this.lifted.isAny) this.#flush(true);
  }

  /** Drawings below the links stay there during a drag. */
  #isLifted(id: string): boolean {
    return this.held.has(id) && (this.context.lab.drawings.get(id)?.z ?? LOWEST_UPON_LINKS) >= LOWEST_UPON_LINKS;
  }

  /** Puts the element of a node or drawing into its layer, at its height, or among the dragged objects. */
  put(layer: Layer, id: string, element: Element, height: number): void {
    if (this.#isLifted(id)) {
      if (element.parentNode === null) this.layers[layer].append(element);
      this.lifted.take('things', element, height);
      return;
    }
    this.lifted.putBack(element);
    putAt(this.layers[layer], element, height);
  }

  /** Where an element is drawn in its group: dragged objects are moved together by the group. */
  drawnAt(id: string, { x, y }: Point): Point {
    const { offset } = this.lifted;
    return this.#isLifted(id) ? { x: x - offset.x, y: y - offset.y } : { x, y };
  }

  /** The box of a node, also during a drag. */
  boxOf(node: NodeObject): Box {
    const { x, y } = this.held.get(node.node_id) ?? node;
    return { x, y, width: node.width, height: node.height };
  }

  /** The box of a drawing as drawn. */
  boxOfDrawing(drawing: DrawingObject, shape: Shape | undefined, size: { width: number; height: number }): Box {
    const { x, y } = this.reshaped.get(drawing.drawing_id) ?? this.held.get(drawing.drawing_id) ?? drawing;
    return { x, y, ...(shape ? sizeOf(shape) : size) };
  }

  /** The nearest point of the drawing grid, if the lab snaps to it. */
  onDrawingGrid({ x, y }: Point): Point {
    const project = this.context.lab.project.value;
    return snapped({ x, y, width: 0, height: 0 }, project?.snap_to_grid ? project.drawing_grid_size : 0);
  }

  /** Returns a port name to the server's position. */
  releasePort(link: string, end: 0 | 1): void {
    this.heldPorts.delete(portKey(link, end));
    this.mark('link', link);
  }

  /** What moves with the selection: it and what its groups hold, but nothing locked. */
  movable(): { nodes: NodeObject[]; drawings: DrawingObject[] } {
    const { context } = this;
    const [nodes, drawings] = [context.selectedNodes(), context.selectedDrawings()];
    const held = inGroups(drawings, context.lab);
    return {
      nodes: [...new Set([...nodes, ...held.nodes])].filter(({ locked }) => !locked),
      drawings: [...new Set([...drawings, ...held.drawings])].filter(({ locked }) => !locked),
    };
  }

  /** Drags the selection by this distance from where it was dropped last. `isFree`: do not snap. */
  hold(dx: number, dy: number, isFree: boolean): void {
    const { context } = this;
    this.#nudged = { x: 0, y: 0 };
    this.endPreview();
    this.#endFormer();
    const project = context.lab.project.value;
    const grid = (size: number | undefined): number => (isFree || !project?.snap_to_grid ? 0 : (size ?? 0));
    const [nodeGrid, drawingGrid] = [grid(project?.grid_size), grid(project?.drawing_grid_size)];
    const before = new Map([...this.held].map(([id, at]) => [id, this.drawnAt(id, at)]));
    let offset: Point | undefined;
    const put = (id: string, from: Point, to: Point): void => {
      offset ??= { x: to.x - from.x, y: to.y - from.y };
      this.held.set(id, to);
    };
    const { nodes, drawings } = this.movable();
    const move = (id: string, object: Point, size: { width: number; height: number }, step: number): void => {
      const from = this.#sent.get(id) ?? object;
      put(id, object, snapped({ x: from.x + dx, y: from.y + dy, ...size }, step));
    };
    for (const node of nodes) move(node.node_id, node, { width: node.width, height: node.height }, nodeGrid);
    for (const drawing of drawings) move(drawing.drawing_id, drawing, { width: 0, height: 0 }, drawingGrid);
    if (!offset) return;
    this.lifted.offset = offset;
    // All move together, except those that snap to a different grid line.
    for (const [id, to] of this.held) {
      const is = this.drawnAt(id, to);
      const node = context.lab.nodes.get(id);
      const was = before.get(id) ?? node;
      if (!node || was?.x !== is.x || was.y !== is.y) this.mark(node ? 'node' : 'drawing', id);
      else if (!before.has(id)) this.raised.add(id);
    }
    this.ask();
  }

  /** Moves the dragged selection on by this distance. */
  nudge(dx: number, dy: number): void {
    const way = { x: this.#nudged.x + dx, y: this.#nudged.y + dy };
    this.hold(way.x, way.y, true);
    this.#nudged = way;
  }

  /** Returns the dragged selection to the server's positions. */
  putBack(): void {
    this.#nudged = { x: 0, y: 0 };
    this.release([...this.held.keys()]);
  }

  /** Draws nodes at these corners without sending them; `keep` sends them. Replaces an earlier preview. */
  preview(places: ReadonlyMap<string, Point>): void {
    this.release([...this.held.keys()]);
    this.#endFormer();
    this.#isPreview = true;
    this.lifted.offset = { x: 0, y: 0 };
    for (const [id, place] of places) {
      this.held.set(id, place);
      this.mark('node', id);
    }
  }

  /** Removes the preview, if there is one. */
  endPreview(): void {
    if (!this.#isPreview) return;
    this.#isPreview = false;
    this.context.arranging.value = undefined;
    this.release([...this.held.keys()]);
  }

  /** Returns objects to the server's positions. */
  release(ids: readonly string[]): void {
    const { lab } = this.context;
    for (const id of ids) {
      this.held.delete(id);
      this.heldLabels.delete(id);
      this.reshaped.delete(id);
      this.mark(lab.drawings.has(id) ? 'drawing' : lab.links.has(id) ? 'link' : 'node', id);
    }
  }

  /** Sends the positions of dragged objects to the server; they are held until it has answered. */
  keep(): void {
    const { lab, attempt, history } = this.context;
    this.#isPreview = false;
    this.#nudged = { x: 0, y: 0 };
    const updates = [...this.held].flatMap(([id, { x, y }]) => {
      const kind = lab.nodes.has(id) ? ('node' as const) : ('drawing' as const);
      const object = lab[`${kind}s`].get(id);
      const now = object && (this.#sent.get(id) ?? object);
      return now && (now.x !== x || now.y !== y) ? [{ kind, id, fields: { x, y } }] : [];
    });
    const sent = [...this.held];
    for (const [id, at] of sent) this.#sent.set(id, at);
    const release = (): void => {
      for (const [id, at] of sent) if (this.#sent.get(id) === at) this.#sent.delete(id);
      // What has been taken up again meanwhile stays held.
      this.release(sent.flatMap(([id, at]) => (this.held.get(id) === at ? [id] : [])));
    };
    if (updates.length === 0) release();
    else void attempt(() => history.update(updates)).then(release);
  }

  /** Sends the new shape of a drawing to the server. */
  keepShape(id: string): void {
    const { attempt, history } = this.context;
    const reshaped = this.reshaped.get(id);
    if (!reshaped) return;
    const { x, y, shape } = reshaped;
    const update = { kind: 'drawing' as const, id, fields: { x, y, svg: writeShape(shape) } };
    void attempt(() => history.update([update])).then(() => this.release([id]));
  }
}
