// What changes several parts of a lab at once, over HTTP: extensions of the v2 API, as GNS3 3.0 has them.
import { NODE_ROUTES } from '../../api/routes/nodes.ts';
import { type Route, routesOf } from '../../http/app/route.ts';
import type { Projects } from '../projects/projects.ts';
import type { Drawings } from './drawings.ts';
import type { Links } from './links.ts';
import type { Nodes } from './nodes.ts';
import type { Project } from './project.ts';

interface Locksmith {
  nodes: Nodes;
  drawings: Drawings;
}

/** Whether everything in the lab is locked; an empty lab is. */
function isLocked(project: Project): boolean {
  return [...project.nodes.values(), ...project.drawings.values()].every(({ record }) => record.locked === true);
}

/** What is locked is not deleted, and clients do not move it. What is deleted meanwhile is skipped. */
async function setLocked(project: Project, locked: boolean, locksmith: Locksmith): Promise<void> {
  for (const kind of ['drawings', 'nodes'] as const) {
    for (const { id, record } of [...project[kind].values()]) {
      if (record.locked === locked) continue;
      await locksmith[kind].update(project, id, { locked }).catch((error: unknown) => {
        if (project[kind].has(id)) throw error;
      });
    }
  }
}

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
