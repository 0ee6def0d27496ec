// The picture of a lab in plain SVG. It reads the model, draws what changed once a frame, and reports what hands do.
import type { LabMap } from '../lab-context.ts';
import type { Lab } from '../model/lab.ts';
import { NOTHING, type Selection } from '../model/selection.ts';
import type { LinkObject, NodeObject } from '../model/types.ts';
import { symbolPicture } from './symbols.ts';
import { type View, zoomedAt } from './view.ts';

const SVG = 'http://www.w3.org/2000/svg';
/** The picture is larger than its window by this share on each side, so that a gesture can move it as a whole. */
const MARGIN = 0.25;
/** A gesture that has rested for this time is over: the picture is drawn sharply again. */
const SETTLED_MS = 120;
/** A picture that was enlarged by more than this is drawn anew within the gesture. */
const COARSE = 1.8;
/** Below this scale names and port states are too small to be read. */
const FAR = 0.45;
/** Pixels that a pressed pointer may tremble and still be a click. */
const STILL = 4;
const GRID = 25;

export interface MapEvents {
  select(chosen: Selection): void;
  open(nodeId: string): void;
  moved(nodes: readonly NodeObject[]): void;
}

interface Gesture {
  pointer: number;
  startX: number;
  startY: number;
  x: number;
  y: number;
  node: string | undefined;
  moving: boolean;
}

function make<K extends keyof SVGElementTagNameMap>(
  name: K,
  attributes: Record<string, string | number>,
  parent?: Element,
): SVGElementTagNameMap[K] {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  parent?.append(element);
  return element;
}

interface LinkElements {
  group: SVGGElement;
  line: SVGPathElement;
  hit: SVGPathElement;
  dots: [SVGCircleElement, SVGCircleElement];
  mark: SVGTextElement;
}

export class TopologyMap implements LabMap {
  readonly #host: HTMLElement;
  readonly #lab: Lab;
  readonly #events: MapEvents;
  readonly #svg: SVGSVGElement;
  readonly #world: SVGGElement;
  readonly #layers: Record<'drawings' | 'links' | 'nodes', SVGGElement>;
  readonly #nodes = new Map<string, SVGGElement>();
  readonly #links = new Map<string, LinkElements>();
  readonly #drawings = new Map<string, SVGElement>();
  /** Where nodes are that a hand holds: the server is told when it lets go. */
  readonly #held = new Map<string, { x: number; y: number }>();
  readonly #dirty = new Map<string, 'node' | 'link' | 'drawing'>();
  readonly #unlisten: () => void;
  readonly #resize: ResizeObserver;
  #frame = 0;
  #view: View = { x: 0, y: 0, scale: 1 };
  /** What the SVG was drawn with last; a gesture moves the element as a whole from there. */
  #drawn: View = { x: 0, y: 0, scale: 1 };
  #settle: ReturnType<typeof setTimeout> | undefined;
  #gesture: Gesture | undefined;
  #selected: readonly string[] = [];
  #selectedLink: string | undefined;
  #fitted = false;

