// Routes beyond the release's for each port with a NIO: impairments by direction, their schedule, and statistics.
import { type Route, route } from '../../../http/app/route.ts';
import { PortImpairments, PortSchedule } from './impairments.ts';
import type { NodePort } from './port.ts';

type PortParameters = Record<'project_id' | 'node_id' | 'adapter_number' | 'port_number', string>;

/** @param port path pattern of a node's port */
export function impairmentRoutes<Pattern extends string>(
  port: `/v2/compute/${Pattern}`,
  findPort: (params: PortParameters) => NodePort,
): Route[] {
  const find = (params: unknown): NodePort => findPort(params as PortParameters);
  return [
    route(`PUT ${port}/impairments`, { body: PortImpairments }, ({ params, body }) =>
      find(params).impairDirections(body),
    ),

    route(`GET ${port}/statistics`, { concurrent: true }, ({ params }) => find(params).cableStatistics()),
    route(`POST ${port}/statistics/reset`, { status: 204 }, ({ params }) => find(params).resetStatistics()),

    route(`GET ${port}/schedule`, { concurrent: true }, ({ params }) => find(params).scheduleState()),
    route(`POST ${port}/schedule`, { body: PortSchedule, status: 201 }, ({ params, body }) =>
      find(params).startSchedule(body),
    ),
    route(`DELETE ${port}/schedule`, { status: 204 }, ({ params }) => find(params).cancelSchedule()),
  ];
}
