// Snapshots over HTTP.
import { SNAPSHOT_ROUTES } from '../../api/routes/snapshots.ts';
import type { Operations } from '../../events/operations.ts';
import { operationId } from '../../http/app/operation-id.ts';
import { type Route, routesOf } from '../../http/app/route.ts';
import type { Projects } from '../projects/projects.ts';
import { snapshotJson } from './snapshot.ts';
import type { Snapshots } from './snapshots.ts';

const { route } = routesOf(SNAPSHOT_ROUTES);

export interface SnapshotRouteParts {
  projects: Projects;
  snapshots: Snapshots;
  operations: Operations;
}

export function snapshotRoutes({ projects, snapshots, operations }: SnapshotRouteParts): Route[] {
  return [
    route('GET /v2/projects/{project_id}/snapshots', async ({ params }) =>
      (await snapshots.list(projects.get(params.project_id))).map(snapshotJson),
    ),

    route('POST /v2/projects/{project_id}/snapshots', async ({ params, headers, body }) => {
      const project = await projects.settled(params.project_id);
      const wanted = { kind: 'snapshot', name: body.name, projectId: project.id, id: operationId(headers) };
      return snapshotJson(await operations.run(wanted, () => snapshots.create(project, body)));
    }),

    route('DELETE /v2/projects/{project_id}/snapshots/{snapshot_id}', async ({ params }) =>
      snapshots.delete(await projects.settled(params.project_id), params.snapshot_id),
    ),

    route('POST /v2/projects/{project_id}/snapshots/{snapshot_id}/restore', async ({ params, headers }) => {
      const project = await projects.settled(params.project_id);
      const { record } = project;
      const wanted = { kind: 'restore', name: record.name, projectId: project.id, id: operationId(headers) };
      await operations.run(wanted, () => snapshots.restore(project, params.snapshot_id));
      return project.json();
    }),
  ];
}
