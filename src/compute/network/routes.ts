// /v2/compute/network and the UDP ports of projects.
import type { Config } from '../../config/schema.ts';
import { networkInterfaces } from '../../host/network/interfaces.ts';
import { type Route, route } from '../../http/app/route.ts';
import type { Ports } from '../ports/ports.ts';
import type { Projects } from '../projects/projects.ts';

export function networkRoutes(config: Config, ports: Ports, projects: Projects): Route[] {
  return [
    route('GET /v2/compute/network/interfaces', {}, () => networkInterfaces(config.Server.allowed_interfaces)),

    route('GET /v2/compute/network/ports', {}, () => ({
      console_port_range: ports.console.range,
      console_ports: ports.console.used,
      udp_port_range: ports.udp.range,
      udp_ports: ports.udp.used,
    })),

    route('POST /v2/compute/projects/{project_id}/ports/udp', { status: 201 }, async ({ params }) => ({
      udp_port: await ports.udp.reserve(projects.get(params.project_id).id),
    })),

    route('DELETE /v2/compute/projects/{project_id}/ports/udp/{udp_port:\\d+}', { status: 204 }, ({ params }) => {
      ports.udp.release(projects.get(params.project_id).id, Number(params.udp_port));
      return undefined;
    }),
  ];
}
