// The demonstration's lab: each API request is shown before it is sent.
import type { LinkObject, NodeObject, ProjectObject } from '../../api/objects.ts';
import { conflict } from '../../failures.ts';
import { isLoopback } from '../../host/network/loopback.ts';
import { freeName, HUB, linkToHub, type PC1 } from '../../layout/demonstration.ts';
import type { Api } from '../server/api.ts';
import type { Story } from './story.ts';

export interface Pc {
  nodeId: string;
  name: string;
  consoleHost: string;
  consolePort: number;
}

/** A server whose requests are shown. */
export interface ShownServer {
  api: Api;
  story: Story;
  /** Name or IP literal without brackets. */
  host: string;
}

export async function request<T>({ api, story }: ShownServer, method: Method, path: string, body?: object): Promise<T> {
  story.request(method, path, body);
  return (await api.request(method, path, body)) as T;
}
type Method = 'GET' | 'POST' | 'DELETE';

export class Lab {
  readonly id: string;
  readonly name: string;
  readonly path: string;
  readonly #server: ShownServer;

  private constructor(server: ShownServer, { project_id, name }: ProjectObject) {
    this.#server = server;
    this.id = project_id;
    this.name = name;
    this.path = `/v2/projects/${project_id}`;
  }

  /** Creates an empty lab with an unused name. It stays open without viewers. */
  static async create(server: ShownServer): Promise<Lab> {
    const others = await request<ProjectObject[]>(server, 'GET', '/v2/projects');
    const name = freeName(others.map((other) => other.name));
    return new Lab(server, await request(server, 'POST', '/v2/projects', { name, auto_close: false }));
  }

  async addPc(body: typeof PC1): Promise<Pc> {
    const properties = { base_script_file: 'vpcs_base_config.txt' };
    const node = await this.post<NodeObject>('nodes', { ...body, properties });
    if (node.console === null) throw conflict(`The server gave ${body.name} no console.`);
    const { node_id: nodeId, console: consolePort } = node;
    return { nodeId, name: body.name, consoleHost: this.#consoleHost(node), consolePort };
  }

  /** Answers the hub's node_id. */
  async addHub(): Promise<string> {
    return (await this.post<NodeObject>('nodes', HUB)).node_id;
  }

  /** Answers the link's link_id. */
  async connect(pc: Pc, hub: string, hubPort: number): Promise<string> {
    return (await this.post<LinkObject>('links', linkToHub(pc.nodeId, hub, hubPort))).link_id;
  }

  post<T>(path: string, body: object = {}): Promise<T> {
    return request(this.#server, 'POST', `${this.path}/${path}`, body);
  }

  async remove(): Promise<void> {
    await request(this.#server, 'DELETE', this.path);
  }

  /** The console's address for this client. A wildcard means the server's own address. */
  #consoleHost({ console_host: host }: NodeObject): string {
    if (host === null || ['0.0.0.0', '::', '[::]'].includes(host)) return this.#server.host;
    if (isLoopback(host) && !isLoopback(this.#server.host)) {
      throw conflict(
        `The consoles of this server can only be reached on its own host (${host}): run labwired demo there, or start the server with --allow.`,
      );
    }
    return host;
  }
}
