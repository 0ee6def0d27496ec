// The nodes of the map: symbol, name, state.

import type { LoadFigures } from '../../api/node-loads.ts';
import { centreOf } from '../../layout/rectangles.ts';
import type { Box, Point } from '../model/lab/geometry.ts';
import { DEFAULT_TOP, GAP, isUnplaced, nameAt, nameSize, type Side, type Size } from '../model/lab/label-place.ts';
import { readStyle } from '../model/lab/label-style.ts';
import { loadInWords } from '../model/lab/node-load.ts';
import type { NodeObject } from '../model/server/types.ts';
import { STATUS, stateOf, typeInWords, WORDS } from '../words.ts';
import { choosingSides, type LinkLine, type NameBox, namesWithRoom } from './names.ts';
import type { Stage } from './stage.ts';
import { type Attributes, make, set, write } from './svg.ts';
import { symbolPicture } from './symbols.ts';

/** Pixels from the top of a label to its baseline. */
const ASCENT = 13;
/** Pixels from there to its lower edge. */
const DESCENT = 4;
/** Pixels between the two lines of a node's load. */
const LOAD_LINE = 13;
/** CPU load of one processor from which a node counts as busy. */
const BUSY_PERCENT = 90;

export class NodeLayer {
  readonly elements = new Map<string, SVGGElement>();
  readonly #stage: Stage;
  /** A name has moved or changed since `spreadNames`. */
  #isSpread = true;
  /** The sides of names that no user has put elsewhere. */
  #sides: ReadonlyMap<string, Side> = new Map();
  /** The choice of other sides, while it is going on. */
  #choosing: Generator<void, void> | undefined;
  /** For which number of changes of the links they were chosen. */
  #linkChanges = 0;
  /** The nodes whose names have room at a size; undefined if all have. */
  #room: { size: number; ids: ReadonlySet<string> | undefined } = { size: 1, ids: undefined };
  /** The last applied style of each label. */
  readonly #styles = new WeakMap<Element, string | null | undefined>();

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  draw(id: string): void {
    const { lab, selection } = this.#stage.context;
    const node = lab.nodes.get(id);
    let group = this.elements.get(id);
    if (!node) {
      if (group) this.#stage.lifted.remove(group);
      this.#isSpread = false;
      this.elements.delete(id);
      return;
    }
    if (!group) {
      group = make('g', { class: 'node', role: 'option', id: `node-${id}`, 'data-node': id });
      make('image', {}, group);
      make('circle', { class: 'state', r: 5 }, group);
      make('text', { class: 'name' }, group);
      this.elements.set(id, group);
      // Until it is known which names have room, as thousands of names take time.
      group.classList.toggle('unnamed', this.#stage.camera.nameSize > 1);
      const isSelected = selection.value.nodes.includes(id);
      set(group, { 'aria-selected': String(isSelected) });
      group.classList.toggle('selected', isSelected);
    }
    this.#stage.put('things', id, group, node.z);
    const { x, y } = this.#stage.drawnAt(id, this.#stage.boxOf(node));
    // Its elements have absolute places: a transform of each node would be a layer of its own to Chromium, 10 ms of each frame with 5,000 nodes.
    const place = `${x} ${y}`;
    const [picture, state, name] = group.children as unknown as [SVGImageElement, SVGCircleElement, SVGTextElement];
    const isSame =
      group.dataset['place'] === place &&
      name.textContent === node.label.text &&
      picture.getAttribute('width') === String(node.width);
    if (!isSame) this.#isSpread = false;
    set(group, {
      'data-place': place,
      'data-status': stateOf(node),
      'aria-label': this.#described(node),
    });
    group.classList.toggle('locked', node.locked);
    group.classList.toggle('halted', node.halt_reason !== undefined);
    set(picture, { x, y, width: node.width, height: node.height });
    const { symbol } = node;
    if (picture.dataset['symbol'] !== symbol) {
      picture.dataset['symbol'] = symbol;
      void symbolPicture(symbol).then((address) => {
        // The node may have another symbol by now.
        if (picture.dataset['symbol'] === symbol) picture.setAttribute('href', address);
      });
    }
    set(state, { cx: x + node.width, cy: y });
    // The tooltip says why the node was halted.
    if (node.halt_reason !== undefined) write(state.firstElementChild ?? make('title', {}, state), node.halt_reason);
    else if (state.firstElementChild) state.replaceChildren();
    this.#drawLabel(node, name, { x, y });
    this.#drawLayer(node, group, { x, y });
    this.#drawLoad(node, group, { x, y });
  }

  /** Puts a node that is dragged from now on among the dragged objects, without redrawing it. */
  lift(id: string): void {
    const [node, group] = [this.#stage.context.lab.nodes.get(id), this.elements.get(id)];
    if (node && group) this.#stage.put('things', id, group, node.z);
  }

  #described(node: NodeObject): string {
    const links = this.#stage.context.lab.linksOf(node.node_id).length;
    const locked = node.locked ? `, ${WORDS.lab.locked}` : '';
    const figures = this.#loadOf(node);
    const load = figures ? `, ${WORDS.node.load(...loadInWords(figures))}` : '';
    const halted = node.halt_reason === undefined ? '' : `, ${WORDS.node.halted}`;
    return `${node.name}, ${typeInWords(node.node_type)}, ${STATUS[stateOf(node)]}${halted}, ${WORDS.links.count(links)}${locked}${load}`;
  }

  #drawLabel(node: NodeObject, name: SVGTextElement, corner: Point): void {
    const { text, rotation, style } = node.label;
    const moved = this.#stage.heldLabels.get(node.node_id);
    const { x, y } = moved ?? node.label;
    write(name, text);
    const at = { x: corner.x + (x ?? node.width / 2), y: corner.y + (y ?? DEFAULT_TOP) + ASCENT };
    if (!moved && isUnplaced(node.label, node.height))
      set(
        name,
        nameBeside(this.#sides.get(node.node_id) ?? 'below', { ...corner, width: node.width, height: node.height }),
      );
    else set(name, { ...at, dy: 0, 'text-anchor': x == null ? 'middle' : 'start' });
    if (rotation) name.setAttribute('transform', `rotate(${rotation} ${at.x} ${at.y - ASCENT})`);
    else name.removeAttribute('transform');
    if (this.#styles.get(name) === style) return;
    this.#styles.set(name, style);
    const known = readStyle(style);
    Object.assign(name.style, {
      fontFamily: known.fontFamily ?? '',
      fontSize: known.fontSize ? `calc(${known.fontSize}px * var(--name-size, 1))` : '',
      fontWeight: known.fontWeight ?? '',
      fontStyle: known.fontStyle ?? '',
      fill: known.fill ?? '',
      fillOpacity: known.fillOpacity ?? '',
    });
  }

  /**
   * Moves names to the side where they cover least, and hides those for which there is no room at this scale. Dragged nodes keep what they show.
   * @param linkChanges how often links were added and removed until now
   * @param until when to leave the rest for the next call (`performance.now()`); the result says whether all is done
   */
  spreadNames(isZoomed: boolean, linkChanges: number, until: number): boolean {
    const { held, camera, context } = this.#stage;
    if (held.size > 0) return true;
    let isSpread = true;
    if (!this.#choosing && (!this.#isSpread || this.#linkChanges !== linkChanges)) {
      this.#isSpread = true;
      this.#linkChanges = linkChanges;
      this.#choosing = this.#chooseSides();
    }
    while (this.#choosing) {
      isSpread = false;
      if (this.#choosing.next().done) this.#choosing = undefined;
      else if (performance.now() > until) break;
    }
    // Nodes or links may have changed while the sides were chosen.
    const isDone = !this.#choosing && this.#isSpread && this.#linkChanges === linkChanges;
    if ((isSpread && !isZoomed) || !(isDone || isZoomed)) return isDone;
    const size = camera.nameSize;
    if (!isSpread || this.#room.size !== size)
      this.#room = { size, ids: size > 1 ? namesWithRoom(this.#nameBoxes(size)) : undefined };
    const { ids: shown } = this.#room;
    for (const [id, { classList }] of this.elements) {
      const isUnnamed = shown !== undefined && !shown.has(id) && !context.selection.peek().nodes.includes(id);
      if (classList.contains('unnamed') !== isUnnamed) classList.toggle('unnamed', isUnnamed);
    }
    return isDone;
  }

  /** Pauses now and then. */
  *#chooseSides(): Generator<void, void> {
    const { lab } = this.#stage.context;
    const nodes = [...lab.nodes.values()].map((node) => {
      const size = nameSize(node.label);
      return {
        id: node.node_id,
        rank: lab.linksOf(node.node_id).length,
        symbol: node,
        size,
        placed: isUnplaced(node.label, node.height) ? undefined : placedName(node, size),
      };
    });
    yield;
    const links = [...lab.links.values()].flatMap(({ nodes: [one, other] }): LinkLine[] => {
      const [from, to] = [lab.nodes.get(one.node_id), lab.nodes.get(other.node_id)];
      if (!from || !to) return [];
      return [{ ends: [one.node_id, other.node_id], from: centreOf(from), to: centreOf(to) }];
    });
    const former = this.#sides;
    this.#sides = yield* choosingSides(nodes, links);
    for (const [id, side] of this.#sides) {
      if ((former.get(id) ?? 'below') === side) continue;
      const [node, group] = [lab.nodes.get(id), this.elements.get(id)];
      if (node && group) this.#drawLabel(node, group.children[2] as SVGTextElement, this.#stage.drawnAt(id, node));
    }
  }

  /** The places of all names that are shown. */
  shownNames(): Box[] {
    return this.#nameBoxes(this.#stage.camera.nameSize).flatMap(({ id, name }) =>
      this.elements.get(id)?.classList.contains('unnamed') ? [] : [name],
    );
  }

  #nameBoxes(scale: number): NameBox[] {
    const { lab } = this.#stage.context;
    return [...lab.nodes.values()].map((node) => {
      const { width, height } = nameSize(node.label);
      const size = { width: width * scale, height: height * scale };
      const side = this.#sides.get(node.node_id);
      return {
        id: node.node_id,
        rank: lab.linksOf(node.node_id).length,
        symbol: node,
        name: side ? nameAt(side, node, size) : placedName(node, size),
      };
    });
  }

  #loadOf({ node_id: id }: NodeObject): LoadFigures | undefined {
    const { load, hasLoad } = this.#stage.context;
    return hasLoad.peek() ? load.figures.peek().get(id) : undefined;
  }

