// Mouse, pen and touch gestures on the map.
import { newShape, readShape, sizeOf } from '../model/lab/drawing.ts';
import type { Box, Point } from '../model/lab/geometry.ts';
import { NOTHING, type Selection } from '../model/lab/selection.ts';
import type { DrawingObject } from '../model/server/types.ts';
import {
  connectGrip,
  drawGrip,
  type Grip,
  labelGrip,
  moveGrip,
  panGrip,
  portLabelGrip,
  rectangleGrip,
  resizeGrip,
} from './grips.ts';
import type { Handles } from './handles.ts';
import { Pinch } from './pinch.ts';
import type { Stage } from './stage.ts';

/** Movement in pixels that still counts as a click. */
const STILL = 4;
/** Wheel pixels for a zoom by e (2.7). */
const WHEEL = 400;

export interface GestureEvents {
  /** A node was double-clicked. */
  open(nodeId: string): void;
  /** A link was drawn between two nodes, and the pointer released there. */
  connect(from: string, to: string, released: PointerEvent): void;
  boxOfDrawing(drawing: DrawingObject): Box;
}

interface Pressed {
  pointer: number;
  start: Point;
  last: Point;
  /** Called once the pointer really moves. */
  begin: () => Grip;
  /** Called if it does not move. */
  click?: () => void;
  grip: Grip | undefined;
}

type Target = { kind: 'node' | 'link' | 'drawing'; id: string } | undefined;

export class Gestures {
  readonly #stage: Stage;
  readonly #handles: Handles;
  readonly #events: GestureEvents;
  readonly #over = new AbortController();
  readonly #pinch: Pinch;
  /** The selection when the space bar was pressed, while it is held. */
  #beforeSpace: Selection | undefined;
  #pressed: Pressed | undefined;

