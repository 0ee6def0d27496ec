// /v2/compute/projects/{project_id}/dynamips/nodes/{node_id}: the search for a router's idle value (as in release 2.2.57).
import { type Route, route } from '../../../http/app/route.ts';
import type { FindNode } from '../../nodes/kind.ts';
import type { DynamipsNode } from './node.ts';

export function idleRoutes(find: FindNode<DynamipsNode>): Route[] {
  // Not serialised with the node's requests: one that stops the router ends a search.
  const node = '/v2/compute/projects/{project_id}/dynamips/nodes/{node_id}' as const;
  return [
    route(
      `GET ${node}/auto_idlepc`,
      { concurrent: true, summary: 'Search an idle value for a router' },
      async ({ params, signal }) => ({
        idlepc: await find(params).findIdleValue(signal),
      }),
    ),
    route(
      `GET ${node}/idlepc_proposals`,
      { concurrent: true, summary: 'List idle values that may suit a router' },
      ({ params, signal }) => find(params).idleProposals(signal),
    ),
  ];
}
