// What the server has told of the nodes of a lab.
import { api } from './api.ts';
import type { Lab } from './lab.ts';
import type { NodeObject } from './types.ts';

/** As the server keeps it: a message, or a change of a node's state. */
export interface JournalEntry {
  at: string;
  message: string | null;
  node_id: string | null;
  status: string | null;
}

/** What is known of a node, the oldest first. @throws Refusal */
export async function journalOf(lab: Lab, { node_id: id, name }: NodeObject): Promise<JournalEntry[]> {
  const all = await api.get<JournalEntry[]>(`${lab.path}/journal`);
  return all.filter((entry) => entry.node_id === id || (entry.message !== null && names(entry.message, name)));
}

/** Messages call nodes by their names; another node's name may begin with this one. */
function names(text: string, name: string): boolean {
  const isWord = (character: string | undefined): boolean => character !== undefined && /[\w-]/.test(character);
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1))
    if (!isWord(text[at - 1]) && !isWord(text[at + name.length])) return true;
  return false;
}
