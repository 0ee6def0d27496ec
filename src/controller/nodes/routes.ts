// Nodes over HTTP.
import { posix } from 'node:path';
import { NODE_KINDS, nodeKind } from '../../api/kinds/kinds.ts';
import { NODE_ROUTES, type NodeCreate } from '../../api/routes/nodes.ts';
import { sizeOf } from '../../consoles/socket-control.ts';
import { conflict, forbidden, messageOf, notFound } from '../../failures.ts';
import {
  type Connected,
  route as definedRoute,
  type Route,
  type RouteRequest,
  routesOf,
} from '../../http/app/route.ts';
import { joinSockets, type MessageSocket, outputOnly } from '../../http/sockets/message-socket.ts';
import { lacksRoute, refusalOf } from '../computes/answers.ts';
import type { Computes } from '../computes/computes.ts';
import {
  type Action,
  act,
  cancelStartsOf,
  type LeftOut,
  reloadAll,
  resetAllConsoles,
  resetConsole,
  startAll,
  stopAll,
  suspendAll,
} from '../lab/actions.ts';
import type { Claim } from '../lab/change-queue.ts';
import { nodePresence, nodeRun } from '../lab/claims.ts';
import type { Nodes } from '../lab/nodes.ts';
import type { Project } from '../lab/project.ts';
import type { Projects } from '../projects/projects.ts';
import { displayOutput } from './display-output.ts';
import type { Node } from './node.ts';
import { windowConsole } from './window-console.ts';

const { route, socketRoute } = routesOf(NODE_ROUTES);

const ALL: Record<Action, (project: Project) => Promise<LeftOut[]>> = {
  start: startAll,
  stop: stopAll,
  suspend: suspendAll,
  reload: reloadAll,
};

const ACTIONS = Object.keys(ALL) as Action[];

type NodePath = Record<'project_id' | 'node_id', string>;

/** The path with the parameters that it names. */
function filled(path: string, params: Readonly<Record<string, string>>): string {
  return path.replace(/\{(\w+)\}/g, (_whole, name: string) => encodeURIComponent(params[name]!));
}

/** Servers of another release do not have the route. */
function withoutAnswer(error: unknown): string[] {
  if (lacksRoute(error)) return [];
  throw error;
}