  constructor(host: HTMLElement, lab: Lab, events: MapEvents) {
    this.#host = host;
    this.#lab = lab;
    this.#events = events;
    this.#svg = make('svg', { class: 'topology' });
    this.#svg.setAttribute('role', 'presentation');
    this.#world = make('g', {}, this.#svg);
    this.#layers = {
      drawings: make('g', { class: 'drawings' }, this.#world),
      links: make('g', { class: 'links' }, this.#world),
      nodes: make('g', { class: 'nodes' }, this.#world),
    };
    host.append(this.#svg);
    this.#unlisten = lab.listen((kind, id) => this.#mark(kind, id));
    for (const id of lab.drawings.keys()) this.#mark('drawing', id);
    for (const id of lab.nodes.keys()) this.#mark('node', id);
    for (const id of lab.links.keys()) this.#mark('link', id);
    host.addEventListener('pointerdown', this.#down);
    host.addEventListener('pointermove', this.#move);
    host.addEventListener('pointerup', this.#up);
    host.addEventListener('pointercancel', this.#up);
    host.addEventListener('dblclick', this.#double);
    host.addEventListener('wheel', this.#wheel, { passive: false });
    this.#resize = new ResizeObserver(() => this.#draw());
    this.#resize.observe(host);
  }

  stop(): void {
    this.#unlisten();
    this.#resize.disconnect();
    cancelAnimationFrame(this.#frame);
    clearTimeout(this.#settle);
    this.#svg.remove();
  }

  focus(): void {
    this.#host.focus();
  }

  select({ nodes: ids, link }: Selection): void {
    for (const id of this.#selected) this.#nodes.get(id)?.classList.remove('selected');
    if (this.#selectedLink) this.#links.get(this.#selectedLink)?.group.classList.remove('selected');
    this.#selected = ids;
    this.#selectedLink = link;
    for (const id of ids) this.#nodes.get(id)?.classList.add('selected');
    if (link) this.#links.get(link)?.group.classList.add('selected');
  }

  /** Shows the whole lab. */
  fit(): void {
    const nodes = [...this.#lab.nodes.values()];
    const { clientWidth: width, clientHeight: height } = this.#host;
    if (nodes.length === 0 || width === 0) {
      this.#view = { x: width / 2, y: height / 2, scale: 1 };
    } else {
      const left = Math.min(...nodes.map(({ x }) => x)) - 30;
      const top = Math.min(...nodes.map(({ y }) => y)) - 40;
      const right = Math.max(...nodes.map((node) => node.x + node.width)) + 30;
      const bottom = Math.max(...nodes.map((node) => node.y + node.height)) + 30;
      const scale = Math.min(width / (right - left), height / (bottom - top), 1);
      this.#view = {
        x: width / 2 - ((left + right) / 2) * scale,
        y: height / 2 - ((top + bottom) / 2) * scale,
        scale,
      };
    }
    this.#draw();
  }

  zoom(factor: number): void {
    this.#view = zoomedAt(this.#view, factor, this.#host.clientWidth / 2, this.#host.clientHeight / 2);
    this.#draw();
  }

  /** The place in the lab that the middle of the window shows. */
  middle(): { x: number; y: number } {
    const { x, y, scale } = this.#view;
    return {
      x: Math.round((this.#host.clientWidth / 2 - x) / scale),
      y: Math.round((this.#host.clientHeight / 2 - y) / scale),
    };
  }

  /** Brings a node into the window if it is outside. */
  show(id: string): void {
    const node = this.#lab.nodes.get(id);
    if (!node) return;
    const { x, y, scale } = this.#view;
    const { clientWidth: width, clientHeight: height } = this.#host;
    const at = { x: x + (node.x + node.width / 2) * scale, y: y + (node.y + node.height / 2) * scale };
    if (at.x > 20 && at.y > 20 && at.x < width - 20 && at.y < height - 20) return;
    this.#view = { scale, x: x + width / 2 - at.x, y: y + height / 2 - at.y };
    this.#draw();
  }

  #mark(kind: 'node' | 'link' | 'drawing', id: string): void {
    this.#dirty.set(id, kind);
    this.#frame ||= requestAnimationFrame(this.#flush);
  }

  readonly #flush = (): void => {
    this.#frame = 0;
    const links = new Set<string>();
    for (const [id, kind] of this.#dirty) {
      if (kind === 'drawing') this.#drawDrawing(id);
      else if (kind === 'link') links.add(id);
      else {
        this.#drawNode(id);
        for (const { link_id } of this.#lab.linksOf(id)) links.add(link_id);
      }
    }
    this.#dirty.clear();
    for (const id of links) this.#drawLink(id);
    if (!this.#fitted && this.#lab.nodes.size > 0) {
      this.#fitted = true;
      this.fit();
    }
  };

  #place(node: NodeObject): { x: number; y: number } {
    return this.#held.get(node.node_id) ?? node;
  }

  #drawNode(id: string): void {
    const node = this.#lab.nodes.get(id);
    let group = this.#nodes.get(id);
    if (!node) {
      group?.remove();
      this.#nodes.delete(id);
      return;
    }
    if (!group) {
      group = make('g', { class: 'node', 'data-node': id }, this.#layers.nodes);
      make('image', {}, group);
      make('circle', { class: 'state', r: 5 }, group);
      make('text', { class: 'name' }, group);
      this.#nodes.set(id, group);
      if (this.#selected.includes(id)) group.classList.add('selected');
    }
    const { x, y } = this.#place(node);
    group.setAttribute('transform', `translate(${x} ${y})`);
    group.setAttribute('data-status', node.status);
    const [picture, state, name] = group.children as unknown as [SVGImageElement, SVGCircleElement, SVGTextElement];
    picture.setAttribute('width', String(node.width));
    picture.setAttribute('height', String(node.height));
    if (picture.dataset['symbol'] !== node.symbol) {
      picture.dataset['symbol'] = node.symbol;
      void symbolPicture(node.symbol).then((address) => picture.setAttribute('href', address));
    }
    state.setAttribute('cx', String(node.width));
    state.setAttribute('cy', '0');
    name.textContent = node.label.text;
    name.setAttribute('x', String(node.label.x ?? node.width / 2));
    name.setAttribute('y', String((node.label.y ?? -20) + 13));
    name.setAttribute('text-anchor', node.label.x === null ? 'middle' : 'start');
  }

  #drawLink(id: string): void {
    const link = this.#lab.links.get(id);
    const ends = link?.nodes.map((end) => this.#lab.nodes.get(end.node_id));
    const [one, other] = ends ?? [];
    const found = this.#links.get(id);
    if (!link || !one || !other) {
      found?.group.remove();
      this.#links.delete(id);
      return;
    }
    const elements = found ?? this.#makeLink(id);
    const path = linkPath(this.#centre(one), this.#centre(other), this.#bow(link));
    elements.line.setAttribute('d', path.line);
    elements.hit.setAttribute('d', path.line);
    elements.group.classList.toggle('suspended', link.suspend);
    for (const [index, dot] of elements.dots.entries()) {
      dot.setAttribute('cx', String(path.dots[index]!.x));
      dot.setAttribute('cy', String(path.dots[index]!.y));
      dot.setAttribute('data-status', link.suspend ? 'suspended' : [one, other][index]!.status);
    }
    const marks = [link.capturing ? '●' : '', Object.keys(link.filters).length > 0 ? '▼' : '', link.suspend ? '‖' : ''];
    elements.mark.textContent = marks.join(' ').trim();
    elements.mark.setAttribute('x', String(path.middle.x));
    elements.mark.setAttribute('y', String(path.middle.y - 6));
  }

  #makeLink(id: string): LinkElements {
    const group = make('g', { class: 'link', 'data-link': id }, this.#layers.links);
    const elements: LinkElements = {
      group,
      hit: make('path', { class: 'hit' }, group),
      line: make('path', { class: 'line' }, group),
      dots: [make('circle', { class: 'dot', r: 4 }, group), make('circle', { class: 'dot', r: 4 }, group)],
      mark: make('text', { class: 'mark', 'text-anchor': 'middle' }, group),
    };
    if (this.#selectedLink === id) group.classList.add('selected');
    this.#links.set(id, elements);
    return elements;
  }

  #centre(node: NodeObject): { x: number; y: number } {
    const { x, y } = this.#place(node);
    return { x: x + node.width / 2, y: y + node.height / 2 };
  }

  /** Pixels by which a link leaves the straight line, since several join the same two nodes. */
  #bow(link: LinkObject): number {
    const key = pairOf(link);
    const parallel = this.#lab.linksOf(link.nodes[0].node_id).filter((other) => pairOf(other) === key);
    if (parallel.length < 2) return 0;
    const at = parallel.findIndex(({ link_id }) => link_id === link.link_id);
    const turned = link.nodes[0].node_id < link.nodes[1].node_id ? 1 : -1;
    return (at - (parallel.length - 1) / 2) * 36 * turned;
  }

  /** A drawing is a picture of its own: what it contains can run nothing here. */
  #drawDrawing(id: string): void {
    this.#drawings.get(id)?.remove();
    this.#drawings.delete(id);
    const drawing = this.#lab.drawings.get(id);
    if (!drawing) return;
    const size = /^\s*<svg\b[^>]*?\bheight="([\d.]+)"[^>]*?\bwidth="([\d.]+)"/.exec(drawing.svg);
    const other = /^\s*<svg\b[^>]*?\bwidth="([\d.]+)"[^>]*?\bheight="([\d.]+)"/.exec(drawing.svg);
    const width = Number(size?.[2] ?? other?.[1] ?? 100);
    const height = Number(size?.[1] ?? other?.[2] ?? 100);
    const named = drawing.svg.includes('xmlns=') ? drawing.svg : drawing.svg.replace('<svg', `<svg xmlns="${SVG}"`);
    const picture = make('image', {
      href: `data:image/svg+xml;charset=utf-8,${encodeURIComponent(named)}`,
      width,
      height,
      transform: `translate(${drawing.x} ${drawing.y}) rotate(${drawing.rotation})`,
    });
    this.#layers.drawings.append(picture);
    this.#drawings.set(id, picture);
  }

  readonly #down = (event: PointerEvent): void => {
    if (event.button !== 0 && event.button !== 1) return;
    const target = event.target as Element;
    // Panels that lie upon the picture take their own events.
    if (target !== this.#host && !this.#svg.contains(target)) return;
    const { clientX: x, clientY: y, pointerId: pointer } = event;
    const node = event.button === 0 ? target.closest<SVGGElement>('[data-node]')?.dataset['node'] : undefined;
    this.#gesture = { pointer, startX: x, startY: y, x, y, node, moving: false };
    this.#host.setPointerCapture(pointer);
    if (node !== undefined) {
      const more = event.ctrlKey || event.shiftKey || event.metaKey;
      if (more)
        this.#report(
          this.#selected.includes(node) ? this.#selected.filter((id) => id !== node) : [...this.#selected, node],
        );
      else if (!this.#selected.includes(node)) this.#report([node]);
      return;
    }
    const link = target.closest<SVGGElement>('[data-link]')?.dataset['link'];
    this.#report([], link);
  };

  #report(ids: readonly string[], link?: string): void {
    const chosen = { ...NOTHING, nodes: ids, link };
    this.select(chosen);
    this.#events.select(chosen);
  }

  readonly #move = (event: PointerEvent): void => {
    const gesture = this.#gesture;
    if (!gesture || event.pointerId !== gesture.pointer) return;
    const { clientX: x, clientY: y } = event;
    gesture.moving ||= Math.hypot(x - gesture.startX, y - gesture.startY) > STILL;
    if (!gesture.moving) return;
    if (gesture.node === undefined) {
      this.#view = { ...this.#view, x: this.#view.x + x - gesture.x, y: this.#view.y + y - gesture.y };
      this.#glide();
    } else {
      for (const id of this.#selected)
        this.#hold(id, (x - gesture.startX) / this.#view.scale, (y - gesture.startY) / this.#view.scale, event.altKey);
    }
    gesture.x = x;
    gesture.y = y;
  };

  #hold(id: string, dx: number, dy: number, free: boolean): void {
    const node = this.#lab.nodes.get(id);
    if (!node || node.locked) return;
    const snap = (value: number): number => (free ? Math.round(value) : Math.round(value / GRID) * GRID);
    const centre = { x: node.width / 2, y: node.height / 2 };
    this.#held.set(id, { x: snap(node.x + dx + centre.x) - centre.x, y: snap(node.y + dy + centre.y) - centre.y });
    this.#mark('node', id);
  }

  readonly #up = (event: PointerEvent): void => {
    const gesture = this.#gesture;
    if (!gesture || event.pointerId !== gesture.pointer) return;
    this.#gesture = undefined;
    const moved = [...this.#held].flatMap(([id, { x, y }]) => {
      const node = this.#lab.nodes.get(id);
      return node ? [{ ...node, x: Math.round(x), y: Math.round(y) }] : [];
    });
    if (moved.length === 0) return;
    if (event.type === 'pointercancel') this.release(moved.map(({ node_id }) => node_id));
    else this.#events.moved(moved);
  };

  /** Nodes are again where the server says. */
  release(ids: readonly string[]): void {
    for (const id of ids) {
      this.#held.delete(id);
      this.#mark('node', id);
    }
  }

  readonly #double = (event: MouseEvent): void => {
    // The pointer was captured, so that the event itself names the window only.
    const target = document.elementFromPoint(event.clientX, event.clientY);
    const node = target?.closest<SVGGElement>('[data-node]')?.dataset['node'];
    if (node !== undefined) this.#events.open(node);
  };

  readonly #wheel = (event: WheelEvent): void => {
    event.preventDefault();
    const { left, top } = this.#host.getBoundingClientRect();
    if (event.shiftKey) this.#view = { ...this.#view, x: this.#view.x - event.deltaY - event.deltaX };
    else this.#view = zoomedAt(this.#view, Math.exp(-event.deltaY / 400), event.clientX - left, event.clientY - top);
    this.#glide();
  };

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
      this.#draw();
      return;
    }
    const { style } = this.#svg;
    style.willChange = 'transform';
    style.transformOrigin = `${marginX}px ${marginY}px`;
    style.transform = `translate(${dx}px, ${dy}px) scale(${factor})`;
    clearTimeout(this.#settle);
    this.#settle = setTimeout(() => this.#draw(), SETTLED_MS);
  }

  #draw(): void {
    clearTimeout(this.#settle);
    const { clientWidth: width, clientHeight: height } = this.#host;
    const { style } = this.#svg;
    style.transform = '';
    style.willChange = '';
    this.#drawn = this.#view;
    const { x, y, scale } = this.#view;
    this.#svg.classList.toggle('far', scale < FAR);
    this.#world.setAttribute('transform', `translate(${x + width * MARGIN} ${y + height * MARGIN}) scale(${scale})`);
  }
}

/** The same for all links between the same two nodes. */
function pairOf({ nodes: [one, other] }: LinkObject): string {
  return [one.node_id, other.node_id].sort().join(' ');
}

interface Point {
  x: number;
  y: number;
}

/** From centre to centre, bowed aside; the dots stand beside the nodes. */
function linkPath(from: Point, to: Point, bow: number): { line: string; dots: [Point, Point]; middle: Point } {
  const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
  const along = { x: (to.x - from.x) / length, y: (to.y - from.y) / length };
  const control = { x: (from.x + to.x) / 2 - along.y * bow * 2, y: (from.y + to.y) / 2 + along.x * bow * 2 };
  const at = (share: number): Point => ({
    x: (1 - share) ** 2 * from.x + 2 * share * (1 - share) * control.x + share ** 2 * to.x,
    y: (1 - share) ** 2 * from.y + 2 * share * (1 - share) * control.y + share ** 2 * to.y,
  });
  const share = Math.min(42 / length, 0.4);
  return {
    line: `M${from.x} ${from.y}Q${control.x} ${control.y} ${to.x} ${to.y}`,
    dots: [at(share), at(1 - share)],
    middle: at(0.5),
  };
}
