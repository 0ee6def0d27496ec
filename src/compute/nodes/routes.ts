// The routes common to all kinds of node, generated for each kind from its definition (as in release 2.2.57).
import type { Kept } from '../../api/deleted-nodes.ts';
import type { Console } from '../../consoles/console.ts';
import { attachSocket } from '../../consoles/socket-client.ts';
import { sizeOf } from '../../consoles/socket-control.ts';
import { macNumberIn } from '../../http/app/mac-number-header.ts';
import { lastBytes } from '../../http/app/query.ts';
import { type Connected, type Route, type RouteOptions, route, socketRoute } from '../../http/app/route.ts';
import type { Schema } from '../../http/app/validation.ts';
import { mustBeUuid } from '../identifiers.ts';
import type { Projects } from '../projects/projects.ts';
import type { FindNode, NodeKind } from './kind.ts';
import { diskUse } from './load/disk-use.ts';
import { captureSocket, followCapture } from './ports/captures.ts';
import { impairmentRoutes } from './ports/impairment-routes.ts';
import { Nio, nioAnswer } from './ports/nio.ts';
import type { NodePort } from './ports/port.ts';
import { NodeCapture, NodeDuplicate } from './schema.ts';

const WINDOW_QUERY = { cols: 'Columns of the window', rows: 'Rows of the window' };

type NodeParameters = Record<'project_id' | 'node_id', string>;
type PortParameters = NodeParameters & Record<'adapter_number' | 'port_number', string>;

