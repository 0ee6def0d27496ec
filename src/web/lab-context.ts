// Shared state of a lab's screen: the lab, the selection, open panels, and how requests are run.
import { signal } from '@preact/signals';
import { around } from '../layout/rectangles.ts';
import { DockEntries } from './dock/entries.ts';
import { remembered } from './model/browser/remembered.ts';
import { ViewSettings } from './model/browser/view-settings.ts';
import { type Drawn, pictureSize, type Shape, sizeOf, writeShape } from './model/lab/drawing.ts';
import { nodeTakes, takenIn, wayToRoom, withName } from './model/lab/free-place.ts';
import { type Box, type Point, snapped } from './model/lab/geometry.ts';
import { Lab } from './model/lab/lab.ts';
import { LoadOfNodes } from './model/lab/node-load.ts';
import { NOTHING, type Selection } from './model/lab/selection.ts';
import { otherNamesInWords } from './model/lab/taken-names.ts';
import { History } from './model/lab/undo.ts';
import { api } from './model/server/api.ts';
import { attempted } from './model/server/attempt.ts';
import type { DrawingObject, NodeObject, TemplateObject } from './model/server/types.ts';

/** Size in pixels of a node whose symbol cannot be measured. */
const USUAL_SIZE = { width: 66, height: 60 };
/** Pixels between an object and its copy. */
const COPY_GAP = 25;

/** What the map offers to other parts of the screen. */
export interface LabMap {
  /** Shows the whole lab. */
  fit(): void;
  zoom(factor: number): void;
  /** Scale 1:1. */
  actualSize(): void;
  /** Shows the selection as large as possible. */
  showSelection(): void;
  /** Scrolls a node or drawing into view. */
  show(id: string): void;
  /** Centres a node or drawing. */
  centre(id: string): void;
  /** The lab position at the middle of the window. */
  middle(): Point;
  /** The lab position at a point of the window; undefined outside the map. */
  placeAt(clientX: number, clientY: number): Point | undefined;
  /** The window position of an object, or of the middle. */
  pointOf(id: string | undefined): Point;
  focus(): void;
  /** Draws nodes at these positions without sending them to the server yet. */
  preview(places: ReadonlyMap<string, Point>): void;
  /** Removes the preview, if there is one. */
  endPreview(): void;
  /** Moves the selection without sending it to the server yet. */
  nudge(dx: number, dy: number): void;
  /** Sends the moved positions to the server. */
  keep(): void;
  /** Reverts moves that were not sent. */
  putBack(): void;
}

/** Shared by all screens. */
export interface PageContext {
  /** Shows another screen. */
  go(path: string): void;
}

/** A link being created. */
export interface Linking {
  /** The first node, once chosen. */
  from?: string;
  /** The second node, once confirmed. */
  to?: string;
  /** Where the ports are shown, in window pixels; in the corner of the map without it. */
  at?: Point;
  /** Takes the first free ports without asking. */
  isQuick?: boolean;
  /** The server rejected this link, so ask for the ports. */
  isRefused?: boolean;
}

/** What a narrow window shows. */
export type Pane = 'map' | 'lists' | 'details';

export class LabContext implements PageContext {
  readonly lab: Lab;
  readonly go: (path: string) => void;
  readonly selection = signal<Selection>(NOTHING);
  readonly dock = new DockEntries();
  /** Whether links show their rates. */
  readonly traffic = signal(false);
  /** Whether nodes show their CPU and memory. */
  readonly hasLoad = remembered<boolean>('labwire.load', false);
  readonly load: LoadOfNodes;
  /** Undo history. All changes of positions, names, labels, links and drawings go through it. */
  readonly history: History;
  readonly view = new ViewSettings();
  /** Whether the template palette is open. */
  readonly palette = signal(false);
  /** Undefined unless a link is being created. */
  readonly linking = signal<Linking | undefined>(undefined);
  /** The nodes being arranged. */
  readonly arranging = signal<readonly string[] | 'all' | undefined>(undefined);
  /** The shape to draw next on the map. */
  readonly drawing = signal<Drawn | undefined>(undefined);
  /** Whether arrow keys move the selection. */
  readonly moving = signal(false);
  /** The node being renamed on the map. */
  readonly renaming = signal<string | undefined>(undefined);
  /** The drawing whose first field gets the focus. */
  readonly editing = signal<string | undefined>(undefined);
  /** The pane chosen in a narrow window; undefined before the first choice. */
  readonly pane = signal<Pane | undefined>(undefined);
  /** Digits typed while a link is selected, until they are in the field of its delay. */
  readonly typedDelay = signal('');
  /** Window position of the open context menu. */
  readonly menu = signal<Point | undefined>(undefined);
  /** The last announcement for screen readers. */
  readonly said = signal('');
  /** Undefined while the lab is not open. */
  map: LabMap | undefined;
  /** The last selection that this page made for a new object: the next one may replace it. */
  #automatic: Selection | undefined;
  /** The selection whose deletion is pending. */
  #removed: Selection | undefined;
  /** Places reserved for nodes being created, so that further ones go elsewhere. */
  readonly #coming = new Set<Box>();

  constructor(id: string, go: (path: string) => void) {
    const lab = new Lab(id);
    this.lab = lab;
    this.go = go;
    this.load = new LoadOfNodes(id);
    this.history = new History({
      requests: api,
      project: lab.path,
      known: (kind, thing) => lab[`${kind}s`].get(thing),
      otherNames: (names) => {
        lab.notice.value = otherNamesInWords(names);
      },
    });
  }