export function nodeRoutes({
  projects,
  nodes,
  computes,
  create,
}: {
  projects: Projects;
  nodes: Nodes;
  computes: Computes;
  /** Creates a node on the requested host, or on one that is chosen. */
  create(project: Project, given: NodeCreate): Promise<Node>;
}): Route[] {
  const find = async (params: NodePath): Promise<{ project: Project; node: Node }> => {
    const project = await projects.opened(params.project_id);
    return { project, node: project.node(params.node_id) };
  };
  /** Calls a node's compute while the node cannot be deleted. */
  const inTurn = <T>(params: NodePath, claim: (id: string) => Claim, task: (node: Node) => Promise<T>): Promise<T> => {
    const project = projects.get(params.project_id);
    return project.changes.run(claim(params.node_id), () => task(project.node(params.node_id)));
  };

  return [
    route('GET /v2/projects/{project_id}/nodes', async ({ params }) => {
      const project = await projects.settled(params.project_id);
      if (project.state === 'closed') return projects.stored(project, 'nodes');
      return [...project.nodes.values()].map((node) => node.json());
    }),

    route('POST /v2/projects/{project_id}/nodes', async ({ params, body }) => {
      return (await create(projects.get(params.project_id), body)).json();
    }),

    ...ACTIONS.map((action) =>
      route(`POST /v2/projects/{project_id}/nodes/${action}`, async ({ params }) => {
        const project = await projects.opened(params.project_id);
        const leftOut = await ALL[action](project);
        if (leftOut.length === 0) return undefined;
        nodes.tellLeftOut(project, action, leftOut);
        return Response.json({ left_out: leftOut });
      }),
    ),

    route('POST /v2/projects/{project_id}/nodes/console/reset', async ({ params }) =>
      resetAllConsoles(await projects.opened(params.project_id)),
    ),

    route('GET /v2/projects/{project_id}/nodes/{node_id}', async ({ params }) => {
      const known = projects.get(params.project_id).nodes.get(params.node_id);
      // A lab that is opening, as after a restart, has its nodes in a moment.
      return (known ?? (await projects.settled(params.project_id)).node(params.node_id)).json();
    }),

    route('PUT /v2/projects/{project_id}/nodes/{node_id}', async ({ params, body }) => {
      const { project, node } = await find(params);
      // An unknown compute is ignored, as the release ignores all of them.
      const host = computes.list().find(({ id }) => id === body.compute_id) ?? node.compute;
      if (host === node.compute) return (await nodes.update(project, node.id, body)).json();
      return (await nodes.move(project, node.id, host, body)).json();
    }),

    route('DELETE /v2/projects/{project_id}/nodes/{node_id}', async ({ params, query }) => {
      const { project, node } = await find(params);
      const until = await nodes.delete(project, node.id, { keep: query['keep'] === 'yes' });
      return until === undefined ? undefined : Response.json({ until: new Date(until).toISOString() });
    }),

    route('GET /v2/projects/{project_id}/deleted_nodes', async ({ params }) => {
      return (await projects.opened(params.project_id)).deleted.list();
    }),

    route('POST /v2/projects/{project_id}/deleted_nodes/{node_id}/restore', async ({ params }) => {
      const project = await projects.opened(params.project_id);
      return (await nodes.restore(project, params.node_id)).json();
    }),

    route('POST /v2/projects/{project_id}/nodes/{node_id}/duplicate', async ({ params, body }) => {
      const { project, node } = await find(params);
      return (await nodes.duplicate(project, node.id, body)).json();
    }),

    ...ACTIONS.map((action) =>
      route(`POST /v2/projects/{project_id}/nodes/{node_id}/${action}`, async ({ params, body }) => {
        const asked = projects.get(params.project_id).nodes.get(params.node_id);
        const cancelled = cancelStartsOf(asked && action === 'stop' ? [asked] : []);
        const ended = asked?.endAsked;
        return inTurn(params, nodeRun, async (node) => {
          await cancelled;
          if (action === 'start') ended?.throwIfAborted();
          // Changes caused by a start are announced by `node.updated`; the answer shows the node before them, as
          // clients of the release expect.
          const known = action === 'reload' ? { ...node.json(), status: 'stopped' as const } : node.json();
          await act(node, action, typeof body === 'object' && body !== null ? body : {});
          return action === 'start' || action === 'reload' ? known : node.json();
        });
      }),
    ),

    route('GET /v2/projects/{project_id}/nodes/{node_id}/links', async ({ params }) => {
      const { project, node } = await find(params);
      return project.linksOf(node).map((link) => link.json());
    }),

    route('GET /v2/projects/{project_id}/nodes/{node_id}/mac_table', async ({ params }) => {
      return inTurn(params, nodePresence, async (node) => (await node.compute.get(macTablePath(node))) as object);
    }),

    route('DELETE /v2/projects/{project_id}/nodes/{node_id}/mac_table', async ({ params }) => {
      await inTurn(params, nodePresence, (node) => node.compute.delete(macTablePath(node)));
    }),

    route('GET /v2/projects/{project_id}/nodes/{node_id}/addresses', async ({ params }) => {
      return inTurn(params, nodePresence, async (node) => {
        if (!nodeKind(node.type).hasLiveAddresses || node.status === 'stopped') return [];
        return (await node.compute.get(`${node.path}/addresses`).catch(withoutAnswer)) as string[];
      });
    }),

    route('GET /v2/projects/{project_id}/nodes/{node_id}/disk_use', async ({ params }) => {
      return inTurn(params, nodePresence, async (node) => {
        try {
          return (await node.compute.get(`${node.path}/disk_use`)) as object;
        } catch (error) {
          // The text of an unknown route, not of an unknown node.
          if (!lacksRoute(error) || !messageOf(error).endsWith(': 404: Not Found')) throw error;
          throw notFound(`${node.name} has no directory: its host knows none for nodes of type ${node.type}.`);
        }
      });
    }),

    ...NODE_KINDS.flatMap(({ passes = [] }) => passes).map(({ method, path, to, limit, ...definition }) =>
      definedRoute(
        `${method} /v2/projects/{project_id}/nodes/{node_id}/${path}`,
        { access: 'change', ...definition },
        async ({ params, body, signal }) =>
          inTurn(params, nodeRun, async (node) => {
            const place = `${node.path}/${filled(to, params)}`;
            if (method === 'GET') return (await node.compute.get(place, { limit, signal })) as object;
            await node.protectImages();
            if (method === 'DELETE') await node.compute.delete(place, { limit });
            else await node.compute[method === 'PUT' ? 'put' : 'post'](place, { body: body as object, limit });
          }),
      ),
    ),

    route('POST /v2/projects/{project_id}/nodes/{node_id}/console/reset', ({ params }) =>
      inTurn(params, nodePresence, resetConsole),
    ),

    ...(['console', 'aux'] as const).map((place) =>
      socketRoute(`/v2/projects/{project_id}/nodes/{node_id}/${place}/ws`, async ({ params, query, client }) => {
        const { node } = await find(params);
        const size = sizeOf(query);
        const path = `${node.path}/${place}/ws`;
        // A viewer must not change the size of others' terminal.
        if (client.watches) return joinWith(outputOnly(await node.compute.openSocket(path)));
        if (size) return windowConsole(node, place, size);
        return joinWith(await node.compute.openSocket(path));
      }),
    ),

    socketRoute('/v2/projects/{project_id}/nodes/{node_id}/console/vnc', async ({ params, client }) => {
      const { node } = await find(params);
      const display = await node.compute.openSocket(`${node.path}/console/vnc`);
      return joinWith(client.watches ? displayOutput(display) : display);
    }),

    route('GET /v2/projects/{project_id}/nodes/{node_id}/files/{path:.+}', async ({ params, signal }) => {
      const { node } = await find(params);
      const answer = await node.compute.pass('GET', filePath(node, params.path), { signal });
      if (answer.status >= 300) throw refusalOf(answer.status, await answer.text(), `GET ${params.path}`);
      return new Response(answer.body, {
        headers: {
          'Content-Type': 'application/octet-stream',
          ...(answer.headers.has('content-length')
            ? { 'Content-Length': String(answer.headers.get('content-length')) }
            : {}),
        },
      });
    }),

    route('POST /v2/projects/{project_id}/nodes/{node_id}/files/{path:.+}', async (request) => {
      return inTurn(request.params, nodePresence, (node) => writeFile(node, request));
    }),
  ];
}

