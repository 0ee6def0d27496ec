// Drag gestures: pan, rectangle selection, move, connect, resize, move a label.

import { centreOf } from '../../layout/rectangles.ts';
import { type Drawn, resized, type Shape, spanned } from '../model/lab/drawing.ts';
import { type Box, isWithin, overlap, type Point, turned } from '../model/lab/geometry.ts';
import { DEFAULT_TOP, isUnplaced } from '../model/lab/label-place.ts';
import { NOTHING, type Selection } from '../model/lab/selection.ts';
import type { DrawingObject, LinkEnd, LinkObject, NodeObject } from '../model/server/types.ts';
import { Guides } from './guides.ts';
import { portKey, type Stage } from './stage.ts';
import { make, set } from './svg.ts';

export interface Grip {
  /** The pointer moved; the distances since the last event and since the press, in window pixels. */
  move(event: PointerEvent, step: Point, whole: Point): void;
  /** The pointer was released. */
  end(event: PointerEvent): void;
  /** The gesture was cancelled; revert everything. */
  cancel(): void;
}

export function panGrip(stage: Stage): Grip {
  return { move: (_event, step) => stage.camera.pan(step.x, step.y), end: () => {}, cancel: () => {} };
}

/** Moves the selection. Snaps to the grid, or to guides if the lab has none, unless Alt is held. */
export function moveGrip(stage: Stage): Grip {
  const { camera, context } = stage;
  const guides = new Guides(stage);
  return {
    move: (event, _step, whole) => {
      const way = { x: whole.x / camera.scale, y: whole.y / camera.scale };
      const isUnguided = event.altKey || context.lab.project.value?.snap_to_grid === true;
      const { x, y } = isUnguided ? guides.ignore(way) : guides.follow(way);
      stage.hold(x, y, event.altKey);
    },
    end: () => {
      guides.end();
      stage.keep();
    },
    cancel: () => {
      guides.end();
      stage.putBack();
    },
  };
}

/** Selects nodes touched by a rectangle and drawings inside it; `former` stay selected. */
export function rectangleGrip(
  stage: Stage,
  start: Point,
  former: Selection,
  boxOfDrawing: (d: DrawingObject) => Box,
): Grip {
  const element = make('rect', { class: 'rectangle' }, stage.layers.over);
  const { lab } = stage.context;
  return {
    move: (event) => {
      const now = stage.camera.toLab(event.clientX, event.clientY);
      const box = {
        x: Math.min(start.x, now.x),
        y: Math.min(start.y, now.y),
        width: Math.abs(now.x - start.x),
        height: Math.abs(now.y - start.y),
      };
      set(element, { ...box });
      const nodes = [...lab.nodes.values()].filter((node) => overlap(stage.boxOf(node), box));
      const drawings = [...lab.drawings.values()].filter((drawing) => isWithin(boxOfDrawing(drawing), box));
      stage.context.select({
        nodes: [...new Set([...former.nodes, ...nodes.map(({ node_id }) => node_id)])],
        drawings: [...new Set([...former.drawings, ...drawings.map(({ drawing_id }) => drawing_id)])],
      });
    },
    end: () => element.remove(),
    cancel: () => {
      element.remove();
      stage.context.select({ ...NOTHING, ...former });
    },
  };
}

/** Draws a link from a node to the one where the pointer is released. */
export function connectGrip(
  stage: Stage,
  from: NodeObject,
  connect: (to: string, released: PointerEvent) => void,
): Grip {
  const start = centreOf(stage.boxOf(from));
  const line = make(
    'line',
    { class: 'new-link', x1: start.x, y1: start.y, x2: start.x, y2: start.y },
    stage.layers.over,
  );
  let target: Element | undefined;
  const aim = (element: Element | undefined): void => {
    target?.classList.remove('target');
    target = element;
    target?.classList.add('target');
  };
  const clear = (): void => {
    aim(undefined);
    line.remove();
  };
  return {
    move: ({ clientX, clientY }) => {
      const { x, y } = stage.camera.toLab(clientX, clientY);
      set(line, { x2: x, y2: y });
      const found = document.elementFromPoint(clientX, clientY)?.closest<SVGGElement>('[data-node]');
      aim(found && found.dataset['node'] !== from.node_id ? found : undefined);
    },
    end: (event) => {
      const to = (target as SVGGElement | undefined)?.dataset['node'];
      clear();
      if (to !== undefined) connect(to, event);
    },
    cancel: clear,
  };
}

