// /v2/compute: description, load and events of this compute.
import { cpus, platform } from 'node:os';
import type { ComputeEvents } from '../../api/events.ts';
import type { NodeLoad } from '../../api/objects.ts';
import { releaseFor } from '../../api/releases.ts';
import type { UnavailableKind } from '../../api/routes/compute.ts';
import { COMPUTE_SERVER_ROUTES } from '../../api/routes/compute.ts';
import type { Config } from '../../config/schema.ts';
import type { EventBus } from '../../events/bus.ts';
import type { Operations } from '../../events/operations.ts';
import { notFound } from '../../failures.ts';
import type { LoadMeter } from '../../host/processes/host-statistics.ts';
import { CONSOLE_HOST, VXLAN_PORT } from '../../http/app/compute-headers.ts';
import { JsonText, type Route, routesOf } from '../../http/app/route.ts';
import { socketStream } from '../../http/sockets/event-streams.ts';
import { consoleHost } from '../ports/ports.ts';

const { route, socketRoute } = routesOf(COMPUTE_SERVER_ROUTES);

/** Milliseconds of silence before a controller is sent a ping. */
export const SILENCE_MS = 1000;

export interface ServerParts {
  config: Config;
  events: EventBus<ComputeEvents>;
  load: LoadMeter;
  /** The load of a project's nodes on this host. */
  loadOfProject(id: string): Promise<NodeLoad[]>;
  operations: Operations;
  /** Types of the nodes that this build runs. */
  nodeTypes: readonly string[];
  /** The UDP port of links to other hosts by VXLAN, if there is one. */
  vxlanPort(): number | undefined;
  /** Why nodes of a type are unavailable on this host; null if they are available. */
  unavailableKinds(): Promise<UnavailableKind[]>;
  debugReport(): Promise<string>;
}

export function serverRoutes({
  config,
  events,
  load,
  loadOfProject,
  operations,
  nodeTypes,
  vxlanPort,
  unavailableKinds,
  debugReport,
}: ServerParts): Route[] {
  const { version: releases, local, projects_path: directory } = config.Server;
  const version = releases.v2.number;
  return [
    route('GET /v2/compute/version', ({ headers }) => ({ version: releaseFor(releases, 'v2', headers), local })),

    // Controllers offer the kinds of nodes in this list.
    route('GET /v2/compute/capabilities', () => {
      const vxlan = vxlanPort();
      return new JsonText(JSON.stringify({ version, platform: platform(), node_types: nodeTypes }), {
        [CONSOLE_HOST]: consoleHost(config),
        ...(vxlan !== undefined && { [VXLAN_PORT]: String(vxlan) }),
      });
    }),

    route('GET /v2/compute/node_types/hindrances', unavailableKinds),

    // Beyond the release: the load of each node of the given project, and the number of processors.
    route('GET /v2/compute/statistics', async ({ query: { nodes, processors } }) => ({
      ...(await load.statistics(directory)),
      ...(nodes === undefined ? {} : { nodes: await loadOfProject(nodes) }),
      ...(processors === 'yes' && { processors: Math.max(cpus().length, 1) }),
    })),

    route(
      'GET /v2/compute/debug',
      async () => new Response(await debugReport(), { headers: { 'Content-Type': 'text/plain; charset=utf-8' } }),
    ),

    route('GET /v2/compute/operations', () => operations.list()),

    route('DELETE /v2/compute/operations/{operation_id}', ({ params: { operation_id: id } }) => {
      if (!operations.cancel(id)) throw notFound(`operation_id: there is no operation ${id}.`);
    }),

    socketRoute(
      '/v2/compute/notifications/ws',
      ({ query, headers }) =>
        (socket) =>
          socketStream(events.subscribe(undefined, query['since'], headers.get('x-operations') === 'yes'), {
            silence: SILENCE_MS,
            ping: () => load.usage(),
            text: (message) => message.scopedLine,
          })(socket),
    ),
  ];
}
