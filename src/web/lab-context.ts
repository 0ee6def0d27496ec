// What everything on the screen of a lab shares: the lab, what is selected, what is open, and how tasks are attempted.
import { signal } from '@preact/signals';
import { DockEntries } from './dock/entries.ts';
import { api } from './model/api.ts';
import { Journal } from './model/journal.ts';
import { Lab } from './model/lab.ts';
import { NOTHING, type Selection } from './model/selection.ts';
import type { LinkEnd, NodeObject, TemplateObject } from './model/types.ts';

/** What the map lets others do with it. */
export interface LabMap {
  /** Shows the whole lab. */
  fit(): void;
  zoom(factor: number): void;
  /** Brings a node into the window if it is outside. */
  show(nodeId: string): void;
  /** The place in the lab that the middle of the window shows. */
  middle(): { x: number; y: number };
  /** Marks what is selected. */
  select(selection: Selection): void;
  focus(): void;
}

/** What every screen of the page has. */
export interface PageContext {
  /** Shows another screen. */
  go(path: string): void;
}

export class LabContext implements PageContext {
  readonly lab: Lab;
  readonly journal: Journal;
  readonly go: (path: string) => void;
  readonly selection = signal<Selection>(NOTHING);
  readonly dock = new DockEntries();
  /** Whether the templates are shown. */
  readonly palette = signal(false);
  /** The end of the link that is being made, or that the first end is being chosen; undefined without a link in the making. */
  readonly linking = signal<LinkEnd | 'first' | undefined>(undefined);
  /** Undefined while the lab is not open. */
  map: LabMap | undefined;

  constructor(id: string, go: (path: string) => void) {
    this.lab = new Lab(id);
    this.journal = new Journal(this.lab);
    this.go = go;
  }

  /** Does a task, and shows why it failed. True if it did not. */
  readonly attempt = async (task: () => Promise<unknown>): Promise<boolean> => {
    const { message } = this.lab;
    message.value = '';
    try {
      await task();
      return true;
    } catch (error) {
      message.value = error instanceof Error ? error.message : String(error);
      return false;
    }
  };

  /** Selects what is named, and nothing else. */
  readonly select = (chosen: Partial<Selection>): void => {
    this.selection.value = { ...NOTHING, ...chosen };
    this.map?.select(this.selection.value);
  };

  /** Makes a node of a template in the middle of what the map shows. */
  readonly place = (template: TemplateObject): void => {
    this.palette.value = false;
    const { x, y } = this.map?.middle() ?? { x: 0, y: 0 };
    // Not upon each other: the next one stands a little aside.
    const aside = (this.lab.nodes.size % 8) * 75;
    const body = { x: x - 33 + aside - 150, y: y - 30, compute_id: template.compute_id ?? 'local' };
    void this.attempt(() => api.post(`${this.lab.path}/templates/${template.template_id}`, body));
    this.map?.focus();
  };

  selectedNodes(): NodeObject[] {
    return this.selection.value.nodes.flatMap((id) => this.lab.nodes.get(id) ?? []);
  }
}

/** The lab whose screen is shown. */
export const shownLab = signal<LabContext | undefined>(undefined);