export function nodeRoutes(kind: NodeKind, projects: Projects): Route[] {
  const collection = `/v2/compute/projects/{project_id}/${kind.type}/nodes` as const;
  const node = `${collection}/{node_id}` as const;
  const port = `${node}/adapters/{adapter_number:\\d+}/ports/{port_number:\\d+}` as const;

  const find: FindNode = ({ project_id, node_id }) =>
    projects.get(project_id).node(kind, mustBeUuid('node_id', node_id));
  /** A start that waits for its turn on this host must not delay a stop. */
  const cancelStart = (params: NodeParameters) => find(params).cancelStart('stopped');
  const findPort = (params: PortParameters): NodePort =>
    find(params).port(Number(params.adapter_number), Number(params.port_number));

  const routes: Route[] = [
    route(`POST ${collection}`, { body: kind.create, status: 201 }, async ({ params, body, headers }) => {
      const number = kind.macNumber && macNumberIn(headers);
      const made = await projects.get(params.project_id).createNode(kind, body as { name: string; node_id?: string });
      if (number === undefined) return made.describe();
      kind.macNumber?.set(made, number);
      return { ...made.describe(), mac_number: kind.macNumber?.get(made) };
    }),

    route(`GET ${node}`, {}, ({ params }) => find(params).describe()),

    route(`PUT ${node}`, { body: kind.update }, async ({ params, body }) => {
      const found = find(params);
      await kind.change(found, body);
      found.announce();
      return found.describe();
    }),

    route(
      `DELETE ${node}`,
      {
        status: 204,
        ahead: ({ project_id, node_id }: NodeParameters) =>
          projects.get(project_id).find(kind, node_id)?.cancelStart('removed'),
      },
      async ({ params, query }) => {
        const keep = query['keep'] === 'yes';
        const kept = await projects
          .get(params.project_id)
          .deleteNode(kind, mustBeUuid('node_id', params.node_id), { keep });
        return keep ? Response.json({ kept } satisfies Kept) : undefined;
      },
    ),

    route(`POST ${node}/start`, startOptions(kind), async ({ params, body, headers }) => {
      const found = find(params);
      const number = kind.macNumber && macNumberIn(headers);
      if (number !== undefined) kind.macNumber?.set(found, number);
      await (kind.starting ? kind.starting.start(found, body) : found.start());
      return kind.startAnswersNode ? found.describe() : undefined;
    }),

    route(`POST ${node}/stop`, { status: 204, ahead: cancelStart }, ({ params }) => find(params).stop()),
    route(`POST ${node}/suspend`, { status: 204 }, ({ params }) => find(params).suspend()),

    route(`POST ${port}/nio`, { body: Nio, status: 201 }, async ({ params, body }) => {
      await findPort(params).attach(body);
      return nioAnswer(body);
    }),

    route(`DELETE ${port}/nio`, { status: 204 }, ({ params }) => findPort(params).detach()),

    route(`POST ${port}/start_capture`, { body: NodeCapture }, async ({ params, body }) => {
      const capture = await findPort(params).startCapture(body);
      return { pcap_file_path: capture.path };
    }),

    route(`POST ${port}/stop_capture`, { status: 204 }, ({ params }) => findPort(params).stopCapture()),

    route(`GET ${port}/pcap`, { concurrent: true }, ({ params, query }) =>
      followCapture(findPort(params).capture(), lastBytes(query)),
    ),

    socketRoute(`${port}/pcap/ws`, ({ params, query }) => {
      const found = findPort(params);
      return captureSocket(found.capture(), () => found.captureFigures(), lastBytes(query));
    }),

    ...impairmentRoutes(port, findPort),
  ];

  const { module } = kind;
  if (module !== undefined) {
    routes.push(route(`GET ${node}/disk_use`, {}, ({ params }) => diskUse(find(params), module)));
  }

  if (kind.updatesNio) {
    routes.push(
      route(`PUT ${port}/nio`, { body: Nio, status: 201 }, async ({ params, body }) => {
        await findPort(params).update(body);
        return body;
      }),
    );
  }

  const { duplicate, reload, resume, runningState, console } = kind;
  if (duplicate) {
    routes.push(
      route(`POST ${node}/duplicate`, { body: NodeDuplicate, status: 201 }, async ({ params, body }) => {
        const destination = projects.get(params.project_id).node(kind, body.destination_node_id);
        await duplicate(find(params), destination);
        return destination.describe();
      }),
    );
  }
  if (reload) {
    routes.push(route(`POST ${node}/reload`, { status: 204 }, ({ params }) => reload(find(params))));
  }
  if (resume) {
    routes.push(route(`POST ${node}/resume`, { status: 204 }, ({ params }) => resume(find(params))));
  }
  if (runningState) {
    const { keep, drop, start } = runningState;
    routes.push(
      route(`POST ${node}/state`, { status: 204 }, ({ params }) => keep(find(params))),
      route(`DELETE ${node}/state`, { status: 204 }, ({ params }) => drop(find(params))),
      route(`POST ${node}/state/start`, { status: 204 }, ({ params }) => start(find(params))),
    );
  }
  if (console) {
    routes.push(
      route(`POST ${node}/console/reset`, { status: 204 }, ({ params }) => console.reset(find(params))),
      socketRoute(`${node}/console/ws`, ({ params, query }) => clientOf(console.connect(find(params)), query)),
      windowRoute(`${node}/console/window/ws`, (params) => console.connect(find(params))),
    );
    const tunnel = { summary: 'Port of the console of a node, in binary messages (an extension)' };
    routes.push(socketRoute(`${node}/console/port/ws`, ({ params }) => console.connectPort(find(params)), tunnel));
    const { connectAuxiliary, connectDisplay } = console;
    if (connectAuxiliary) {
      const words = { summary: 'Auxiliary console of a node (an extension)', query: WINDOW_QUERY };
      routes.push(
        socketRoute(`${node}/aux/ws`, ({ params, query }) => clientOf(connectAuxiliary(find(params)), query), words),
        windowRoute(`${node}/aux/window/ws`, (params) => connectAuxiliary(find(params))),
      );
    }
    if (connectDisplay) {
      const words = { summary: 'VNC display of a node, in binary messages (an extension)' };
      routes.push(socketRoute(`${node}/console/vnc`, ({ params }) => connectDisplay(find(params)), words));
    }
  }
  return kind.routes ? [...routes, ...kind.routes(find)] : routes;
}

/**
 * For controllers. Computes of the release do not have this route, so its presence shows that control messages are
 * supported.
 */
function windowRoute(path: `/${string}`, consoleOf: (params: NodeParameters) => Console): Route {
  const words = { summary: 'Console of a node for a client that names its window (an extension)', query: WINDOW_QUERY };
  return socketRoute(
    path,
    ({ params, query }) => {
      const { cols = '', rows = '' } = query;
      return clientOf(consoleOf(params as NodeParameters), { cols, rows });
    },
    words,
  );
}

function clientOf(console: Console, query: Record<string, string>): Connected {
  const size = sizeOf(query);
  return (socket) => attachSocket(console, socket, 'WebSocket', size);
}

function startOptions({ starting, startAnswersNode }: NodeKind): RouteOptions<Schema> {
  return { status: startAnswersNode ? 200 : 204, ...(starting ? { body: starting.body } : {}) };
}
