// /v2/compute/network and the UDP ports of projects.
import { COMPUTE_SERVER_ROUTES } from '../../api/routes/compute.ts';
import type { Config } from '../../config/schema.ts';
import { networkInterfaces } from '../../host/network/interfaces.ts';
import { type Route, routesOf } from '../../http/app/route.ts';
import type { Ports } from '../ports/ports.ts';
import type { Projects } from '../projects/projects.ts';
import type { OutsideAccess } from '../uplinks/outside-access.ts';

const { route } = routesOf(COMPUTE_SERVER_ROUTES);

export function networkRoutes(config: Config, ports: Ports, projects: Projects, outside: OutsideAccess): Route[] {
  return [
    route('GET /v2/compute/network/interfaces', () => networkInterfaces(config.Server.allowed_interfaces)),

    route('PUT /v2/compute/network/outside', ({ body: { close_after_seconds: seconds } }) => {
      outside.open(seconds === null ? undefined : seconds * 1_000);
    }),

    route('GET /v2/compute/network/ports', () => ({
      console_port_range: ports.console.range,
      console_ports: ports.console.used,
      udp_port_range: ports.udp.range,
      udp_ports: ports.udp.used,
    })),

    route('POST /v2/compute/projects/{project_id}/ports/udp', async ({ params }) => ({
      udp_port: await ports.udp.reserve(projects.get(params.project_id).id),
    })),

    route('DELETE /v2/compute/projects/{project_id}/ports/udp/{udp_port:\\d+}', ({ params }) => {
      ports.udp.release(projects.get(params.project_id).id, Number(params.udp_port));
    }),
  ];
}