  /** Runs a task and shows its error. Returns whether it succeeded. */
  readonly attempt = (task: () => Promise<unknown>): Promise<boolean> => {
    return attempted(this.lab.message, task);
  };

  /** Deletes the selection by a task. If the task fails, the selection stays; a newer selection stays in any case. */
  readonly remove = async (task: () => Promise<unknown>): Promise<void> => {
    const { value } = this.selection;
    // Pressed again while the request is pending.
    if (value === this.#removed) return;
    this.#removed = value;
    const isDone = await this.attempt(task);
    this.#removed = undefined;
    if (isDone && this.selection.value === value) this.select({});
  };

  /** Replaces the selection. */
  readonly select = (chosen: Partial<Selection>): void => {
    this.typedDelay.value = '';
    this.selection.value = { ...NOTHING, ...chosen };
  };

  /** Selects new objects, unless the user has selected something since `before`. */
  #selectNew(before: Selection, chosen: Partial<Selection>): boolean {
    const { value } = this.selection;
    if (value !== before && value !== this.#automatic) return false;
    this.select(chosen);
    this.#automatic = this.selection.value;
    return true;
  }

  /** Creates a node at this position, or at a free place in the middle of the view, and selects it. */
  readonly place = (template: TemplateObject, at?: Point): void => {
    const { lab, map } = this;
    const before = this.selection.value;
    const project = lab.project.value;
    const middle = at ?? map?.middle() ?? { x: 0, y: 0 };
    void this.attempt(async () => {
      const size = await symbolSize(template.symbol);
      const wanted = { ...size, x: middle.x - size.width / 2, y: middle.y - size.height / 2 };
      const taken = takenIn(lab);
      const way = at
        ? { x: 0, y: 0 }
        : wayToRoom(withName(wanted), { ...taken, boxes: [...taken.boxes, ...this.#coming] });
      const place = { ...wanted, x: wanted.x + way.x, y: wanted.y + way.y };
      const body = {
        ...snapped(place, project?.snap_to_grid ? project.grid_size : 0),
        compute_id: template.compute_id ?? 'local',
      };
      const id = await this.#reserving(withName(place), async () => {
        const made = await api.post<NodeObject>(`${lab.path}/templates/${template.template_id}`, body);
        return made.node_id;
      });
      if (this.#selectNew(before, { nodes: [id] })) map?.show(id);
    });
  };

  /** Creates a node and reserves its place until the lab has it. Returns its id. */
  async #reserving(place: Box, make: () => Promise<string>): Promise<string> {
    this.#coming.add(place);
    const free = (): void => void this.#coming.delete(place);
    try {
      const id = await make();
      if (this.lab.nodes.has(id)) free();
      else {
        const stop = this.lab.listen((_kind, came) => {
          if (came !== id) return;
          stop();
          free();
        });
      }
      return id;
    } catch (error) {
      free();
      throw error;
    }
  }

  /** How far to move these objects together to reach a free place. */
  wayBeside(nodes: readonly NodeObject[], drawings: readonly DrawingObject[]): Point {
    const whole = around([
      ...nodes.flatMap(nodeTakes),
      ...drawings.map(({ x, y, svg }) => ({ x, y, ...pictureSize(svg) })),
    ]);
    if (!whole) return { x: 0, y: 0 };
    const right = whole.width + COPY_GAP;
    const way = wayToRoom({ ...whole, x: whole.x + right }, takenIn(this.lab));
    return { x: Math.round(right + way.x), y: Math.round(way.y) };
  }

  /** Creates a drawing, centred in the view unless a position is given, and selects it. */
  readonly draw = (shape: Shape, at?: Point): void => {
    const tool = this.drawing.value;
    this.drawing.value = undefined;
    // Deselect first: a Delete key pressed before the answer must not hit the old selection.
    this.select({});
    const before = this.selection.value;
    this.#automatic = before;
    const { width, height } = sizeOf(shape);
    const { x, y } = this.map?.middle() ?? { x: 0, y: 0 };
    const place = at ? { x: at.x, y: at.y } : { x: Math.round(x - width / 2), y: Math.round(y - height / 2) };
    const isText = shape.kind === 'text';
    void this.attempt(async () => {
      const body = { ...place, z: isText ? 2 : 0, svg: writeShape(shape) };
      const { drawing_id: id } = await this.history.make<DrawingObject>('drawing', body);
      if (this.#selectNew(before, { drawings: [id] }) && isText) this.editing.value = id;
    }).then((isMade) => {
      // The shape can be drawn again.
      if (!isMade) this.drawing.value ??= tool;
    });
  };

  selectedNodes(): NodeObject[] {
    return this.selection.value.nodes.flatMap((id) => this.lab.nodes.get(id) ?? []);
  }

  selectedDrawings(): DrawingObject[] {
    return this.selection.value.drawings.flatMap((id) => this.lab.drawings.get(id) ?? []);
  }
}

/** The size of a node with this symbol. */
async function symbolSize(symbol: string): Promise<{ width: number; height: number }> {
  const path = `/symbols/${encodeURIComponent(symbol)}/dimensions`;
  const { width, height } = await api.get<{ width: number; height: number }>(path).catch(() => USUAL_SIZE);
  return width > 0 && height > 0 ? { width, height } : USUAL_SIZE;
}
