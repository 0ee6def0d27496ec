// What is to be done so that a lab becomes what its file says: data, which is shown, counted and carried out.
import type { Difference } from './compare.ts';
import type { Place } from './mistakes.ts';

export type Kind = 'lab' | 'node' | 'file' | 'link' | 'drawing';

export interface Change {
  action: 'create' | 'open' | 'change' | 'write' | 'delete' | 'replace';
  kind: Kind;
  /** Of what it is done to, for people. */
  name: string;
  /** In the file; undefined for what the file does not have. */
  place?: Place;
  /** What it is, such as a template's name. */
  what?: string;
  differences?: Difference[];
  /** It takes effect when the node, which runs, starts anew. */
  restart?: true;
  /** Identifier of what is there already. */
  id?: string;
  /** Of the node that it concerns. */
  node?: string;
  /** What the server is sent. */
  body?: object;
  /** Of a file. */
  path?: string;
  content?: Buffer;
  /** Of a link that waits for its nodes, whose ports are not known yet. */
  waits?: true;
}

/** Whether it takes away what is not in the file, or what cannot be changed. */
export const removes = ({ action }: Change): boolean => action === 'delete' || action === 'replace';

/** What makes two changes the same one. */
export const changeKey = ({ action, kind, name, id, path }: Change): string =>
  JSON.stringify([action, kind, id ?? name, path]);
