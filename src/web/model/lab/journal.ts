// What the server has told of the nodes of a lab.
import { api } from '../server/api.ts';
import type { NodeObject } from '../server/types.ts';
import type { Lab } from './lab.ts';

/** As the server keeps it: a message, or a change of a node's state. */
export interface JournalEntry {
  at: string;
  message: string | null;
  node_id: string | null;
  status: string | null;
}

/** What is known of a node, the oldest first. @throws Refusal */
export function journalOf(lab: Lab, { node_id: id }: NodeObject): Promise<JournalEntry[]> {
  return api.get(`${lab.path}/journal?node_id=${id}`);
}
