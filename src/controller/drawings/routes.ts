// Drawings over HTTP.
import { DRAWING_ROUTES } from '../../api/routes/drawings.ts';
import { type Route, routesOf } from '../../http/app/route.ts';
import type { Drawings } from '../lab/drawings.ts';
import type { Projects } from '../projects/projects.ts';

const { route } = routesOf(DRAWING_ROUTES);

export function drawingRoutes({ projects, drawings }: { projects: Projects; drawings: Drawings }): Route[] {
  return [
    route('GET /v2/projects/{project_id}/drawings', async ({ params }) => {
      const project = await projects.settled(params.project_id);
      if (project.state === 'closed') return projects.stored(project, 'drawings');
      return drawings.list(project);
    }),

    route('POST /v2/projects/{project_id}/drawings', async ({ params, body }) => {
      const project = projects.get(params.project_id);
      return drawings.json(project, await drawings.create(project, body));
    }),

    route('GET /v2/projects/{project_id}/drawings/{drawing_id}', async ({ params }) => {
      const project = await projects.opened(params.project_id);
      return drawings.json(project, project.drawing(params.drawing_id));
    }),

    route('PUT /v2/projects/{project_id}/drawings/{drawing_id}', async ({ params, body }) => {
      const project = projects.get(params.project_id);
      return drawings.json(project, await drawings.update(project, params.drawing_id, body));
    }),

    route('DELETE /v2/projects/{project_id}/drawings/{drawing_id}', ({ params }) =>
      drawings.delete(projects.get(params.project_id), params.drawing_id),
    ),
  ];
}
