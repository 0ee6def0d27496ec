// A small lab on a server: what it is made of, by requests of the public API.
import { Failure } from '../failures.ts';
import { isLoopback } from '../host/network/loopback.ts';
import type { LabServer } from './lab-server.ts';

const NAME = 'Two PCs on a hub';

/** Half the heights of the symbols, so that the PCs and the hub stand in one row. */
const PC_Y = -30;
const HUB = { x: -36, y: -16 };

export interface Pc {
  nodeId: string;
  name: string;
  consoleHost: string;
  consolePort: number;
}

// What is read of the API's objects.
interface ProjectObject {
  project_id: string;
  name: string;
}
interface NodeObject {
  node_id: string;
  console: number | null;
  console_host: string;
}
interface LinkObject {
  link_id: string;
}

export class Lab {
  readonly id: string;
  readonly name: string;
  readonly #server: LabServer;

  private constructor(server: LabServer, { project_id, name }: ProjectObject) {
    this.#server = server;
    this.id = project_id;
    this.name = name;
  }

  /** A new, empty lab under a name that no other has. It stays open when nobody watches it. */
  static async create(server: LabServer): Promise<Lab> {
    const others = (await server.request('GET', '/v2/projects')) as ProjectObject[];
    const name = freeName(others.map((other) => other.name));
    const project = await server.request('POST', '/v2/projects', { name, auto_close: false });
    return new Lab(server, project as ProjectObject);
  }

  async addPc(name: string, x: number): Promise<Pc> {
    const node = await this.#addNode({
      name,
      node_type: 'vpcs',
      compute_id: 'local',
      symbol: ':/symbols/vpcs_guest.svg',
      x,
      y: PC_Y,
      properties: { base_script_file: 'vpcs_base_config.txt' },
    });
    if (node.console === null) throw new Failure('conflict', `The server gave ${name} no console.`);
    return { nodeId: node.node_id, name, consoleHost: this.#consoleHost(node), consolePort: node.console };
  }

  /** Answers the hub's node_id. */
  async addHub(): Promise<string> {
    const kind = { node_type: 'ethernet_hub', compute_id: 'local', symbol: ':/symbols/hub.svg' };
    return (await this.#addNode({ name: 'Hub', ...kind, ...HUB })).node_id;
  }

  /** Answers the link's link_id. */
  async connect(pc: Pc, hub: string, hubPort: number): Promise<string> {
    const nodes = [
      { node_id: pc.nodeId, adapter_number: 0, port_number: 0 },
      { node_id: hub, adapter_number: 0, port_number: hubPort },
    ];
    return ((await this.#request('POST', 'links', { nodes })) as LinkObject).link_id;
  }

  async start(pc: Pc): Promise<void> {
    await this.#request('POST', `nodes/${pc.nodeId}/start`, {});
  }

  async startCapture(link: string): Promise<void> {
    await this.#request('POST', `links/${link}/start_capture`, {});
  }

  /** The capture's bytes as they come. */
  async capture(link: string, signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    return await this.#server.stream(`/v2/projects/${this.id}/links/${link}/pcap`, signal);
  }

  async stopCapture(link: string): Promise<void> {
    await this.#request('POST', `links/${link}/stop_capture`, {});
  }

  /** Removes the lab with everything in it. */
  async remove(): Promise<void> {
    await this.#server.request('DELETE', `/v2/projects/${this.id}`);
  }

  async #addNode(body: object): Promise<NodeObject> {
    return (await this.#request('POST', 'nodes', body)) as NodeObject;
  }

  async #request(method: 'POST', path: string, body: object): Promise<unknown> {
    return await this.#server.request(method, `/v2/projects/${this.id}/${path}`, body);
  }

  /** Where the console can be reached from here. All addresses are also the one that we have come by. */
  #consoleHost({ console_host: host }: NodeObject): string {
    if (['0.0.0.0', '::', '[::]'].includes(host)) return this.#server.host;
    if (isLoopback(host) && !isLoopback(this.#server.host)) {
      throw new Failure(
        'conflict',
        `The consoles of this server can only be reached on its own host (${host}): run labwired demo there, or start the server with --allow.`,
      );
    }
    return host;
  }
}

/** The lab's name, or, if others have it, the first free one of "… 2", "… 3" and so on. */
export function freeName(taken: readonly string[]): string {
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? NAME : `${NAME} ${number}`;
    if (!taken.includes(name)) return name;
  }
}
