// The changes that bring a lab to the state of its file, as data to show, count and carry out.
import type { Difference } from './compare.ts';
import type { Place } from './file-mistakes.ts';

export type Kind = 'lab' | 'node' | 'file' | 'link' | 'drawing';

export interface Change {
  action: 'create' | 'open' | 'change' | 'write' | 'delete' | 'replace';
  kind: Kind;
  /** Name of the target, for messages. */
  name: string;
  /** The place in the file; undefined if the target is not in the file. */
  place?: Place;
  /** The kind of target, such as a template's name. */
  what?: string;
  differences?: Difference[];
  /** Set if a running node must be restarted for it. */
  restart?: true;
  /** Id of an existing target. */
  id?: string;
  /** Of the node that it concerns. */
  node?: string;
  body?: object;
  /** Of a file. */
  path?: string;
  content?: Buffer;
  /** Set for a link whose nodes do not exist yet, so that their ports are unknown. */
  waits?: true;
}

/** Whether it deletes or replaces something. */
export const removes = ({ action }: Change): boolean => action === 'delete' || action === 'replace';

/** Identifies a change across plans. */
export const changeKey = ({ action, kind, name, id, path }: Change): string =>
  JSON.stringify([action, kind, id ?? name, path]);
