// What is open in the dock: one entry per tab.
import { signal } from '@preact/signals';
import type { MenuEntry } from '../panels/menu.tsx';

/** The data of each kind of tab besides its title. A new kind needs a line here and its component in `dock.tsx`. */
export interface DockKinds {
  console: { nodeId: string };
  capture: { linkId: string };
  /** The captures of all links. */
  merged: object;
  vnc: { nodeId: string };
}

export type DockKind = keyof DockKinds;

interface Common<K extends DockKind> {
  kind: K;
  /** Entries with the same kind and id are the same tab. */
  id: string;
  title: string;
}

export type DockEntry<K extends DockKind = DockKind> = K extends DockKind ? Common<K> & DockKinds[K] : never;

/** Most tabs side by side. */
const MOST_COLUMNS = 4;

export class DockEntries {
  readonly list = signal<readonly DockEntry[]>([]);
  /** Key of the active entry, see `keyOf`; empty if there is none. */
  readonly shown = signal('');
  /** Keys of the entries shown beside it. */
  readonly beside = signal<readonly string[]>([]);
  /** By the key of the tab. */
  readonly actions = signal<ReadonlyMap<string, readonly MenuEntry[]>>(new Map());
  /** Input of one console goes to all open ones. */
  readonly sendsToAll = signal(false);
  /** Input handlers by the key of the tab. */
  readonly inputs = new Map<string, (text: string) => void>();

  /** Adds a tab if it is not open yet, and shows it. */
  open(entry: DockEntry): void {
    const key = keyOf(entry);
    if (!this.list.value.some((other) => keyOf(other) === key)) this.list.value = [...this.list.value, entry];
    this.show(key);
  }

  close(key: string): void {
    this.list.value = this.list.value.filter((entry) => keyOf(entry) !== key);
    if (this.shown.value === key) {
      const last = this.list.value.at(-1);
      this.shown.value = this.beside.value.at(-1) ?? (last ? keyOf(last) : '');
    }
    this.beside.value = this.beside.value.filter((other) => other !== key && other !== this.shown.value);
    this.offer(key, undefined);
  }

  /** Activates this tab: in its column if it has one, otherwise in the active column. */
  show(key: string): void {
    const former = this.shown.value;
    if (this.beside.value.includes(key))
      this.beside.value = this.beside.value.map((other) => (other === key ? former : other));
    this.shown.value = key;
  }

  isVisible(key: string): boolean {
    return this.shown.value === key || this.beside.value.includes(key);
  }

  get canSplit(): boolean {
    return (
      this.beside.value.length < MOST_COLUMNS - 1 && this.list.value.some((entry) => !this.isVisible(keyOf(entry)))
    );
  }

  /** Adds a column with the next hidden tab. */
  split(): void {
    const keys = this.list.value.map(keyOf);
    const at = keys.indexOf(this.shown.value);
    const next = [...keys.slice(at + 1), ...keys.slice(0, at)].find((key) => !this.isVisible(key));
    if (next === undefined || !this.canSplit) return;
    this.beside.value = [...this.beside.value, this.shown.value];
    this.shown.value = next;
  }

  /** Back to one column. */
  unsplit(): void {
    this.beside.value = [];
  }

  /** Sets the menu of a tab. */
  offer(key: string, actions: readonly MenuEntry[] | undefined): void {
    const all = new Map(this.actions.peek());
    if (actions) all.set(key, actions);
    else all.delete(key);
    this.actions.value = all;
  }

  /** Handles input of a console. */
  typed(key: string, text: string): void {
    if (!this.sendsToAll.peek()) this.inputs.get(key)?.(text);
    else for (const input of this.inputs.values()) input(text);
  }
}

/** A key that is unique among the entries. */
export function keyOf({ kind, id }: DockEntry): string {
  return `${kind} ${id}`;
}
