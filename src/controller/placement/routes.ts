// Placement over HTTP: where nodes would go, where they are and why, and draining of hosts (extensions).
import { randomUUID } from 'node:crypto';
import type { ClusterObject } from '../../api/objects.ts';
import { PLACEMENT_ROUTES, type PlacementRequest } from '../../api/routes/placement.ts';
import type { Operations } from '../../events/operations.ts';
import { invalid } from '../../failures.ts';
import type { Identity } from '../../http/access/identity.ts';
import { operationId } from '../../http/app/operation-id.ts';
import { type Route, routesOf } from '../../http/app/route.ts';
import type { Computes } from '../computes/computes.ts';
import type { Project } from '../lab/project.ts';
import type { Projects } from '../projects/projects.ts';
import type { Draining } from './draining.ts';
import type { NewNode, Placement } from './placement.ts';

const { route } = routesOf(PLACEMENT_ROUTES);

export interface PlacementRouteParts {
  computes: Computes;
  projects: Projects;
  placement: Placement;
  draining: Draining;
  operations: Operations;
  /** As a client may see it. */
  cluster: (identity: Identity | undefined) => ClusterObject;
}

/** @throws Failure `invalid` */
function restartsNodes({ running = 'leave' }: Readonly<Record<string, string | undefined>>): boolean {
  if (running === 'leave' || running === 'restart') return running === 'restart';
  throw invalid(`running: expected leave or restart, got "${running}".`);
}

export function placementRoutes(parts: PlacementRouteParts): Route[] {
  const { computes, projects, placement, draining, operations, cluster } = parts;
  const solved = async ({ nodes, links }: PlacementRequest, project?: Project) => {
    const fresh = nodes.map((node): NewNode => {
      const { node_id: id = randomUUID(), name, node_type: type, compute_id: compute, properties } = node;
      if (!computes.isAuto(compute)) computes.get(compute);
      return { id, name, type, compute, properties };
    });
    const present = project ? [...project.nodes.values()] : [];
    const ids = new Map([...present, ...fresh].flatMap(({ id, name }) => [[id, id] as const, [name, id] as const]));
    const pairs = links.map((ends, index) => {
      const strange = ends.find((end) => !ids.has(end));
      if (strange !== undefined) throw invalid(`links.${index}: there is no node "${strange}".`);
      return [ids.get(ends[0])!, ids.get(ends[1])!] as const;
    });
    const solution = await placement.solve(fresh, pairs, project);
    return { solution, answer: placement.planned(fresh, pairs, solution) };
  };
  return [
    route('POST /v2/placement', async ({ body }) => (await solved(body)).answer),

    // The choices hold for nodes that are created with these ids and `auto`.
    route('POST /v2/projects/{project_id}/placement', async ({ params, body }) => {
      const project = await projects.opened(params.project_id);
      const { solution, answer } = await solved(body, project);
      placement.plan(project, solution);
      return answer;
    }),

    route('GET /v2/projects/{project_id}/placement', async ({ params }) =>
      placement.of(await projects.settled(params.project_id)),
    ),

    route('GET /v2/cluster', ({ client: { identity } }) => cluster(identity)),

    // Goes on when its client leaves. Its operation, another drain or an undrain of the host ends it.
    route('POST /v2/computes/{compute_id}/drain', async ({ params: { compute_id: id }, query, headers }) =>
      operations.run({ kind: 'drain', name: computes.host(id).name, id: operationId(headers) }, (operation) =>
        draining.drain(id, restartsNodes(query), operation),
      ),
    ),

    route('POST /v2/computes/{compute_id}/undrain', ({ params }) => draining.undrain(params.compute_id)),
  ];
}
