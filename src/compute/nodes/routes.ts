// The routes common to all kinds of node, generated for each kind from its definition (as in release 2.2.57).
import type { Kept } from '../../api/deleted-nodes.ts';
import { nodeKind } from '../../api/kinds/kinds.ts';
import { COMPUTE_NODE_ROUTES } from '../../api/routes/compute-nodes.ts';
import type { Console } from '../../consoles/console.ts';
import { attachSocket } from '../../consoles/socket-client.ts';
import { sizeOf } from '../../consoles/socket-control.ts';
import { macNumberIn } from '../../http/app/mac-number-header.ts';
import { lastBytes } from '../../http/app/query.ts';
import { type Connected, type Route, routesOf } from '../../http/app/route.ts';
import { mustBeUuid } from '../identifiers.ts';
import type { Projects } from '../projects/projects.ts';
import type { FindNode, NodeKind } from './kind.ts';
import { diskUse } from './load/disk-use.ts';
import { captureSocket, followCapture } from './ports/captures.ts';
import { impairmentRoutes } from './ports/impairment-routes.ts';
import { nioAnswer } from './ports/nio.ts';
import type { NodePort } from './ports/port.ts';

type NodeParameters = Record<'project_id' | 'node_id', string>;
type PortParameters = NodeParameters & Record<'adapter_number' | 'port_number', string>;

const COLLECTION = '/v2/compute/projects/{project_id}/{node_type}/nodes';
const NODE = `${COLLECTION}/{node_id}` as const;
const PORT = `${NODE}/adapters/{adapter_number:\\d+}/ports/{port_number:\\d+}` as const;

