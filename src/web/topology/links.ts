// The links of the map: lines between nodes, curved for parallel links; states and names of their ports.
import { centreOf } from '../../layout/rectangles.ts';
import type { Point } from '../model/lab/geometry.ts';
import { dashesOf, readLinkStyle } from '../model/lab/label-style.ts';
import { portName } from '../model/lab/linked-ports.ts';
import type { LinkEnd, LinkObject, NodeObject } from '../model/server/types.ts';
import { drawMarks, type Marks, placeMarks } from './link-marks.ts';
import { portKey, type Stage } from './stage.ts';
import { make, set, setProperties, write } from './svg.ts';

/** Pixels between the middles of parallel links. */
const BOW = 36;
/** Pixels from a node's centre to the state of its port. */
const DOT = 42;
/** Pixels from the state of a port to its name. */
const LABEL = 22;

interface Sign {
  dot: SVGCircleElement;
  name: SVGTextElement;
}

interface LinkElements {
  group: SVGGElement;
  line: SVGPathElement;
  hit: SVGPathElement;
  /** States and names of both ports; made when the map is first near enough to show them. */
  signs: [Sign, Sign] | undefined;
  marks: Marks;
}

export class LinkLayer {
  readonly #elements = new Map<string, LinkElements>();
  /** How often links were added and removed. */
  changes = 0;
  /** Links with one dragged end. */
  readonly #atBorder = new Set<string>();
  readonly #stage: Stage;

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  group(id: string): SVGGElement | undefined {
    return this.#elements.get(id)?.group;
  }

  /** The middle of the line, if drawn. */
  middle(id: string): Point | undefined {
    return this.#elements.get(id)?.marks.middle;
  }

