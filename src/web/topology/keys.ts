// Keyboard navigation on the map. The map is one tab stop; `aria-activedescendant` names the current object for screen readers, so that the
// focus stays when another client deletes that object.
import { centreOf } from '../../layout/rectangles.ts';
import { compareNames } from '../language.ts';
import { nearest, type Point } from '../model/lab/geometry.ts';
import type { LinkObject, NodeObject } from '../model/server/types.ts';
import { toggled } from './gestures.ts';
import type { Stage } from './stage.ts';

/** Letters typed within this time form one name. */
const TYPING_MS = 1_000;
const STEP = 10;
const LARGE_STEP = 100;

const ARROWS: Readonly<Record<string, Point>> = {
  ArrowLeft: { x: -1, y: 0 },
  ArrowRight: { x: 1, y: 0 },
  ArrowUp: { x: 0, y: -1 },
  ArrowDown: { x: 0, y: 1 },
};

export class Keys {
  readonly #stage: Stage;
  /** The node that arrow keys start from, selected or not. */
  #node: string | undefined;
  /** Its link reached with the Tab key. */
  #link: string | undefined;
  /** The element that shows where the keys are, while the map has the focus by keyboard. */
  #marked: Element | null = null;
  #typed = '';
  #typedAt = 0;

  constructor(stage: Stage) {
    this.#stage = stage;
    for (const kind of ['focus', 'blur']) stage.root.addEventListener(kind, () => this.#mark());
  }

  /** Handles a change of the selection. */
  follow(): void {
    const { nodes, link, drawings } = this.#stage.context.selection.value;
    if (this.#node === undefined || !nodes.includes(this.#node)) this.#node = nodes.at(-1) ?? this.#node;
    this.#link = link;
    if (link !== undefined) {
      const ends = this.#stage.context.lab.links.get(link)?.nodes ?? [];
      if (!ends.some(({ node_id }) => node_id === this.#node)) this.#node = ends[0]?.node_id;
    }
    this.#show(nodes.length === 0 ? drawings.at(-1) : undefined);
  }

  #show(drawing?: string): void {
    const { root, context } = this.#stage;
    const id = this.#link
      ? `link-${this.#link}`
      : drawing
        ? `drawing-${drawing}`
        : context.lab.nodes.has(this.#node ?? '')
          ? `node-${this.#node}`
          : '';
    if (id !== '' && document.getElementById(id)) root.setAttribute('aria-activedescendant', id);
    else root.removeAttribute('aria-activedescendant');
    this.#mark();
  }

  /** A class of the element alone: a rule for all things below the focused map would look at each of them when the focus comes or goes. */
  #mark(): void {
    const { root } = this.#stage;
    const isSeen = root.matches(':focus-visible');
    const now = isSeen ? document.getElementById(root.getAttribute('aria-activedescendant') ?? '') : null;
    if (now === this.#marked) return;
    this.#marked?.classList.remove('current');
    now?.classList.add('current');
    this.#marked = now;
  }

  /** True if the key was handled. */
  press(event: KeyboardEvent): boolean {
    const { key } = event;
    const { context } = this.#stage;
    const arrow = ARROWS[key];
    if (context.moving.value) return this.#moves(event, arrow);
    if (arrow && !event.altKey) this.#go(arrow, event);
    else if (key === 'Home' || key === 'End') this.#goTo(this.#ordered().at(key === 'Home' ? 0 : -1), event);
    else if (key === ' ') this.#toggle();
    else if (key === 'Tab' && !event.ctrlKey && !event.altKey) return this.#nextLink(event.shiftKey ? -1 : 1);
    else return false;
    return true;
  }

  #moves(event: KeyboardEvent, arrow: Point | undefined): boolean {
    const { context } = this.#stage;
    if (arrow) {
      const step = event.shiftKey ? LARGE_STEP : STEP;
      context.map?.nudge(arrow.x * step, arrow.y * step);
    } else if (event.key === 'Enter') context.map?.keep();
    else if (event.key === 'Escape') context.map?.putBack();
    else return false;
    if (!arrow) context.moving.value = false;
    return true;
  }

  /** Nodes by name. */
  #ordered(): NodeObject[] {
    const { nodes } = this.#stage.context.lab;
    return [...nodes.values()].sort((a, b) => compareNames(a.name, b.name));
  }

  #current(): NodeObject | undefined {
    return this.#stage.context.lab.nodes.get(this.#node ?? '');
  }

  #go({ x, y }: Point, event: KeyboardEvent): void {
    const current = this.#current();
    if (!current) {
      this.#goTo(this.#ordered()[0], event);
      return;
    }
    const others = [...this.#stage.context.lab.nodes.values()]
      .filter((node) => node !== current)
      .map((node) => ({ node, at: centreOf(this.#stage.boxOf(node)) }));
    this.#goTo(nearest(centreOf(this.#stage.boxOf(current)), x, y, others)?.node, event);
  }

  /** Shift extends the selection; Ctrl keeps it. */
  #goTo(node: NodeObject | undefined, { shiftKey, ctrlKey }: { shiftKey: boolean; ctrlKey: boolean }): void {
    if (!node) return;
    const { context } = this.#stage;
    this.#node = node.node_id;
    this.#link = undefined;
    const { nodes, drawings } = context.selection.value;
    if (shiftKey) context.select({ nodes: [...new Set([...nodes, node.node_id])], drawings });
    else if (!ctrlKey) context.select({ nodes: [node.node_id] });
    this.#show();
    context.map?.show(node.node_id);
  }

  #toggle(): void {
    const { context } = this.#stage;
    if (this.#current()) context.select(toggled(context.selection.value, 'nodes', this.#node!));
  }

  /** Goes through a node's links; after the last one the Tab key leaves the map. */
  #nextLink(by: 1 | -1): boolean {
    const { context } = this.#stage;
    const current = this.#current();
    if (!current || context.linking.value) return false;
    const links: (LinkObject | undefined)[] = [undefined, ...context.lab.linksOf(current.node_id)];
    const at = links.findIndex((link) => link?.link_id === this.#link) + by;
    const next = links[at];
    if (at < 0 || at >= links.length) return false;
    context.select(next ? { link: next.link_id } : { nodes: [current.node_id] });
    return true;
  }

  /** Letters without a verb start a name to jump to, and following letters extend it. True if a node matches. */
  type(event: KeyboardEvent): boolean {
    const { key, timeStamp } = event;
    if (key.length !== 1 || key === ' ' || event.ctrlKey || event.metaKey || event.altKey) return false;
    this.#typed = (this.isTyping(timeStamp) ? this.#typed : '') + key.toLowerCase();
    this.#typedAt = timeStamp;
    const found = this.#ordered().find(({ name }) => name.toLowerCase().startsWith(this.#typed));
    this.#goTo(found, { shiftKey: false, ctrlKey: false });
    return found !== undefined;
  }

  /** Whether a name is being typed. */
  isTyping(now: number): boolean {
    return this.#typed !== '' && now - this.#typedAt < TYPING_MS;
  }

  /** Ends the typed name. */
  stopTyping(): void {
    this.#typed = '';
  }
}
