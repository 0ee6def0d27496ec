// What everything on the screen of a lab shares: the lab, what is selected, what is open, and how tasks are attempted.
import { signal } from '@preact/signals';
import { DockEntries } from './dock/entries.ts';
import { ViewSettings } from './model/browser/view-settings.ts';
import { type Drawn, pictureSize, type Shape, sizeOf, writeShape } from './model/lab/drawing.ts';
import { nodeTakes, takenIn, wayToRoom, withName } from './model/lab/free-place.ts';
import { around, type Box, type Point, snapped } from './model/lab/geometry.ts';
import { Lab } from './model/lab/lab.ts';
import { NOTHING, type Selection } from './model/lab/selection.ts';
import { History } from './model/lab/undo.ts';
import { api } from './model/server/api.ts';
import { sentenceOf } from './model/server/sentence.ts';
import type { DrawingObject, LinkEnd, NodeObject, TemplateObject } from './model/server/types.ts';

/** Of a node whose symbol cannot be measured, in pixels. */
const USUAL_SIZE = { width: 66, height: 60 };
/** Pixels between things and their copies. */
const COPY_GAP = 25;

/** What the map lets others do with it. */
export interface LabMap {
  /** Shows the whole lab. */
  fit(): void;
  zoom(factor: number): void;
  /** One pixel of the lab is one of the window. */
  actualSize(): void;
  /** Shows what is selected, as large as it may be. */
  showSelection(): void;
  /** Brings a node or a drawing into the window if it is outside. */
  show(id: string): void;
  /** Brings a node or a drawing into the middle of the window. */
  centre(id: string): void;
  /** The place in the lab that the middle of the window shows. */
  middle(): Point;
  /** The place in the lab at a point of the window; undefined beside the map. */
  placeAt(clientX: number, clientY: number): Point | undefined;
  /** The point of the window where something is, or where the middle is. */
  pointOf(id: string | undefined): Point;
  focus(): void;
  /** Moves what is selected, without telling the server yet. */
  nudge(dx: number, dy: number): void;
  /** Tells the server where things were moved to. */
  keep(): void;
  /** Puts things back to where they were. */
  putBack(): void;
}

/** What every screen of the page has. */
export interface PageContext {
  /** Shows another screen. */
  go(path: string): void;
}

/** A link in the making: its first end once that is chosen, and the node that it is drawn to. */
export interface Linking {
  first?: LinkEnd;
  /** The node at which the next end is chosen. */
  at?: string;
  /** The node that follows after that. */
  next?: string;
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
  /** What was done here and can be undone: changes of places, names, labels, links and drawings go through it. */
  readonly history: History;
  readonly view = new ViewSettings();
  /** Whether the templates are shown. */
  readonly palette = signal(false);
  /** Undefined without a link in the making. */
  readonly linking = signal<Linking | undefined>(undefined);
  /** What is drawn next upon the map. */
  readonly drawing = signal<Drawn | undefined>(undefined);
  /** Whether arrow keys move what is selected. */
  readonly moving = signal(false);
  /** The node whose name is being edited upon the map. */
  readonly renaming = signal<string | undefined>(undefined);
  /** The drawing whose first field is to be typed into. */
  readonly editing = signal<string | undefined>(undefined);
  /** What was asked for in a narrow window; undefined before that. */
  readonly pane = signal<Pane | undefined>(undefined);
  /** Where in the window the menu of what is selected is open. */
  readonly menu = signal<Point | undefined>(undefined);
  /** What was last said to people who do not see the map. */
  readonly said = signal('');
  /** Undefined while the lab is not open. */
  map: LabMap | undefined;
  /** What was selected when it was asked to be deleted, until there is an answer. */
  #removed: Selection | undefined;
  /** Where nodes come that were asked for, until they are there: another one needs another place. */
  readonly #coming = new Set<Box>();

  constructor(id: string, go: (path: string) => void) {
    const lab = new Lab(id);
    this.lab = lab;
    this.go = go;
    this.history = new History(api, lab.path, (kind, thing) => lab[`${kind}s`].get(thing));
  }

  /** Does a task, and shows why it failed. True if it did not. */
  readonly attempt = async (task: () => Promise<unknown>): Promise<boolean> => {
    const { message } = this.lab;
    message.value = '';
    try {
      await task();
      return true;
    } catch (error) {
      message.value = sentenceOf(error);
      return false;
    }
  };

  /** Deletes what is selected by a task. What is refused stays selected, and so does what somebody selects meanwhile. */
  readonly remove = async (task: () => Promise<unknown>): Promise<void> => {
    const { value } = this.selection;
    // Pressed once more before there is an answer.
    if (value === this.#removed) return;
    this.#removed = value;
    const isDone = await this.attempt(task);
    this.#removed = undefined;
    if (isDone && this.selection.value === value) this.select({});
  };

  /** Selects what is named, and nothing else. */
  readonly select = (chosen: Partial<Selection>): void => {
    this.selection.value = { ...NOTHING, ...chosen };
  };

  /** Makes a node of a template around this place, or where there is room in the middle of what the map shows, and selects it. */
  readonly place = (template: TemplateObject, at?: Point): void => {
    const { lab, map } = this;
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
      this.select({ nodes: [id] });
      map?.show(id);
    });
  };

  /** Makes a node, and keeps its place from others until the lab has it. Answers its id. */
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

  /** How far things have to be moved, together, to where there is room beside them. */
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

  /** Makes a drawing of a shape, around the middle of what the map shows unless a place is named, and selects it. */
  readonly draw = (shape: Shape, at?: Point): void => {
    this.drawing.value = undefined;
    // Keys that are pressed before the answer are not for what was selected before: Delete would hit that.
    this.select({});
    const { width, height } = sizeOf(shape);
    const { x, y } = this.map?.middle() ?? { x: 0, y: 0 };
    const place = at ? { x: at.x, y: at.y } : { x: Math.round(x - width / 2), y: Math.round(y - height / 2) };
    const isText = shape.kind === 'text';
    void this.attempt(async () => {
      const body = { ...place, z: isText ? 2 : 0, svg: writeShape(shape) };
      const { drawing_id: id } = await this.history.make<DrawingObject>('drawing', body);
      this.select({ drawings: [id] });
      if (isText) this.editing.value = id;
    }).then((isMade) => {
      // It can be drawn once more.
      if (!isMade && shape.kind !== 'text') this.drawing.value ??= shape.kind;
    });
  };

  selectedNodes(): NodeObject[] {
    return this.selection.value.nodes.flatMap((id) => this.lab.nodes.get(id) ?? []);
  }

  selectedDrawings(): DrawingObject[] {
    return this.selection.value.drawings.flatMap((id) => this.lab.drawings.get(id) ?? []);
  }
}

/** The size that a node with this symbol will have. */
async function symbolSize(symbol: string): Promise<{ width: number; height: number }> {
  const path = `/symbols/${encodeURIComponent(symbol)}/dimensions`;
  const { width, height } = await api.get<{ width: number; height: number }>(path).catch(() => USUAL_SIZE);
  return width > 0 && height > 0 ? { width, height } : USUAL_SIZE;
}