  draw(id: string): void {
    const { lab } = this.#stage.context;
    const link = lab.links.get(id);
    const [one, other] = link?.nodes.map((end) => lab.nodes.get(end.node_id)) ?? [];
    const found = this.#elements.get(id);
    if (!link || !one || !other) {
      if (found) this.#stage.lifted.remove(found.group);
      if (this.#elements.delete(id)) this.changes += 1;
      this.#atBorder.delete(id);
      return;
    }
    const elements = found ?? this.#make(id);
    if (!this.#stage.camera.isFar) elements.signs ??= makeSigns(elements.group);
    this.#put(id, elements.group, this.#stage.held.has(one.node_id), this.#stage.held.has(other.node_id));
    this.#place(link, elements, [one, other]);
    elements.group.classList.toggle('suspended', link.suspend);
    const style = readLinkStyle(link.link_style ?? {});
    // On the line only, so that selection and suspension stay visible.
    setProperties(elements.line, {
      '--colour': style.color ?? '',
      '--width': String(style.width ?? ''),
      '--dashes': dashesOf(style) ?? '',
    });
    for (const [index, { dot, name }] of elements.signs?.entries() ?? []) {
      const status = link.suspend ? 'suspended' : [one, other][index]!.status;
      set(dot, { 'data-status': status });
      write(name, `${this.#portLabel(link.nodes[index]!)} `);
    }
    drawMarks(this.#stage.context, link, elements.group, elements.marks);
  }

  /** Draws the states and names of ports, once the map is near enough to show them. */
  drawSigns(): void {
    if (this.#stage.camera.isFar) return;
    for (const [id, { signs }] of this.#elements) if (!signs) this.#stage.mark('link', id);
  }

  /** Puts a link where it belongs when one of its ends is dragged, without redrawing it. */
  lift(id: string): void {
    const elements = this.#elements.get(id);
    const [one, other] = this.#stage.context.lab.links.get(id)?.nodes ?? [];
    if (!elements || !one || !other) return;
    const { held } = this.#stage;
    this.#put(id, elements.group, held.has(one.node_id), held.has(other.node_id));
  }

  /** Redraws links with one dragged end, as far as they are seen; other dragged links move as a whole. */
  followHeld(): void {
    const { lab } = this.#stage.context;
    for (const id of this.#atBorder) {
      const link = lab.links.get(id);
      const [one, other] = link?.nodes.map((end) => lab.nodes.get(end.node_id)) ?? [];
      const elements = this.#elements.get(id);
      if (link && one && other && elements) this.#place(link, elements, [one, other], true);
    }
  }

  /** Puts a link with two dragged ends among the dragged objects, and one with one dragged end into their border. */
  #put(id: string, group: SVGGElement, isOneHeld: boolean, isOtherHeld: boolean): void {
    const { lifted } = this.#stage;
    const isAtBorder = isOneHeld !== isOtherHeld;
    if (isAtBorder) {
      this.#atBorder.add(id);
      lifted.take('border', group, 0);
      return;
    }
    this.#atBorder.delete(id);
    if (isOneHeld) lifted.take('links', group, 0);
    else lifted.putBack(group, this.#stage.layers.links);
  }

  /** Positions a link's line and labels. `isFollowing`: the next frame may position them again. */
  #place(link: LinkObject, elements: LinkElements, [one, other]: [NodeObject, NodeObject], isFollowing = false): void {
    const isAtBorder = this.#atBorder.has(link.link_id);
    const centre = (node: NodeObject): Point => {
      const box = this.#stage.boxOf(node);
      return centreOf({ ...box, ...(!isAtBorder && this.#stage.drawnAt(node.node_id, box)) });
    };
    const path = linkPath(centre(one), centre(other), this.#bow(link));
    set(elements.line, { d: path.line });
    // Each attribute costs the browser time, and a drag of many nodes has hundreds of links.
    if (!isFollowing) set(elements.hit, { d: path.line });
    if (isFollowing && this.#stage.camera.isFar) return;
    for (const index of [0, 1] as const) {
      const sign = elements.signs?.[index];
      if (!sign) continue;
      set(sign.dot, { cx: path.dots[index].x, cy: path.dots[index].y });
      this.#placePort(link, sign.name, index, { node: [one, other][index]!, at: path.labels[index] });
    }
    elements.marks.middle = path.middle;
    placeMarks(elements.marks);
  }

  /** A port name at its custom position relative to the node, otherwise at `at` on the line. */
  #placePort(
    link: LinkObject,
    text: SVGTextElement,
    index: 0 | 1,
    { node, at }: { node: NodeObject; at: Point },
  ): void {
    const { label } = link.nodes[index];
    const own = this.#stage.heldPorts.get(portKey(link.link_id, index)) ?? { x: label?.x, y: label?.y };
    const isPlaced = typeof own.x === 'number' && typeof own.y === 'number';
    const box = this.#stage.boxOf(node);
    const corner = this.#atBorder.has(link.link_id) ? box : this.#stage.drawnAt(node.node_id, box);
    text.classList.toggle('placed', isPlaced);
    set(text, isPlaced ? { x: corner.x + own.x!, y: corner.y + own.y! } : { x: at.x, y: at.y });
  }

  /** The text at a port: the user's, or the port's name. */
  #portLabel(end: LinkEnd): string {
    const written = end.label?.text;
    const isWritten = written !== undefined && written !== `${end.adapter_number}/${end.port_number}`;
    return isWritten ? written : portName(this.#stage.context.lab, end);
  }

  #make(id: string): LinkElements {
    const attributes = { class: 'link', role: 'option', id: `link-${id}`, 'data-link': id };
    const group = make('g', attributes, this.#stage.layers.links);
    const elements: LinkElements = {
      group,
      hit: make('path', { class: 'hit' }, group),
      line: make('path', { class: 'line' }, group),
      signs: undefined,
      marks: { middle: { x: 0, y: 0 } },
    };
    const isSelected = this.#stage.context.selection.value.link === id;
    group.classList.toggle('selected', isSelected);
    group.setAttribute('aria-selected', String(isSelected));
    this.#elements.set(id, elements);
    this.changes += 1;
    return elements;
  }

  /** Distance in pixels from the straight line, for parallel links. */
  #bow(link: LinkObject): number {
    const [one, other] = link.nodes.map(({ node_id: id }) => id) as [string, string];
    const parallel = this.#stage.context.lab
      .linksOf(one)
      .filter(({ nodes }) => nodes.some(({ node_id: id }) => id === other));
    if (parallel.length < 2) return 0;
    const at = parallel.findIndex(({ link_id }) => link_id === link.link_id);
    const turned = one < other ? 1 : -1;
    return (at - (parallel.length - 1) / 2) * BOW * turned;
  }
}

function makeSigns(group: SVGGElement): [Sign, Sign] {
  // The accessible name has this information.
  const sign = (end: 0 | 1): Sign => ({
    dot: make('circle', { class: 'dot', r: 4 }, group),
    name: make('text', { 'aria-hidden': 'true', class: 'port', 'data-end': end }, group),
  });
  return [sign(0), sign(1)];
}

interface LinkPath {
  line: string;
  dots: [Point, Point];
  labels: [Point, Point];
  middle: Point;
}

/** From centre to centre, curved; dots next to the nodes, port names further along. */
function linkPath(from: Point, to: Point, bow: number): LinkPath {
  const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
  const along = { x: (to.x - from.x) / length, y: (to.y - from.y) / length };
  const control = { x: (from.x + to.x) / 2 - along.y * bow * 2, y: (from.y + to.y) / 2 + along.x * bow * 2 };
  const at = (share: number): Point => ({
    x: (1 - share) ** 2 * from.x + 2 * share * (1 - share) * control.x + share ** 2 * to.x,
    y: (1 - share) ** 2 * from.y + 2 * share * (1 - share) * control.y + share ** 2 * to.y,
  });
  const dot = Math.min(DOT / length, 0.4);
  const label = Math.min((DOT + LABEL) / length, 0.45);
  return {
    line: `M${from.x} ${from.y}Q${control.x} ${control.y} ${to.x} ${to.y}`,
    dots: [at(dot), at(1 - dot)],
    labels: [at(label), at(1 - label)],
    middle: at(0.5),
  };
}
