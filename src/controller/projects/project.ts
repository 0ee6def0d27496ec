// A project: its settings, and while it is open the lab itself.
import { Failure } from '../../failures.ts';
import type { ProjectRecord } from '../../store/projects.ts';
import type { Compute } from '../computes/compute.ts';
import type { Drawing } from '../drawings/drawing.ts';
import type { Link } from '../links/link.ts';
import { NamePool } from '../nodes/names.ts';
import type { Node } from '../nodes/node.ts';

export type ProjectState = 'closed' | 'opening' | 'opened' | 'closing';

export class Project {
  record: ProjectRecord;
  state: ProjectState = 'closed';
  /** Why the topology file cannot be read, when it cannot: such a project is listed, but does not open. */
  damaged: string | undefined;
  /** It was open when a former life of this server ended without closing it: its computes may still have its nodes. */
  leftOpen = false;
  /** It was closed, but the disk could not be told: closing it once more tells it. */
  unended = false;
  /** Settles when the opening under way has ended. */
  opening: Promise<void> | undefined;
  readonly nodes = new Map<string, Node>();
  readonly links = new Map<string, Link>();
  readonly drawings = new Map<string, Drawing>();
  names = new NamePool();
  /** Computes that have been told of this project since it was opened. */
  readonly hosts = new Set<Compute>();
  private readonly linksByPort = new Map<string, Link>();
  private readonly linksByNode = new Map<string, Set<Link>>();

  constructor(record: ProjectRecord) {
    this.record = record;
  }

  get id(): string {
    return this.record.project_id;
  }

  /** The object that clients see (`Project`). */
  json(): object {
    const status = this.state === 'opened' || this.state === 'opening' ? 'opened' : 'closed';
    return { ...this.record, status, ...(this.damaged === undefined ? {} : { damaged: this.damaged }) };
  }

  /** @throws Failure `forbidden` unless the lab is there */
  requireOpen(): void {
    if (this.state === 'opened' || this.state === 'opening') return;
    throw new Failure('forbidden', `The project "${this.record.name}" is closed: open it first.`);
  }

  node(id: string): Node {
    this.requireOpen();
    const node = this.nodes.get(id);
    if (!node) throw new Failure('not-found', `node_id: there is no node ${id} in the project "${this.record.name}".`);
    return node;
  }

  link(id: string): Link {
    this.requireOpen();
    const link = this.links.get(id);
    if (!link) throw new Failure('not-found', `link_id: there is no link ${id} in the project "${this.record.name}".`);
    return link;
  }

  drawing(id: string): Drawing {
    this.requireOpen();
    const drawing = this.drawings.get(id);
    if (!drawing) {
      throw new Failure('not-found', `drawing_id: there is no drawing ${id} in the project "${this.record.name}".`);
    }
    return drawing;
  }

  /** Links with an end at this node. */
  linksOf(node: Node): Link[] {
    return [...(this.linksByNode.get(node.id) ?? [])];
  }

  /** The link at a port of a node. */
  linkAt(node: Node, adapter: number, port: number): Link | undefined {
    return this.linksByPort.get(portKey(node, adapter, port));
  }

  /** Notes that the ends of a link occupy their ports. */
  attach(link: Link): void {
    for (const { node, port } of link.ends) {
      this.linksByPort.set(portKey(node, port.adapter_number, port.port_number), link);
      const links = this.linksByNode.get(node.id) ?? new Set();
      this.linksByNode.set(node.id, links.add(link));
    }
  }

  detach(link: Link): void {
    for (const { node, port } of link.ends) {
      const key = portKey(node, port.adapter_number, port.port_number);
      if (this.linksByPort.get(key) === link) this.linksByPort.delete(key);
      this.linksByNode.get(node.id)?.delete(link);
    }
  }

  /** Forgets the lab; settings stay. */
  clear(): void {
    this.nodes.clear();
    this.links.clear();
    this.drawings.clear();
    this.hosts.clear();
    this.linksByPort.clear();
    this.linksByNode.clear();
    this.names = new NamePool();
  }
}

function portKey(node: Node, adapter: number, port: number): string {
  return `${node.id}/${adapter}/${port}`;
}
