// The map of a lab in plain SVG. Reads the model, draws changes once per frame, and handles gestures.
import { effect } from '@preact/signals';
import { around, centreOf } from '../../layout/rectangles.ts';
import type { LabContext, LabMap } from '../lab-context.ts';
import { type Box, isWithin, type Point } from '../model/lab/geometry.ts';
import { NOTHING } from '../model/lab/selection.ts';
import { DrawingLayer } from './drawings.ts';
import { type GestureEvents, Gestures } from './gestures.ts';
import { drawGrid } from './grid.ts';
import { Handles } from './handles.ts';
import { Keys } from './keys.ts';
import { LinkLayer } from './links.ts';
import { Minimap } from './minimap.ts';
import { NodeLayer } from './nodes.ts';
import { type Kind, Stage } from './stage.ts';

/** Pixels from the window's edge within which an object counts as barely visible. */
const BORDER = 20;

/** Pixels of the map below the templates in which a node can be seen. */
const LEAST_ROOM = 150;

/** How long (ms) a frame draws changes; the others follow with the next frames, so that a large lab does not block input. */
const DRAWING_MS = 16;

/** Changes drawn at once, whatever time they take. */
const LOT = 200;

/** Nodes, or links, that join a drag in one frame; the others follow with the next frames. */
const MOST_RAISED = 700;

/** Nodes that join a drag together with their links. Those of more follow with the next frame, so that no frame repaints all pictures. */
const MOST_RAISED_WITH_LINKS = 100;

export class TopologyMap implements LabMap {
  readonly #context: LabContext;
  readonly #stage: Stage;
  readonly #nodes: NodeLayer;
  readonly #links: LinkLayer;
  readonly #drawings: DrawingLayer;
  readonly #handles: Handles;
  readonly #gestures: Gestures;
  readonly #keys: Keys;
  readonly #minimap: Minimap;
  readonly #ends: (() => void)[] = [];
  /** Links of raised nodes that have not joined the drag yet. */
  readonly #raisedLinks = new Set<string>();
  #marked = NOTHING;
  #fitted = false;

  constructor(host: HTMLElement, context: LabContext, events: Omit<GestureEvents, 'boxOfDrawing'>) {
    this.#context = context;
    const stage = new Stage(host, context, (isWhole) => this.#flush(isWhole));
    this.#stage = stage;
    this.#nodes = new NodeLayer(stage);
    this.#links = new LinkLayer(stage);
    this.#drawings = new DrawingLayer(stage);
    this.#handles = new Handles(stage);
    this.#keys = new Keys(stage);
    this.#minimap = new Minimap(stage);
    this.#gestures = new Gestures(stage, this.#handles, {
      ...events,
      boxOfDrawing: (drawing) => this.#drawings.box(drawing),
    });
    stage.camera.changed = () => this.#minimap.mark();
    stage.camera.drawn = () => {
      this.#links.followHeld();
      stage.lifted.draw(stage.camera.scale);
      this.#nodes.spreadNames(true, this.#links.changes, performance.now());
      this.#links.drawSigns();
    };
    const resize = new ResizeObserver(() => stage.camera.resized());
    resize.observe(host);
    this.#ends.push(
      context.lab.listen((kind, id) => stage.mark(kind, id)),
      effect(() => this.#markSelected()),
      effect(() => this.#applySettings()),
      () => resize.disconnect(),
    );
    this.#markAll();
    // The first object of an empty lab must not move the view.
    if (this.#isEmpty) {
      this.#fitted = true;
      this.fit();
    }
  }

