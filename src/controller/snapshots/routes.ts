// Snapshots over HTTP.
import { type Route, route } from '../../http/route.ts';
import type { Projects } from '../projects/projects.ts';
import { SnapshotCreate } from './schema.ts';
import { snapshotJson } from './snapshot.ts';
import type { Snapshots } from './snapshots.ts';

export function snapshotRoutes({ projects, snapshots }: { projects: Projects; snapshots: Snapshots }): Route[] {
  return [
    route('GET /v2/projects/{project_id}/snapshots', {}, async ({ params }) =>
      (await snapshots.list(projects.get(params.project_id))).map(snapshotJson),
    ),

    route('POST /v2/projects/{project_id}/snapshots', { body: SnapshotCreate, status: 201 }, async ({ params, body }) =>
      snapshotJson(await snapshots.create(await projects.settled(params.project_id), body)),
    ),

    route('DELETE /v2/projects/{project_id}/snapshots/{snapshot_id}', { status: 204 }, async ({ params }) => {
      await snapshots.delete(await projects.settled(params.project_id), params.snapshot_id);
      return undefined;
    }),

    route('POST /v2/projects/{project_id}/snapshots/{snapshot_id}/restore', { status: 201 }, async ({ params }) => {
      const project = await projects.settled(params.project_id);
      await snapshots.restore(project, params.snapshot_id);
      return project.json();
    }),
  ];
}
