// What a step of undo and redo consists of: changes of single objects.
import type { Fields, Thing } from './undo-fields.ts';

/** The schedule of a link has the link's id and one field, `plan`: the requested schedule or null. */
export type Kind = Thing | 'schedule';

/** A node copied from `source` with the request `body`; or to be copied again. */
export interface CopyPart {
  type: 'copied' | 'uncopied';
  kind: 'node';
  id: string;
  source: string;
  body: Fields;
  object: Fields;
}
export type Part =
  | { type: 'changed'; kind: Kind; id: string; before: Fields; after: Fields }
  | { type: 'made' | 'removed'; kind: Thing; id: string; object: Fields }
  | CopyPart;

export type Step = readonly Part[];

/** The part with these ids instead of former ones. */
export function withIds(part: Part, ids: ReadonlyMap<string, string>): Part {
  const now = (id: string): string => ids.get(id) ?? id;
  const id = now(part.id);
  if ('source' in part) return { ...part, id, source: now(part.source) };
  const ends = (fields: Fields): Fields => {
    const nodes = fields['nodes'] as readonly { node_id: string }[] | undefined;
    return nodes ? { ...fields, nodes: nodes.map((end) => ({ ...end, node_id: now(end.node_id) })) } : fields;
  };
  if (part.type === 'changed') return { ...part, id, before: ends(part.before), after: ends(part.after) };
  return { ...part, id, object: ends(part.object) };
}