function joinWith(remote: MessageSocket): Connected {
  return (socket) => joinSockets(socket, remote);
}

/** @throws Failure `conflict` for a node without a MAC table */
function macTablePath(node: Node): string {
  if (nodeKind(node.type).learnsAddresses) return `${node.path}/mac_table`;
  const switches = NODE_KINDS.filter(({ learnsAddresses }) => learnsAddresses).map(({ type }) => type);
  throw conflict(`${node.name} has no table of MAC addresses: it is no ${switches.join(' or ')}.`);
}

async function writeFile(node: Node, { params, stream, signal }: RouteRequest<'/{path:.+}'>): Promise<undefined> {
  const answer = await node.compute.pass('POST', filePath(node, params.path), { body: stream, signal });
  const text = await answer.text();
  if (answer.status >= 300) throw refusalOf(answer.status, text, `POST ${params.path}`);
}

/** The path of a node's file on its compute. Paths outside the node's directory are refused here. */
function filePath(node: Node, path: string): string {
  const wanted = posix.normalize(path.replaceAll('\\', '/'));
  if (wanted.startsWith('.') || wanted.startsWith('/') || wanted.includes('/../')) {
    throw forbidden(`path: "${path}" leads out of the node's directory.`);
  }
  const segments = ['project-files', node.type, node.id, ...wanted.split('/')];
  return `/projects/${node.projectId}/files/${segments.map(encodeURIComponent).join('/')}`;
}
