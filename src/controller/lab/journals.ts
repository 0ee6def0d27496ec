// Keeps each lab's last messages and status changes, for clients that missed the events. In memory only.

import { findNodeKind } from '../../api/kinds/kinds.ts';
import type { JournalEntry } from '../../api/routes/projects.ts';
import type { Message } from '../../events/message.ts';
import type { Announcer } from '../events.ts';
import type { NodeStatus } from '../nodes/node.ts';

/** The number of entries kept for a lab. */
const MOST = 500;
/** The number of characters kept of a message. */
const MOST_CHARACTERS = 2_000;

/** Some events come from computes: members of type `unknown` may have any value. */
interface Told {
  node_id?: string;
  node_type?: unknown;
  status?: NodeStatus;
  project_id?: string;
  message?: unknown;
}

/** The entries after a position in a journal. */
export interface LaterEntries {
  entries: readonly JournalEntry[];
  /** The position after the last of them. */
  place: number;
}

interface Journal {
  entries: JournalEntry[];
  /** The number of entries dropped before the first one. */
  dropped: number;
  /** The last known status of each node. */
  statuses: Map<string, NodeStatus>;
}

export class Journals {
  readonly #labs = new Map<string, Journal>();

  constructor({ project, controller }: Announcer) {
    project.observe((message) => this.#heard(message));
    controller.observe(({ action, event }) => {
      if (action === 'project.deleted') this.#labs.delete((event as Told).project_id ?? '');
    });
  }

  /** The kept entries of a lab, oldest first. */
  of(projectId: string): readonly JournalEntry[] {
    return this.#labs.get(projectId)?.entries ?? [];
  }

  /** The entries after a position. One warning stands for all entries that are no longer kept. */
  after(projectId: string, place: number): LaterEntries {
    const { entries, dropped } = this.#labs.get(projectId) ?? { entries: [], dropped: 0 };
    const lost = dropped - place;
    if (lost <= 0) return { entries: entries.slice(place - dropped), place: dropped + entries.length };
    const message = `${lost} entries came faster than they were read, and are not kept any more.`;
    const at = entries[0]?.at ?? new Date().toISOString();
    const gap: JournalEntry = { at, level: 'warning', message, node_id: null, status: null };
    return { entries: [gap, ...entries], place: dropped + entries.length };
  }

  /** The position of the oldest entry kept. */
  beginning(projectId: string): number {
    return this.#labs.get(projectId)?.dropped ?? 0;
  }

  #heard({ action, event, projectId }: Message): void {
    if (projectId === undefined) return;
    const told = event as Told;
    const { node_id: id, node_type: type, status } = told;
    if (action === 'node.deleted') this.#labs.get(projectId)?.statuses.delete(id ?? '');
    else if (action.startsWith('node.') && id !== undefined && type !== undefined && status !== undefined) {
      // No status is announced while the lab opens: the node is then stopped, unless its kind always runs.
      const { statuses } = this.#journal(projectId);
      const before = statuses.get(id) ?? (findNodeKind(String(type))?.alwaysRuns ? 'started' : 'stopped');
      statuses.set(id, status);
      if (action === 'node.updated' && before !== status)
        this.#add(projectId, { level: null, message: null, node_id: id, status });
    } else if (action.startsWith('log.') && typeof told.message === 'string') {
      const level = action.slice(4) as JournalEntry['level'];
      this.#add(projectId, { level, message: told.message.slice(0, MOST_CHARACTERS), node_id: null, status: null });
    }
  }

  #journal(projectId: string): Journal {
    const known = this.#labs.get(projectId);
    if (known) return known;
    const journal = { entries: [], dropped: 0, statuses: new Map() };
    this.#labs.set(projectId, journal);
    return journal;
  }

  #add(projectId: string, entry: Omit<JournalEntry, 'at'>): void {
    const journal = this.#journal(projectId);
    const { entries } = journal;
    entries.push({ at: new Date().toISOString(), ...entry });
    if (entries.length <= MOST) return;
    journal.dropped += entries.splice(0, entries.length - MOST).length;
  }
}

/** Whether an entry is about this node: its status, or a message with its name. */
export function isAbout({ node_id, message }: JournalEntry, node: { id: string; name: string | undefined }): boolean {
  return node_id === node.id || (node.name !== undefined && message !== null && names(message, node.name));
}

/** Another node's name may begin with this one, so only whole words count. */
function names(text: string, name: string): boolean {
  const isWord = (character: string | undefined): boolean => character !== undefined && /[\w-]/.test(character);
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1))
    if (!isWord(text[at - 1]) && !isWord(text[at + name.length])) return true;
  return false;
}
