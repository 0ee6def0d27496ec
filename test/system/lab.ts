// A lab on a daemon under test, made by requests of the public API.
import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import { DEFAULT_SEARCH_PATH } from '../../src/host/processes/program-path.ts';
import type { Daemon } from './daemon.ts';

// Members that tests look at.
export interface ProjectObject {
  project_id: string;
  name: string;
  path: string;
  filename: string;
  status: string;
  damaged?: string;
}
export interface NodeObject {
  node_id: string;
  name: string;
  status: string;
  console: number;
  console_type: string | null;
  node_directory: string;
  command_line: string | null;
  label: { text: string };
  x: number;
  y: number;
}
export interface LinkObject {
  link_id: string;
  nodes: { node_id: string; adapter_number: number; port_number: number; label: { text: string } }[];
  capture_file_path: string | null;
}

/** For `skip` of a test: the first of these programs that is not on this host, or false. */
export function missing(...programs: string[]): string | false {
  const found = (program: string): boolean =>
    DEFAULT_SEARCH_PATH.split(':').some((directory) => {
      try {
        accessSync(join(directory, program), constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
  const absent = programs.find((program) => !found(program));
  return absent === undefined ? false : `${absent} is not installed`;
}

export class Lab {
  readonly daemon: Daemon;
  readonly project: ProjectObject;

  private constructor(daemon: Daemon, project: ProjectObject) {
    this.daemon = daemon;
    this.project = project;
  }

  /** An empty, open project that stays open without listeners. */
  static async create(daemon: Daemon, name = 'Lab', settings: object = {}): Promise<Lab> {
    return new Lab(daemon, await daemon.post('/v2/projects', { name, auto_close: false, ...settings }));
  }

  /** Path of the project's routes. */
  get path(): string {
    return `/v2/projects/${this.project.project_id}`;
  }

  pc(name: string, members: object = {}): Promise<NodeObject> {
    return this.daemon.post(`${this.path}/nodes`, { name, node_type: 'vpcs', compute_id: 'local', ...members });
  }

  /** A hub with eight ports. */
  hub(name: string): Promise<NodeObject> {
    return this.daemon.post(`${this.path}/nodes`, { name, node_type: 'ethernet_hub', compute_id: 'local' });
  }

  /** Joins port 0 of a PC and a port of the other node. */
  link(pc: NodeObject, other: NodeObject, port = 0): Promise<LinkObject> {
    const end = (node: NodeObject, port_number: number) => ({ node_id: node.node_id, adapter_number: 0, port_number });
    return this.daemon.post(`${this.path}/links`, { nodes: [end(pc, 0), end(other, port)] });
  }

  /** PCs named PC1, PC2, ... with the addresses 10.0.0.1, 10.0.0.2, ... at the ports of one hub, started. */
  async pcsOnHub(count: number): Promise<{ pcs: NodeObject[]; hub: NodeObject; links: LinkObject[] }> {
    const hub = await this.hub('Hub1');
    const pcs: NodeObject[] = [];
    const links: LinkObject[] = [];
    for (let index = 0; index < count; index++) {
      const startup_script = `ip 10.0.0.${index + 1}/24\n`;
      const pc = await this.pc(`PC${index + 1}`, { properties: { startup_script } });
      pcs.push(pc);
      links.push(await this.link(pc, hub, index));
    }
    await this.daemon.post(`${this.path}/nodes/start`);
    return { pcs, hub, links };
  }

  nodes(): Promise<NodeObject[]> {
    return this.daemon.get(`${this.path}/nodes`);
  }

  links(): Promise<LinkObject[]> {
    return this.daemon.get(`${this.path}/links`);
  }

  node({ node_id }: NodeObject): Promise<NodeObject> {
    return this.daemon.get(`${this.path}/nodes/${node_id}`);
  }

  async start(node: NodeObject): Promise<void> {
    await this.daemon.post(`${this.path}/nodes/${node.node_id}/start`);
  }

  async reopen(): Promise<void> {
    await this.daemon.post(`${this.path}/close`);
    await this.daemon.post(`${this.path}/open`);
  }
}