  constructor(stage: Stage, handles: Handles, events: GestureEvents) {
    this.#stage = stage;
    this.#handles = handles;
    this.#events = events;
    this.#pinch = new Pinch(stage.camera);
    const { host } = stage;
    const { signal } = this.#over;
    host.addEventListener('pointerdown', this.#down, { signal });
    host.addEventListener('pointermove', this.#move, { signal });
    host.addEventListener('pointerup', this.#up, { signal });
    host.addEventListener('pointercancel', this.#up, { signal });
    host.addEventListener('pointerover', this.#hover, { signal });
    host.addEventListener('dblclick', this.#double, { signal });
    host.addEventListener('contextmenu', this.#menu, { signal });
    host.addEventListener('wheel', this.#wheel, { signal, passive: false });
    // Before the map handles the key.
    host.addEventListener('keydown', this.#spaceDown, { signal, capture: true });
    addEventListener('keyup', this.#spaceUp, { signal });
    addEventListener('blur', this.#spaceUp, { signal });
  }

  stop(): void {
    this.#over.abort();
  }

  /** Cancels the current gesture. True if there was one. */
  cancel(): boolean {
    const grip = this.#pressed?.grip;
    this.#pressed = undefined;
    grip?.cancel();
    return grip !== undefined;
  }

  #isMap(target: Element): boolean {
    return target === this.#stage.host || this.#stage.root.contains(target);
  }

  readonly #down = (event: PointerEvent): void => {
    if (event.button !== 0 && event.button !== 1) return;
    const target = event.target as Element;
    // Panels on the map handle their own events.
    if (!this.#isMap(target)) return;
    if (this.#pinch.down(event)) {
      event.preventDefault();
      // A second finger cancels the gesture of the first: two fingers pan and zoom.
      this.cancel();
      this.#stage.host.setPointerCapture(event.pointerId);
    }
    if (this.#pressed || this.#pinch.isOn) return;
    const { clientX: x, clientY: y, pointerId: pointer } = event;
    this.#stage.root.focus({ preventScroll: true });
    // Otherwise the browser selects text or moves the focus.
    event.preventDefault();
    this.#stage.context.menu.value = undefined;
    const isPan = event.button === 1 || this.#beforeSpace !== undefined;
    const drawn = isPan ? undefined : this.#drawn({ x, y });
    const begin = isPan ? () => this.#pan() : (drawn?.begin ?? this.#grip(target, event));
    this.#pressed = { pointer, start: { x, y }, last: { x, y }, begin, grip: undefined, ...drawn };
    this.#stage.host.setPointerCapture(pointer);
  };

  /** The gesture that draws a shape, if one is to be drawn; it takes precedence over objects here. */
  #drawn(at: Point): Pick<Pressed, 'begin' | 'click'> | undefined {
    const { camera, context } = this.#stage;
    const kind = context.drawing.value;
    if (!kind) return undefined;
    const start = camera.toLab(at.x, at.y);
    const click = (): void => {
      const shape = newShape(kind);
      const { width, height } = sizeOf(shape);
      context.draw(shape, this.#stage.onDrawingGrid({ x: start.x - width / 2, y: start.y - height / 2 }));
    };
    return { begin: () => drawGrip(this.#stage, kind, start), click };
  }

  /** Panning with the space bar restores the selection that the key has changed. */
  #pan(): Grip {
    if (this.#beforeSpace) this.#stage.context.selection.value = this.#beforeSpace;
    return panGrip(this.#stage);
  }

  readonly #spaceDown = (event: KeyboardEvent): void => {
    if (event.key !== ' ' || !this.#isMap(event.target as Element)) return;
    if (!this.#beforeSpace) this.#beforeSpace = this.#stage.context.selection.value;
    // Key repeat would toggle the selection.
    else if (event.repeat) {
      event.preventDefault();
      event.stopPropagation();
    }
  };

  readonly #spaceUp = (event: Event): void => {
    if (!(event instanceof KeyboardEvent) || event.key === ' ') this.#beforeSpace = undefined;
  };

  /** The gesture for moving the pressed pointer. A selection by click happens at once. */
  #grip(target: Element, event: PointerEvent): () => Grip {
    const stage = this.#stage;
    const { lab, selection } = stage.context;
    const mayChange = lab.whyNotChange === '';
    const port = lab.nodes.get(target.closest<SVGElement>('[data-port]')?.dataset['port'] ?? '');
    if (port && mayChange)
      return () => connectGrip(stage, port, (...end) => this.#events.connect(port.node_id, ...end));
    const handle = target.closest<SVGElement>('[data-handle]')?.dataset['handle'];
    const drawing = lab.drawings.get(selection.value.drawings[0] ?? '');
    const shape = drawing && readShape(drawing.svg);
    if (handle !== undefined && drawing && shape && mayChange) return () => resizeGrip(stage, drawing, shape, handle);
    const found = targetOf(target);
    const isMore = event.ctrlKey || event.metaKey || event.shiftKey;
    const before = selection.value;
    if (!found && event.shiftKey) {
      const start = stage.camera.toLab(event.clientX, event.clientY);
      return () => rectangleGrip(stage, start, event.ctrlKey ? before : NOTHING, this.#events.boxOfDrawing);
    }
    this.#select(found, isMore);
    if (!mayChange) return () => panGrip(stage);
    if (found?.kind === 'node') {
      const node = lab.nodes.get(found.id);
      const isAlone = before.nodes.length === 1 && before.nodes[0] === found.id;
      if (node && isAlone && target.classList.contains('name')) return () => labelGrip(stage, node);
    }
    const link = found?.kind === 'link' ? lab.links.get(found.id) : undefined;
    const name = target.closest<SVGTextElement>('.port');
    if (link && name) return () => portLabelGrip(stage, link, name.dataset['end'] === '0' ? 0 : 1, name);
    return found && found.kind !== 'link' ? () => moveGrip(stage) : () => panGrip(stage);
  }

  #select(found: Target, isMore: boolean): void {
    const { context } = this.#stage;
    const now = context.selection.value;
    if (!found) {
      if (!isMore) context.select({});
    } else if (found.kind === 'link') context.select({ link: found.id });
    else {
      const key = `${found.kind}s` as 'nodes' | 'drawings';
      const isSelected = now[key].includes(found.id);
      if (isMore) context.select(toggled(now, key, found.id));
      else if (!isSelected) context.select({ [key]: [found.id] });
    }
  }

  readonly #move = (event: PointerEvent): void => {
    this.#pinch.move(event);
    const pressed = this.#pressed;
    if (!pressed || event.pointerId !== pressed.pointer) return;
    const { clientX: x, clientY: y } = event;
    const whole = { x: x - pressed.start.x, y: y - pressed.start.y };
    if (!pressed.grip && Math.hypot(whole.x, whole.y) <= STILL) return;
    pressed.grip ??= pressed.begin();
    pressed.grip.move(event, { x: x - pressed.last.x, y: y - pressed.last.y }, whole);
    pressed.last = { x, y };
  };

  readonly #up = (event: PointerEvent): void => {
    this.#pinch.up(event);
    const pressed = this.#pressed;
    if (!pressed || event.pointerId !== pressed.pointer) return;
    this.#pressed = undefined;
    if (event.type === 'pointercancel') pressed.grip?.cancel();
    else if (pressed.grip) pressed.grip.end(event);
    else pressed.click?.();
    this.#handles.draw();
  };

  readonly #hover = (event: PointerEvent): void => {
    if (this.#pressed) return;
    const target = event.target as Element;
    const handle = target.closest<SVGElement>('[data-port]')?.dataset['port'];
    this.#handles.hover(handle ?? target.closest<SVGElement>('[data-node]')?.dataset['node']);
  };

  readonly #double = (event: MouseEvent): void => {
    // The pointer is captured, so the event's target is always the host.
    const found = targetOf(document.elementFromPoint(event.clientX, event.clientY));
    if (found?.kind === 'node') this.#events.open(found.id);
  };

  readonly #menu = (event: MouseEvent): void => {
    const target = document.elementFromPoint(event.clientX, event.clientY);
    if (!target || !this.#isMap(target)) return;
    event.preventDefault();
    const { selection } = this.#stage.context;
    const found = targetOf(target);
    const { nodes, drawings, link } = selection.value;
    if (!found || ![...nodes, ...drawings, link].includes(found.id)) this.#select(found, false);
    this.#stage.context.menu.value = { x: event.clientX, y: event.clientY };
  };

  readonly #wheel = (event: WheelEvent): void => {
    if (!this.#isMap(event.target as Element)) return;
    event.preventDefault();
    const { camera } = this.#stage;
    if (event.shiftKey) camera.pan(-event.deltaY - event.deltaX, 0);
    else camera.zoomAt(Math.exp(-event.deltaY / WHEEL), event.clientX, event.clientY);
  };
}

/** Adds an object to the selection, or removes it. */
export function toggled(now: Selection, key: 'nodes' | 'drawings', id: string): Selection {
  const ids = now[key].includes(id) ? now[key].filter((other) => other !== id) : [...now[key], id];
  return { ...NOTHING, nodes: now.nodes, drawings: now.drawings, [key]: ids };
}

function targetOf(element: Element | null): Target {
  const found = element?.closest<SVGElement>('[data-node], [data-link], [data-drawing]');
  if (!found) return undefined;
  const { node, link, drawing } = found.dataset;
  if (node !== undefined) return { kind: 'node', id: node };
  if (link !== undefined) return { kind: 'link', id: link };
  return { kind: 'drawing', id: drawing! };
}