  get #isEmpty(): boolean {
    const { nodes, drawings } = this.#context.lab;
    return nodes.size + drawings.size === 0;
  }

  stop(): void {
    for (const end of this.#ends) end();
    this.#gestures.stop();
    this.#minimap.stop();
    this.#stage.stop();
  }

  #markAll(): void {
    const { nodes, links, drawings } = this.#context.lab;
    for (const id of drawings.keys()) this.#stage.mark('drawing', id);
    for (const id of nodes.keys()) this.#stage.mark('node', id);
    for (const id of links.keys()) this.#stage.mark('link', id);
  }

  /** @param isWhole draws all that is marked, however long it takes; the sides of names can wait */
  #flush(isWhole: boolean): void {
    const until = performance.now() + DRAWING_MS;
    // First, as what is drawn depends on the scale.
    if (!this.#fitted && !this.#isEmpty) {
      this.#fitted = true;
      this.fit();
    }
    const { dirty } = this.#stage;
    const links = new Set<string>();
    do this.#drawLot(links);
    while (dirty.size > 0 && (isWhole || performance.now() < until));
    this.#raise(links);
    const isDone = dirty.size === 0 && this.#nodes.spreadNames(false, this.#links.changes, until);
    if (!isDone) this.#stage.ask();
    this.#links.followHeld();
    this.#stage.lifted.draw(this.#stage.camera.scale);
    this.#handles.draw();
    this.#minimap.markNodes();
  }

  /** Draws the first `LOT` marked objects, and adds the links that it draws to `drawn`. */
  #drawLot(drawn: Set<string>): void {
    const { lab } = this.#context;
    const { dirty } = this.#stage;
    const lot = new Map<string, Kind>();
    for (const [id, kind] of dirty) {
      if (lot.size === LOT) break;
      lot.set(id, kind);
      dirty.delete(id);
    }
    const links = new Set<string>();
    const gone: string[] = [];
    for (const [id, kind] of lot) {
      if (kind === 'drawing') this.#drawings.draw(id);
      else if (kind === 'link') links.add(id);
      else for (const { link_id } of lab.linksOf(id)) links.add(link_id);
      if (!lab[`${kind}s`].has(id)) gone.push(id);
    }
    for (const id of links) {
      const ends = lab.links.get(id)?.nodes ?? [];
      // It is drawn with the last of its ends.
      if (ends.some(({ node_id }) => dirty.has(node_id))) {
        if (lot.get(id) === 'link') dirty.set(id, 'link');
        continue;
      }
      this.#links.draw(id);
      drawn.add(id);
      // A node's description includes the number of its links.
      if (lot.get(id) === 'link' || dirty.delete(id)) for (const { node_id } of ends) lot.set(node_id, 'node');
    }
    for (const [id, kind] of lot) if (kind === 'node') this.#nodes.draw(id);
    this.#forget(gone);
  }

  /** Moves nodes and links that are dragged from now on among the dragged objects, except those that were drawn there. */
  #raise(drawn: ReadonlySet<string>): void {
    const { dirty, raised } = this.#stage;
    const nodes = [...raised].slice(0, MOST_RAISED);
    for (const id of nodes) {
      raised.delete(id);
      if (dirty.has(id)) continue;
      this.#nodes.lift(id);
      for (const { link_id } of this.#context.lab.linksOf(id)) if (!drawn.has(link_id)) this.#raisedLinks.add(link_id);
    }
    const links = nodes.length > MOST_RAISED_WITH_LINKS ? [] : [...this.#raisedLinks].slice(0, MOST_RAISED);
    for (const id of links) {
      this.#raisedLinks.delete(id);
      this.#links.lift(id);
    }
    if (raised.size + this.#raisedLinks.size > 0) this.#stage.ask();
  }

  /** Deselects and releases deleted objects. */
  #forget(ids: readonly string[]): void {
    if (ids.length === 0) return;
    const { selection } = this.#context;
    for (const id of ids) {
      this.#stage.held.delete(id);
      this.#stage.reshaped.delete(id);
    }
    const { nodes, link, drawings } = selection.value;
    if (![...nodes, ...drawings, link].some((id) => id !== undefined && ids.includes(id))) return;
    this.#gestures.cancel();
    this.#context.select({
      nodes: nodes.filter((id) => !ids.includes(id)),
      drawings: drawings.filter((id) => !ids.includes(id)),
      link: link === undefined || ids.includes(link) ? undefined : link,
    });
  }

  #markSelected(): void {
    const now = this.#context.selection.value;
    const elements = ({ nodes, link, drawings }: typeof now) =>
      new Set(
        [
          ...nodes.map((id) => this.#nodes.elements.get(id)),
          ...drawings.map((id) => this.#drawings.elements.get(id)),
          link === undefined ? undefined : this.#links.group(link),
        ].filter((element) => element !== undefined),
      );
    const [former, chosen] = [elements(this.#marked), elements(now)];
    for (const element of former) {
      if (chosen.has(element)) continue;
      element.classList.remove('selected');
      element.setAttribute('aria-selected', 'false');
    }
    for (const element of chosen) {
      element.classList.add('selected');
      element.setAttribute('aria-selected', 'true');
    }
    this.#marked = now;
    this.#keys.follow();
    this.#handles.draw();
  }

  /** Applies the view settings of this browser and of the lab. */
  #applySettings(): void {
    const { view, lab } = this.#context;
    const project = lab.project.value;
    const { classList } = this.#stage.root;
    classList.toggle('no-labels', !view.isShown('labels'));
    classList.toggle('no-links', !view.isShown('links'));
    classList.toggle('ports', project?.show_interface_labels === true);
    drawGrid(this.#stage.grid, project);
    const showsLayers = project?.show_layers === true;
    if (classList.toggle('layered', showsLayers) || this.#stage.root.querySelector('.layer')) this.#markAll();
    this.#minimap.mark();
  }

  /** Handles a key press on the map. `otherwise` handles keys other than navigation; returns true if the key was handled. */
  press(event: KeyboardEvent, otherwise: () => boolean): boolean {
    if (event.key === 'Escape' && this.#leaveGesture()) return true;
    if (this.#keys.press(event)) {
      this.#keys.stopTyping();
      return true;
    }
    if (this.#keys.isTyping(event.timeStamp) && this.#keys.type(event)) return true;
    if (otherwise()) {
      this.#keys.stopTyping();
      return true;
    }
    return this.#keys.type(event);
  }

  /** Cancels a drag or a pending shape. True if there was one. */
  #leaveGesture(): boolean {
    const { drawing } = this.#context;
    const isLeft = this.#gestures.cancel() || drawing.value !== undefined;
    drawing.value = undefined;
    return isLeft;
  }

  focus(): void {
    this.#stage.root.focus({ preventScroll: true });
  }

  fit(): void {
    const { camera } = this.#stage;
    const all = this.#boxOf([...this.#context.lab.nodes.keys(), ...this.#context.lab.drawings.keys()]);
    camera.fit(all);
    // How large names are on the map follows from the scale.
    const withNames = all && around([all, ...this.#nodes.shownNames()]);
    if (withNames && !isWithin(withNames, camera.seen)) camera.fit(withNames);
  }

  zoom(factor: number): void {
    this.#stage.camera.zoom(factor);
  }

  actualSize(): void {
    this.zoom(1 / this.#stage.camera.scale);
  }

  showSelection(): void {
    const { nodes, drawings, link } = this.#context.selection.value;
    const ends = this.#context.lab.links.get(link ?? '')?.nodes.map(({ node_id }) => node_id) ?? [];
    const box = this.#boxOf([...nodes, ...drawings, ...ends]);
    if (box) this.#stage.camera.fit(box);
  }

  #boxOf(ids: readonly string[]): Box | undefined {
    const { nodes, drawings } = this.#context.lab;
    return around(
      ids.flatMap((id) => {
        const [node, drawing] = [nodes.get(id), drawings.get(id)];
        if (node) return this.#stage.boxOf(node);
        return drawing ? this.#drawings.box(drawing) : [];
      }),
    );
  }

  /** Of what the templates leave free beside or below them. */
  middle(): Point {
    const { camera, host } = this.#stage;
    const [map, palette] = [host.getBoundingClientRect(), host.querySelector('.palette')?.getBoundingClientRect()];
    const isBeside = palette && map.right - palette.right > palette.width;
    const isBelow = palette && !isBeside && map.bottom - palette.bottom > LEAST_ROOM;
    const { x, y } = centreOf(camera.seen);
    return {
      x: Math.round(x + (isBeside ? (palette.right - map.left) / 2 / camera.scale : 0)),
      y: Math.round(y + (isBelow ? (palette.bottom - map.top) / 2 / camera.scale : 0)),
    };
  }

  placeAt(clientX: number, clientY: number): Point | undefined {
    const { left, top, right, bottom } = this.#stage.host.getBoundingClientRect();
    const isInside = clientX >= left && clientX < right && clientY >= top && clientY < bottom;
    return isInside ? this.#stage.camera.toLab(clientX, clientY) : undefined;
  }

  pointOf(id: string | undefined): Point {
    const box = id === undefined ? undefined : this.#boxOf([id]);
    const at = box ? centreOf(box) : (id && this.#links.middle(id)) || centreOf(this.#stage.camera.seen);
    return this.#stage.camera.toWindow(at);
  }

  show(id: string): void {
    const box = this.#boxOf([id]);
    if (!box) return;
    const { seen, scale } = this.#stage.camera;
    const { x, y } = centreOf(box);
    const border = BORDER / scale;
    const isSeen =
      x > seen.x + border &&
      y > seen.y + border &&
      x < seen.x + seen.width - border &&
      y < seen.y + seen.height - border;
    if (!isSeen) this.#stage.camera.centre({ x, y });
  }

  /** Centres an object, and enlarges a map that is too small to read. */
  centre(id: string): void {
    const box = this.#boxOf([id]);
    if (!box) return;
    const { camera } = this.#stage;
    if (camera.isFar) camera.fit(box);
    else camera.centre(centreOf(box));
  }

  preview(places: ReadonlyMap<string, Point>): void {
    this.#stage.preview(places);
    const moved = this.#boxOf([...places.keys()]);
    const { seen } = this.#stage.camera;
    if (moved && !isWithin(moved, seen)) this.fit();
  }

  endPreview(): void {
    this.#stage.endPreview();
  }

  nudge(dx: number, dy: number): void {
    this.#stage.nudge(dx, dy);
  }

  keep(): void {
    this.#stage.keep();
  }

  putBack(): void {
    this.#stage.putBack();
  }
}
