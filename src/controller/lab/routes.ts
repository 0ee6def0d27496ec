// What changes several parts of a lab at once, over HTTP: extensions of the v2 API, as GNS3 3.0 has them.
import { NODE_ROUTES } from '../../api/routes/nodes.ts';
import { type Route, routesOf } from '../../http/app/route.ts';
import type { Projects } from '../projects/projects.ts';
import type { Links } from './links.ts';
import { isLocked, type Locksmith, setLocked } from './locking.ts';

const { route } = routesOf(NODE_ROUTES);

export interface LabRouteParts extends Locksmith {
  projects: Projects;
  links: Links;
}

export function labRoutes({ projects, links, ...locksmith }: LabRouteParts): Route[] {
  return [
    route('GET /v2/projects/{project_id}/locked', async ({ params }) =>
      isLocked(await projects.opened(params.project_id)),
    ),

    ...([true, false] as const).map((locked) =>
      route(`POST /v2/projects/{project_id}/${locked ? 'lock' : 'unlock'}`, async ({ params }) =>
        setLocked(await projects.opened(params.project_id), locked, locksmith),
      ),
    ),

    ...([true, false] as const).map((suspend) =>
      route(
        `POST /v2/projects/{project_id}/nodes/{node_id}/${suspend ? 'isolate' : 'unisolate'}`,
        async ({ params }) => {
          const project = await projects.opened(params.project_id);
          const node = project.node(params.node_id);
          for (const { id } of project.linksOf(node)) {
            await links.update(project, id, { suspend }).catch((error: unknown) => {
              if (project.links.has(id)) throw error;
            });
          }
        },
      ),
    ),
  ];
}