export function nodeRoutes(kind: NodeKind, projects: Projects): Route[] {
  const { route, socketRoute } = routesOf(COMPUTE_NODE_ROUTES, { node_type: kind.type });

  const find: FindNode = ({ project_id, node_id }) =>
    projects.get(project_id).node(kind, mustBeUuid('node_id', node_id));
  /** A start that waits for its turn on this host must not delay a stop. */
  const cancelStart = (params: NodeParameters) => find(params).cancelStart('stopped');
  const findPort = (params: PortParameters): NodePort =>
    find(params).port(Number(params.adapter_number), Number(params.port_number));

  const routes: Route[] = [
    route(
      `POST ${COLLECTION}`,
      async ({ params, body, headers }) => {
        const number = kind.macNumber && macNumberIn(headers);
        const made = await projects.get(params.project_id).createNode(kind, body as { name: string; node_id?: string });
        if (number === undefined) return made.describe();
        kind.macNumber?.set(made, number);
        return { ...made.describe(), mac_number: kind.macNumber?.get(made) };
      },
      { body: kind.create, settings: kind.type },
    ),

    route(`GET ${NODE}`, ({ params }) => find(params).describe()),

    route(
      `PUT ${NODE}`,
      async ({ params, body }) => {
        const found = find(params);
        await kind.change(found, body);
        found.announce();
        return found.describe();
      },
      { body: kind.update, settings: kind.type },
    ),

    route(
      `DELETE ${NODE}`,
      async ({ params, query }) => {
        const keep = query['keep'] === 'yes';
        const node = mustBeUuid('node_id', params.node_id);
        const kept = await projects.get(params.project_id).deleteNode(kind, node, { keep });
        return keep ? Response.json({ kept } satisfies Kept) : undefined;
      },
      {
        ahead: ({ project_id, node_id }: NodeParameters) =>
          projects.get(project_id).find(kind, node_id)?.cancelStart('removed'),
      },
    ),

    route(
      `POST ${NODE}/start`,
      async ({ params, body, headers }) => {
        const found = find(params);
        const number = kind.macNumber && macNumberIn(headers);
        if (number !== undefined) kind.macNumber?.set(found, number);
        await (kind.starting ? kind.starting.start(found, body) : found.start());
        return kind.startAnswersNode ? found.describe() : undefined;
      },
      { status: kind.startAnswersNode ? 200 : 204, ...(kind.starting && { body: kind.starting.body }) },
    ),

    route(`POST ${NODE}/stop`, ({ params }) => find(params).stop(), { ahead: cancelStart }),
    route(`POST ${NODE}/suspend`, ({ params }) => find(params).suspend()),

    route(`POST ${PORT}/nio`, async ({ params, body }) => {
      await findPort(params).attach(body);
      return nioAnswer(body);
    }),

    route(`DELETE ${PORT}/nio`, ({ params }) => findPort(params).detach()),

    route(`POST ${PORT}/start_capture`, async ({ params, body }) => {
      const capture = await findPort(params).startCapture(body);
      return { pcap_file_path: capture.path };
    }),

    route(`POST ${PORT}/stop_capture`, ({ params }) => findPort(params).stopCapture()),

    route(`GET ${PORT}/pcap`, ({ params, query }) => followCapture(findPort(params).capture(), lastBytes(query))),

    socketRoute(`${PORT}/pcap/ws`, ({ params, query }) => {
      const found = findPort(params);
      return captureSocket(found.capture(), () => found.captureFigures(), lastBytes(query));
    }),

    ...impairmentRoutes(kind, findPort),
  ];

  const { module } = kind;
  if (module !== undefined) {
    routes.push(route(`GET ${NODE}/disk_use`, ({ params }) => diskUse(find(params), module)));
  }

  if (!nodeKind(kind.type).fixedNios) {
    routes.push(
      route(`PUT ${PORT}/nio`, async ({ params, body }) => {
        await findPort(params).update(body);
        return body;
      }),
    );
  }

  const { duplicate, reload, resume, runningState, console, liveAddresses } = kind;
  if (duplicate) {
    routes.push(
      route(`POST ${NODE}/duplicate`, async ({ params, body }) => {
        const destination = projects.get(params.project_id).node(kind, body.destination_node_id);
        await duplicate(find(params), destination);
        return destination.describe();
      }),
    );
  }
  if (reload) {
    routes.push(route(`POST ${NODE}/reload`, ({ params }) => reload(find(params))));
  }
  if (resume) {
    routes.push(route(`POST ${NODE}/resume`, ({ params }) => resume(find(params))));
  }
  if (liveAddresses) {
    routes.push(route(`GET ${NODE}/addresses`, ({ params }) => liveAddresses(find(params))));
  }
  if (runningState) {
    const { keep, drop, start } = runningState;
    routes.push(
      route(`POST ${NODE}/state`, ({ params }) => keep(find(params))),
      route(`DELETE ${NODE}/state`, ({ params }) => drop(find(params))),
      route(`POST ${NODE}/state/start`, ({ params }) => start(find(params))),
    );
  }
  if (console) {
    routes.push(
      route(`POST ${NODE}/console/reset`, ({ params }) => console.reset(find(params))),
      socketRoute(`${NODE}/console/ws`, ({ params, query }) => clientOf(console.connect(find(params)), query)),
      // For controllers: computes of the release do not have it, so that its presence shows that control messages are supported.
      socketRoute(`${NODE}/console/window/ws`, ({ params, query }) => windowOf(console.connect(find(params)), query)),
    );
    routes.push(socketRoute(`${NODE}/console/port/ws`, ({ params }) => console.connectPort(find(params))));
    const { connectAuxiliary, connectDisplay } = console;
    if (connectAuxiliary) {
      routes.push(
        socketRoute(`${NODE}/aux/ws`, ({ params, query }) => clientOf(connectAuxiliary(find(params)), query)),
        socketRoute(`${NODE}/aux/window/ws`, ({ params, query }) => windowOf(connectAuxiliary(find(params)), query)),
      );
    }
    if (connectDisplay) {
      routes.push(socketRoute(`${NODE}/console/vnc`, ({ params }) => connectDisplay(find(params))));
    }
  }
  return [...routes, ...(kind.routes?.(find) ?? [])].map(inTurn);
}

/** Requests for one node run one at a time, as in the release. A controller's projects order their changes themselves. */
function inTurn(route: Route): Route {
  if (route.kind === 'socket' || route.definition.concurrent || !route.pattern.includes('{node_id}')) return route;
  route.turn = turnOf;
  return route;
}

const turnOf = ({ project_id, node_id }: NodeParameters): string => `${project_id}/${node_id}`;

/** A client that names its window. */
function windowOf(console: Console, { cols = '', rows = '' }: Record<string, string>): Connected {
  return clientOf(console, { cols, rows });
}

function clientOf(console: Console, query: Record<string, string>): Connected {
  const size = sizeOf(query);
  return (socket) => attachSocket(console, socket, 'WebSocket', size);
}
