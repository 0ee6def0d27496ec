// Snapshots: the bodies and the routes.
import * as v from 'valibot';
import { type ProjectObject, SnapshotObject } from '../objects.ts';
import { Name } from '../vocabulary.ts';
import { answers, type RouteDefinitions } from './definition.ts';

/** `running`, an extension: nodes may run and are saved with their state. */
export const SnapshotCreate = v.strictObject({ name: Name, running: v.optional(v.boolean(), false) });
export type SnapshotCreate = v.InferOutput<typeof SnapshotCreate>;

// biome-ignore format: a table
export const SNAPSHOT_ROUTES = {
  'GET /v2/projects/{project_id}/snapshots':
    { access: 'watch', privilege: 'Snapshot.Audit', answer: answers(v.array(SnapshotObject)), summary: 'List snapshots' },
  'POST /v2/projects/{project_id}/snapshots':
    { keeps: 'project', access: 'change', privilege: 'Snapshot.Allocate', body: SnapshotCreate, status: 201,
      answer: answers(SnapshotObject), summary: 'Create a snapshot', errors: [507] },
  'DELETE /v2/projects/{project_id}/snapshots/{snapshot_id}':
    { keeps: 'project', access: 'change', privilege: 'Snapshot.Allocate', status: 204, summary: 'Delete a snapshot' },
  'POST /v2/projects/{project_id}/snapshots/{snapshot_id}/restore':
    { keeps: 'project', access: 'change', privilege: 'Snapshot.Restore', status: 201, answer: answers<ProjectObject>(),
      summary: 'Restore a snapshot', errors: [507] },
} as const satisfies RouteDefinitions;
