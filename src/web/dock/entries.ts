// What is open in the dock below the map: one entry for each tab.
import { signal } from '@preact/signals';

/** What each kind of tab knows beyond its title. A new kind is a line here and its component in `dock.tsx`. */
export interface DockKinds {
  console: { nodeId: string };
  capture: { linkId: string };
}

export type DockKind = keyof DockKinds;

interface Common<K extends DockKind> {
  kind: K;
  /** Two entries of the same kind and id are the same one. */
  id: string;
  title: string;
}

export type DockEntry<K extends DockKind = DockKind> = K extends DockKind ? Common<K> & DockKinds[K] : never;

export class DockEntries {
  readonly list = signal<readonly DockEntry[]>([]);
  /** The key of the entry that is shown, see `keyOf`; empty without one. */
  readonly shown = signal('');

  /** Adds a tab unless it is there, and shows it. */
  open(entry: DockEntry): void {
    const key = keyOf(entry);
    if (!this.list.value.some((other) => keyOf(other) === key)) this.list.value = [...this.list.value, entry];
    this.shown.value = key;
  }

  close(key: string): void {
    this.list.value = this.list.value.filter((entry) => keyOf(entry) !== key);
    const last = this.list.value.at(-1);
    if (this.shown.value === key) this.shown.value = last ? keyOf(last) : '';
  }
}

/** What tells an entry from all others. */
export function keyOf({ kind, id }: DockEntry): string {
  return `${kind} ${id}`;
}
