// /v2/compute/projects: projects on this compute, their files and their notifications.

import type { ComputeEvents } from '../../api/events.ts';
import { COMPUTE_SERVER_ROUTES } from '../../api/routes/compute.ts';
import type { EventBus } from '../../events/bus.ts';
import type { LoadMeter } from '../../host/processes/host-statistics.ts';
import { downloadFile, uploadFile } from '../../http/app/files.ts';
import { type Route, routesOf } from '../../http/app/route.ts';
import { lineStream } from '../../http/sockets/event-streams.ts';
import { listDetails, listFiles } from './files.ts';
import type { Projects } from './projects.ts';

const { route } = routesOf(COMPUTE_SERVER_ROUTES);

/** Milliseconds of silence before a project's stream sends a ping. */
const SILENCE_MS = 5000;

export function projectRoutes(projects: Projects, events: EventBus<ComputeEvents>, load: LoadMeter): Route[] {
  return [
    route('GET /v2/compute/projects', () => projects.list().map((project) => project.describe())),

    route('POST /v2/compute/projects', async ({ body }) => (await projects.create(body)).describe()),

    route('GET /v2/compute/projects/{project_id}', ({ params }) => projects.get(params.project_id).describe()),

    route('PUT /v2/compute/projects/{project_id}', async ({ params, body }) => {
      const project = projects.get(params.project_id);
      await project.changeVariables(body.variables ?? null);
      return project.describe();
    }),

    route('DELETE /v2/compute/projects/{project_id}', ({ params }) => projects.delete(params.project_id)),

    route('POST /v2/compute/projects/{project_id}/close', ({ params }) => projects.close(params.project_id)),

    route('GET /v2/compute/projects/{project_id}/files', ({ params, query }) => {
      const project = projects.get(params.project_id);
      return query['details'] === 'yes' ? listDetails(project) : listFiles(project);
    }),

    route('GET /v2/compute/projects/{project_id}/files/{path:.+}', ({ params, headers }) =>
      downloadFile(projects.get(params.project_id).path, params.path, headers),
    ),

    route('POST /v2/compute/projects/{project_id}/files/{path:.+}', async ({ params, stream, signal }) => {
      const { path: root } = projects.get(params.project_id);
      await uploadFile(root, params.path, { content: stream, signal, createParents: true });
    }),

    route('GET /v2/compute/projects/{project_id}/notifications', ({ params, query }) => {
      const project = projects.get(params.project_id);
      const ping = () => load.usage();
      return lineStream(events.subscribe(project.id, query['since']), {
        silence: SILENCE_MS,
        ping,
        text: (message) => message.line,
      });
    }),
  ];
}
