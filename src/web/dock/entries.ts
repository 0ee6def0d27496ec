// What is open in the dock below the map: one entry for each tab.
import { signal } from '@preact/signals';

/** What each kind of tab knows beyond its title. A new kind is a line here and its component in `dock.tsx`. */
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
  /** Two entries of the same kind and id are the same one. */
  id: string;
  title: string;
}

export type DockEntry<K extends DockKind = DockKind> = K extends DockKind ? Common<K> & DockKinds[K] : never;

/** What can be done with an open tab: a line of its menu. */
export interface DockAction {
  id: string;
  words: string;
  /** For what is on or off. */
  isOn?: boolean;
  run(): void;
}

/** Tabs that stand side by side at most. */
const MOST_COLUMNS = 4;

export class DockEntries {
  readonly list = signal<readonly DockEntry[]>([]);
  /** The key of the entry that is worked in, see `keyOf`; empty without one. */
  readonly shown = signal('');
  /** Keys of the entries that stand beside it. */
  readonly beside = signal<readonly string[]>([]);
  /** By the key of its tab. */
  readonly actions = signal<ReadonlyMap<string, readonly DockAction[]>>(new Map());
  /** What is typed into one console goes to all that are open. */
  readonly sendsToAll = signal(false);
  /** Takes what is typed, by the key of its tab. */
  readonly inputs = new Map<string, (text: string) => void>();

  /** Adds a tab unless it is there, and shows it. */
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

  /** Works in this tab: in its column if it has one, else in place of the one that was worked in. */
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

  /** One column more, with the next tab that is not to be seen. */
  split(): void {
    const keys = this.list.value.map(keyOf);
    const at = keys.indexOf(this.shown.value);
    const next = [...keys.slice(at + 1), ...keys.slice(0, at)].find((key) => !this.isVisible(key));
    if (next === undefined || !this.canSplit) return;
    this.beside.value = [...this.beside.value, this.shown.value];
    this.shown.value = next;
  }

  /** One column. */
  unsplit(): void {
    this.beside.value = [];
  }

  /** Sets the menu of a tab. */
  offer(key: string, actions: readonly DockAction[] | undefined): void {
    const all = new Map(this.actions.peek());
    if (actions) all.set(key, actions);
    else all.delete(key);
    this.actions.value = all;
  }

  /** Something was typed into a console. */
  typed(key: string, text: string): void {
    if (!this.sendsToAll.peek()) this.inputs.get(key)?.(text);
    else for (const input of this.inputs.values()) input(text);
  }
}

/** What tells an entry from all others. */
export function keyOf({ kind, id }: DockEntry): string {
  return `${kind} ${id}`;
}
