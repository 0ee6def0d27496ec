// Snapshots over HTTP.
import type { Operations } from '../../events/operations.ts';
import { operationId } from '../../http/app/operation-id.ts';
import { type Route, route } from '../../http/app/route.ts';
import type { Projects } from '../projects/projects.ts';
import { SnapshotCreate } from './schema.ts';
import { snapshotJson } from './snapshot.ts';
import type { Snapshots } from './snapshots.ts';

export interface SnapshotRouteParts {
  projects: Projects;
  snapshots: Snapshots;
  operations: Operations;
}

export function snapshotRoutes({ projects, snapshots, operations }: SnapshotRouteParts): Route[] {
  return [
    route('GET /v2/projects/{project_id}/snapshots', {}, async ({ params }) =>
      (await snapshots.list(projects.get(params.project_id))).map(snapshotJson),
    ),

    route(
      'POST /v2/projects/{project_id}/snapshots',
      { body: SnapshotCreate, status: 201 },
      async ({ params, headers, body }) => {
        const project = await projects.settled(params.project_id);
        const wanted = { kind: 'snapshot', name: body.name, projectId: project.id, id: operationId(headers) };
        return snapshotJson(await operations.run(wanted, () => snapshots.create(project, body)));
      },
    ),

    route('DELETE /v2/projects/{project_id}/snapshots/{snapshot_id}', { status: 204 }, async ({ params }) => {
      await snapshots.delete(await projects.settled(params.project_id), params.snapshot_id);
      return undefined;
    }),

    route(
      'POST /v2/projects/{project_id}/snapshots/{snapshot_id}/restore',
      { status: 201 },
      async ({ params, headers }) => {
        const project = await projects.settled(params.project_id);
        const { record } = project;
        const wanted = { kind: 'restore', name: record.name, projectId: project.id, id: operationId(headers) };
        await operations.run(wanted, () => snapshots.restore(project, params.snapshot_id));
        return project.json();
      },
    ),
  ];
}
