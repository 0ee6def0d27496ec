// Hosts of a cluster in one process, for the bench of its size: each takes part over NATS as a server does, and answers the least that a
// controller asks a compute for. Called with the state directories of the hosts; says when all hold their leases.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { json } from 'node:stream/consumers';
import { type WebSocket, WebSocketServer } from 'ws';
import { type Cluster, startCluster } from '../../src/cluster/service.ts';
import { eventually } from '../eventually.ts';

const VERSION = '2.2.57';
const NODE_TYPES = ['vpcs', 'ethernet_switch'];
const MIB = 2 ** 20;
/** Room for some 200 PCs. */
const STATISTICS = { memory_free: 16_000 * MIB, memory_total: 32_000 * MIB, processors: 2, disk_usage_percent: 20 };

type StandInNode = Record<string, unknown> & { node_id: string; status: string };

/** What a compute answers; a node is what it was made with. */
class StandInCompute {
  readonly #nodes = new Map<string, StandInNode>();
  readonly #sockets = new WebSocketServer({ noServer: true });
  readonly #server = createServer((request, response) => void this.#answer(request, response));
  #port = 20_000;

  constructor() {
    this.#server.keepAliveTimeout = 0;
    this.#server.on('upgrade', (request, socket, head) => {
      if (/\/notifications\/ws/.test(request.url ?? '')) this.#sockets.handleUpgrade(request, socket, head, () => {});
      else socket.end('HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
    });
  }

  accept(stream: Duplex): void {
    this.#server.emit('connection', stream);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '' } = request;
    const path = new URL(url, 'http://host').pathname.replace('/v2/compute', '');
    const isWithBody = method === 'POST' || method === 'PUT';
    const body = isWithBody ? ((await json(request).catch(() => ({}))) as Record<string, unknown>) : {};
    const answer = this.#answerTo(`${method} ${path}`, body);
    const status = answer === undefined ? 404 : answer === '' ? 204 : method === 'POST' ? 201 : 200;
    response.writeHead(status, { 'Content-Type': 'application/json' });
    response.end(answer ? JSON.stringify(answer) : status === 404 ? '{"message":"no such route"}' : undefined);
  }

  #answerTo(call: string, body: Record<string, unknown>): object | '' | undefined {
    if (call === 'GET /capabilities') return { version: VERSION, platform: 'linux', node_types: NODE_TYPES };
    if (call === 'GET /statistics') return STATISTICS;
    if (/^GET \/(projects|network\/interfaces|node_types\/hindrances)$|\/files$/.test(call)) return [];
    if (/^(POST|PUT) \/projects(\/[^/]+)?$/.test(call)) return body;
    if (/^POST \/projects\/[^/]+\/close$/.test(call)) return '';
    if (call.endsWith('/ports/udp')) {
      this.#port += 1;
      return { udp_port: this.#port };
    }
    const [, method, projectId, type, id, rest = ''] =
      /^(\w+) \/projects\/([^/]+)\/(\w+)\/nodes(?:\/([^/]+)(\/.*)?)?$/.exec(call) ?? [];
    if (method === undefined) return undefined;
    if (id === undefined) return this.#make(body, projectId as string, type as string);
    const node = this.#nodes.get(id);
    if (!node) return undefined;
    if (rest.endsWith('/nio')) return method === 'DELETE' ? '' : body;
    if (rest === '/start' || rest === '/stop') {
      node.status = rest === '/start' || type === 'ethernet_switch' ? 'started' : 'stopped';
      this.#tell({ action: 'node.updated', event: node });
      return '';
    }
    if (rest !== '') return undefined;
    if (method === 'DELETE') return this.#nodes.delete(id) ? '' : undefined;
    return Object.assign(node, body);
  }

  #make(body: Record<string, unknown>, projectId: string, type: string): StandInNode {
    const { console: wanted } = body;
    this.#port += 1;
    const node: StandInNode = {
      ...body,
      project_id: projectId,
      node_id: body['node_id'] as string,
      status: type === 'ethernet_switch' ? 'started' : 'stopped',
      console: wanted ?? this.#port,
      node_directory: `/var/lib/labwire/projects/${projectId}/project-files/${type}/${body['node_id']}`,
      command_line: '',
    };
    this.#nodes.set(node.node_id, node);
    return node;
  }

  #tell(message: object): void {
    const text = JSON.stringify(message);
    for (const socket of this.#sockets.clients as Set<WebSocket>) socket.send(text);
  }
}

async function standIn(state: string): Promise<{ cluster: Cluster; renewals: () => number }> {
  const compute = new StandInCompute();
  let renewals = 0;
  const say = (): void => {};
  const cluster = await startCluster({
    ...{ state, cluster: '', failoverMs: 0, log: { info: say, warn: say, error: say } },
    describe: async () => ({
      ...{ version: VERSION, port: 3080, kvm: false, cores: STATISTICS.processors, node_types: NODE_TYPES },
      free_memory_bytes: STATISTICS.memory_free,
    }),
    renewed: () => {
      renewals += 1;
    },
    accept: (stream) => compute.accept(stream),
    acceptClient: (stream) => stream.destroy(),
    held: () => {},
    absent: () => {},
    forgotten: () => {},
    isDraining: () => false,
  });
  return { cluster, renewals: () => renewals };
}

const hosts = await Promise.all(process.argv.slice(2).map(standIn));
await eventually(
  'all leases',
  () => hosts.filter(({ renewals }) => renewals() > 0).length,
  (held) => held === hosts.length,
);
process.send?.('ready');
