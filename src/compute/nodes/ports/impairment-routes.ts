// Routes beyond the release's for each port with a NIO: impairments by direction, their schedule, statistics, and suspension where no update of
// the NIO has that.
import { nodeKind } from '../../../api/kinds/kinds.ts';
import { COMPUTE_NODE_ROUTES } from '../../../api/routes/compute-nodes.ts';
import type { NodeType } from '../../../api/vocabulary.ts';
import { type Route, routesOf } from '../../../http/app/route.ts';
import type { NodePort } from './port.ts';

type PortParameters = Record<'project_id' | 'node_id' | 'adapter_number' | 'port_number', string>;

const PORT =
  '/v2/compute/projects/{project_id}/{node_type}/nodes/{node_id}/adapters/{adapter_number:\\d+}/ports/{port_number:\\d+}';

export function impairmentRoutes({ type }: { type: NodeType }, find: (params: PortParameters) => NodePort): Route[] {
  const { route } = routesOf(COMPUTE_NODE_ROUTES, { node_type: type });
  return [
    route(`PUT ${PORT}/impairments`, ({ params, body }) => find(params).impairDirections(body)),
    ...(nodeKind(type).fixedNios
      ? [route(`PUT ${PORT}/suspension`, ({ params, body }) => find(params).suspend(body.suspend))]
      : []),
    route(`GET ${PORT}/statistics`, ({ params }) => find(params).cableStatistics()),
    route(`POST ${PORT}/statistics/reset`, ({ params }) => find(params).resetStatistics()),
    route(`GET ${PORT}/schedule`, ({ params }) => find(params).scheduleState()),
    route(`POST ${PORT}/schedule`, ({ params, body }) => find(params).startSchedule(body)),
    route(`DELETE ${PORT}/schedule`, ({ params }) => find(params).cancelSchedule()),
  ];
}
