// Nodes that were deleted with `?keep=yes`, and can be restored for a while.
import * as v from 'valibot';
import { named, Timestamp, Uuid } from './vocabulary.ts';

/** How long (ms) the files of a deleted node are kept. */
export const KEPT_MS = 3_600_000;

/** What a compute answers to a deletion with `?keep=yes`. Computes of other releases answer nothing. */
export interface Kept {
  /** Whether the files are kept. */
  kept: boolean;
}

/** A node that can be restored, as `GET /v2/projects/{project_id}/deleted_nodes` lists it. */
export const DeletedNode = named('DeletedNode', {
  node_id: Uuid,
  name: v.string(),
  node_type: v.string(),
  /** Until when it can be restored (ISO 8601). */
  until: Timestamp,
});
export type DeletedNode = v.InferOutput<typeof DeletedNode>;