  /** Draws CPU and memory beside the node, if they are shown and it has a process of its own. */
  #drawLoad(node: NodeObject, group: SVGGElement, { x, y }: Point): void {
    const figures = this.#loadOf(node);
    const found = group.querySelector<SVGGElement>('.load');
    if (!figures) {
      found?.remove();
      return;
    }
    const shown = found ?? make('g', { class: 'load' }, group);
    // Below the middle, where fewer links arrive.
    shown.classList.toggle('busy', (figures.cpu_usage_percent ?? 0) >= BUSY_PERCENT);
    for (const [line, text] of loadInWords(figures).entries()) {
      const element = shown.children[line] ?? make('text', {}, shown);
      set(element, { x: x + node.width + 4, y: y + node.height + (line - 0.5) * LOAD_LINE });
      write(element, text);
    }
  }

  /** Draws the number of the node's layer, if the lab shows layers. */
  #drawLayer(node: NodeObject, group: SVGGElement, { x, y }: Point): void {
    const isShown = this.#stage.context.lab.project.value?.show_layers === true;
    const found = group.querySelector('.layer');
    if (!isShown) found?.remove();
    else {
      const middle = { x: x + node.width / 2, y: y + node.height / 2 };
      set(found ?? make('text', { class: 'layer' }, group), middle);
    }
    const text = group.querySelector('.layer');
    if (text) write(text, String(node.z));
  }
}

/** The place of a name that a user has put somewhere: its baseline stays, however large it is drawn. */
function placedName({ x, y, width, label }: NodeObject, size: Size): Box {
  const bottom = y + (label.y ?? DEFAULT_TOP) + ASCENT + DESCENT;
  return { x: x + (label.x ?? (width - size.width) / 2), y: bottom - size.height, ...size };
}

/** Attributes of a name on a side of its symbol; it grows away from it when it is drawn larger. */
function nameBeside(side: Side, { x, y, width, height }: Box): Attributes {
  const [middle, centre] = [y + height / 2, x + width / 2];
  return {
    below: { x: centre, y: y + height + GAP, dy: '0.95em', 'text-anchor': 'middle' },
    above: { x: centre, y: y - GAP, dy: '-0.25em', 'text-anchor': 'middle' },
    right: { x: x + width + GAP, y: middle, dy: '0.35em', 'text-anchor': 'start' },
    left: { x: x - GAP, y: middle, dy: '0.35em', 'text-anchor': 'end' },
  }[side];
}
