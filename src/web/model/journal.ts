// What was told of each node of a lab since the page was opened.
import { signal } from '@preact/signals';
import type { Lab } from './lab.ts';

export interface JournalEntry {
  at: Date;
  nodeId: string;
  /** Of a change of state. */
  status: string | undefined;
  /** What the server said of it. */
  text: string;
}

const MOST = 500;

export class Journal {
  readonly entries = signal<readonly JournalEntry[]>([]);
  readonly #statuses = new Map<string, string>();

  constructor(lab: Lab) {
    lab.listen((kind, id) => {
      const status = kind === 'node' ? lab.nodes.get(id)?.status : undefined;
      if (status === undefined) return;
      const before = this.#statuses.get(id);
      this.#statuses.set(id, status);
      if (before !== undefined && before !== status) this.#add(id, '', status);
    });
    lab.hear(({ action, event }) => {
      if (!action.startsWith('log.')) return;
      const text = String(event['message'] ?? '');
      for (const { node_id: id, name } of lab.nodes.values()) if (names(text, name)) this.#add(id, text, undefined);
    });
  }

  of(nodeId: string): JournalEntry[] {
    return this.entries.value.filter((entry) => entry.nodeId === nodeId);
  }

  #add(nodeId: string, text: string, status: string | undefined): void {
    this.entries.value = [...this.entries.value, { at: new Date(), nodeId, text, status }].slice(-MOST);
  }
}

/** Messages call nodes by their names; another node's name may begin with this one. */
function names(text: string, name: string): boolean {
  const at = text.indexOf(name);
  if (at < 0) return false;
  const isWord = (character: string | undefined): boolean => character !== undefined && /[\w-]/.test(character);
  return !isWord(text[at - 1]) && !isWord(text[at + name.length]);
}
