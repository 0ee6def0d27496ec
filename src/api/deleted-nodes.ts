// Nodes that were deleted with `?keep=yes`, and can be restored for a while.

/** How long (ms) the files of a deleted node are kept. */
export const KEPT_MS = 3_600_000;

/** What a compute answers to a deletion with `?keep=yes`. Computes of other releases answer nothing. */
export interface Kept {
  /** Whether the files are kept. */
  kept: boolean;
}

/** A node that can be restored, as `GET /v2/projects/{project_id}/deleted_nodes` lists it. */
export interface DeletedNode {
  node_id: string;
  name: string;
  node_type: string;
  /** Until when it can be restored (ISO 8601). */
  until: string;
}