/** Moves the label of a node. */
export function labelGrip(stage: Stage, node: NodeObject): Grip {
  const { context, camera } = stage;
  const id = node.node_id;
  const text = stage.root.querySelector<SVGTextElement>(`#node-${id} .name`);
  // A name beside its symbol gets a fixed position where its text starts now.
  const box = text?.getBBox() ?? node;
  const start = {
    x: node.label.x ?? Math.round(box.x - node.x),
    y: isUnplaced(node.label, node.height) ? Math.round(box.y - node.y) : (node.label.y ?? DEFAULT_TOP),
  };
  return {
    move: (_event, _step, whole) => {
      const { x, y } = start;
      stage.heldLabels.set(id, {
        x: Math.round(x + whole.x / camera.scale),
        y: Math.round(y + whole.y / camera.scale),
      });
      stage.mark('node', id);
    },
    end: () => {
      const place = stage.heldLabels.get(id);
      if (!place) return;
      const fields = { label: { ...node.label, ...place } };
      void context
        .attempt(() => context.history.update([{ kind: 'node', id, fields }]))
        .then(() => stage.release([id]));
    },
    cancel: () => stage.release([id]),
  };
}

/** Moves the name of a port; its position is relative to the node. */
export function portLabelGrip(stage: Stage, link: LinkObject, end: 0 | 1, text: SVGTextElement): Grip {
  const { context, camera } = stage;
  const id = link.link_id;
  const node = context.lab.nodes.get(link.nodes[end].node_id);
  const box = text.getBBox();
  const start = { x: box.x - (node?.x ?? 0), y: box.y - (node?.y ?? 0) };
  return {
    move: (_event, _step, whole) => {
      const [x, y] = [start.x + whole.x / camera.scale, start.y + whole.y / camera.scale];
      stage.heldPorts.set(portKey(id, end), { x: Math.round(x), y: Math.round(y) });
      stage.mark('link', id);
    },
    end: () => {
      const place = stage.heldPorts.get(portKey(id, end));
      if (!place) return;
      const fields = (now: Readonly<Record<string, unknown>>) => ({
        nodes: (now['nodes'] as LinkEnd[]).map((each, index) =>
          index === end ? { ...each, label: { ...each.label, ...place } } : each,
        ),
      });
      void context
        .attempt(() => context.history.update([{ kind: 'link', id, fields }]))
        .then(() => stage.releasePort(id, end));
    },
    cancel: () => stage.releasePort(id, end),
  };
}

/** Resizes a drawing by a handle. */
export function resizeGrip(stage: Stage, drawing: DrawingObject, shape: Shape, handle: string): Grip {
  const id = drawing.drawing_id;
  return {
    move: (_event, _step, whole) => {
      // In the drawing's coordinates, which may be rotated.
      const { scale } = stage.camera;
      const { x, y } = turned({ x: whole.x / scale, y: whole.y / scale }, -drawing.rotation);
      stage.reshaped.set(id, resized(drawing, shape, handle, { x: Math.round(x), y: Math.round(y) }));
      stage.mark('drawing', id);
    },
    end: () => stage.keepShape(id),
    cancel: () => stage.release([id]),
  };
}

/** Draws a shape from the press point; snaps to the drawing grid unless Alt is held; regular with Shift. */
export function drawGrip(stage: Stage, kind: Drawn, start: Point): Grip {
  const { context, camera } = stage;
  const element = make(kind, { class: 'new-shape' }, stage.layers.over);
  let drawn: ReturnType<typeof spanned> | undefined;
  return {
    move: (event) => {
      const onGrid = (point: Point): Point => (event.altKey ? point : stage.onDrawingGrid(point));
      const now = camera.toLab(event.clientX, event.clientY);
      drawn = spanned(kind, onGrid(start), onGrid(now), event.shiftKey);
      const { x, y, shape } = drawn;
      if (shape.kind === 'line') {
        set(element, { x1: x + shape.x1, y1: y + shape.y1, x2: x + shape.x2, y2: y + shape.y2 });
      } else if (shape.kind === 'rect') set(element, { x, y, width: shape.width, height: shape.height });
      else {
        const [rx, ry] = [shape.width / 2, shape.height / 2];
        set(element, { cx: x + rx, cy: y + ry, rx, ry });
      }
    },
    end: () => {
      element.remove();
      if (drawn) context.draw(drawn.shape, drawn);
    },
    cancel: () => element.remove(),
  };
}
