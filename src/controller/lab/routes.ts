// What changes several parts of a lab at once, over HTTP: extensions of the v2 API, as GNS3 3.0 has them.
import { NODE_ROUTES } from '../../api/routes/nodes.ts';
import { type Route, routesOf } from '../../http/app/route.ts';
import type { Projects } from '../projects/projects.ts';
import type { Drawings } from './drawings.ts';
import { isLocked, setIsolated, setLocked } from './joint-changes.ts';
import type { Links } from './links.ts';
import type { Nodes } from './nodes.ts';

const { route } = routesOf(NODE_ROUTES);

export interface LabRouteParts {
  projects: Projects;
  nodes: Nodes;
  drawings: Drawings;
  links: Links;
}

export function labRoutes({ projects, links, ...parts }: LabRouteParts): Route[] {
  return [
    route('GET /v2/projects/{project_id}/locked', async ({ params }) =>
      isLocked(await projects.opened(params.project_id)),
    ),

    ...([true, false] as const).map((locked) =>
      route(`POST /v2/projects/{project_id}/${locked ? 'lock' : 'unlock'}`, async ({ params }) =>
        setLocked(await projects.opened(params.project_id), locked, parts),
      ),
    ),

    ...([true, false] as const).map((suspend) =>
      route(`POST /v2/projects/{project_id}/nodes/{node_id}/${suspend ? 'isolate' : 'unisolate'}`, async ({ params }) =>
        setIsolated(await projects.opened(params.project_id), params.node_id, suspend, links),
      ),
    ),
  ];
}
