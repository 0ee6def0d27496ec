// A project: its settings, and while it is open the lab itself.
import { Failure } from '../../failures.ts';
import type { ProjectRecord } from '../../store/projects.ts';
import type { Compute } from '../computes/compute.ts';
import type { Drawing } from '../drawings/drawing.ts';
import type { Link } from '../links/link.ts';
import { nioPath } from '../links/wiring.ts';
import { NamePool } from '../nodes/names.ts';
import type { Node } from '../nodes/node.ts';
import { ChangeQueue } from './change-queue.ts';
import { Rounds } from './rounds.ts';
import { isWay, type ProjectState } from './state.ts';
import type { Traces } from './traces.ts';

export class Project {
  record: ProjectRecord;
  /** Whatever changes the project or its lab goes through this queue. */
  readonly changes = new ChangeQueue();
  readonly rounds = new Rounds();
  /** Why the topology file cannot be read, when it cannot: such a project is listed, but does not open. */
  damaged: string | undefined;
  /** Its file is a copy of another project's, or in another one's folder: `damaged` says so, and it never opens. */
  foreign = false;
  /** It was open when a former life of this server ended without closing it: its computes may still have its nodes. */
  leftOpen = false;
  /** It was closed, but the disk could not be told: closing it once more tells it. */
  unended = false;
  /** The database has the lab as it is here: what changes is written there first. */
  recorded = false;
  readonly nodes = new Map<string, Node>();
  readonly links = new Map<string, Link>();
  readonly drawings = new Map<string, Drawing>();
  names = new NamePool();
  /** Computes that have been told of this project since it was opened. */
  readonly hosts = new Set<Compute>();
  /** Computes that are being told of it. */
  readonly telling = new Map<Compute, Promise<void>>();
  readonly traces: Traces;
  #state: ProjectState;
  #passing: Promise<unknown> | undefined;
  readonly #linksByPort = new Map<string, Link>();
  readonly #linksByNode = new Map<string, Set<Link>>();

  constructor(record: ProjectRecord, traces: Traces, state: 'closed' | 'opened' = 'closed') {
    this.record = record;
    this.traces = traces;
    this.#state = state;
    this.recorded = state === 'opened';
  }

  get state(): ProjectState {
    return this.#state;
  }

  /** Goes on to another state; only a change that runs alone may do that. */
  become(state: ProjectState): void {
    if (!isWay(this.#state, state)) throw new Error(`a project that is ${this.#state} cannot become ${state}`);
    this.#state = state;
  }

  /** Goes through a state in which others wait for what is behind it: `work` ends it. */
  async pass<T>(state: 'opening' | 'exchanging', work: () => Promise<T>): Promise<T> {
    this.become(state);
    const passing = work();
    this.#passing = passing;
    try {
      return await passing;
    } finally {
      this.#passing = undefined;
    }
  }

  /** Waits for an opening, or an exchange of files, that is under way, however it ends. */
  async settled(): Promise<void> {
    await this.#passing?.catch(() => {});
  }

  /** It is open for clients, or will be in a moment. */
  get isOpen(): boolean {
    return this.#state === 'opened' || this.#state === 'opening' || this.#state === 'exchanging';
  }

  get id(): string {
    return this.record.project_id;
  }

  /** The object that clients see (`Project`). */
  json() {
    const status: 'opened' | 'closed' = this.isOpen ? 'opened' : 'closed';
    return { ...this.record, status, ...(this.damaged === undefined ? {} : { damaged: this.damaged }) };
  }

  /** @throws Failure `not-found` once the project is deleted */
  requirePresent(): void {
    if (this.#state === 'deleted') throw new Failure('not-found', `project_id: there is no lab ${this.id}.`);
  }

  /** @throws Failure `forbidden` unless the lab is there, `not-found` once the project is deleted */
  requireOpen(): void {
    this.requirePresent();
    if (this.isOpen) return;
    throw new Failure('forbidden', `The lab "${this.record.name}" is closed: open it first.`);
  }

  node(id: string): Node {
    this.requireOpen();
    const node = this.nodes.get(id);
    if (!node) throw new Failure('not-found', `node_id: there is no node ${id} in the lab "${this.record.name}".`);
    return node;
  }

  link(id: string): Link {
    this.requireOpen();
    const link = this.links.get(id);
    if (!link) throw new Failure('not-found', `link_id: there is no link ${id} in the lab "${this.record.name}".`);
    return link;
  }

  drawing(id: string): Drawing {
    this.requireOpen();
    const drawing = this.drawings.get(id);
    if (!drawing) {
      throw new Failure('not-found', `drawing_id: there is no drawing ${id} in the lab "${this.record.name}".`);
    }
    return drawing;
  }

  /** The nodes that are on a compute. */
  nodesOn(compute: Compute): Node[] {
    return [...this.nodes.values()].filter((node) => node.compute === compute);
  }

  /** The computes that have, or may have, something of the open lab. */
  get computes(): Set<Compute> {
    return new Set([...this.hosts, ...[...this.nodes.values()].map(({ compute }) => compute)]);
  }

  /** Links with an end at this node. */
  linksOf(node: Node): Link[] {
    return [...(this.#linksByNode.get(node.id) ?? [])];
  }

  /** The link at a port of a node. */
  linkAt(node: Node, adapter: number, port: number): Link | undefined {
    return this.#linksByPort.get(portKey(node, adapter, port));
  }

  /** Whether a link is at the port whose NIO has this path on its compute. */
  hasLinkAt(path: string): boolean {
    return [...this.#linksByPort.values()].some(({ ends }) => ends.some((end) => nioPath(end) === path));
  }

  /** Notes that the ends of a link occupy their ports. */
  attach(link: Link): void {
    for (const { node, port } of link.ends) {
      this.#linksByPort.set(portKey(node, port.adapter_number, port.port_number), link);
      const links = this.#linksByNode.get(node.id) ?? new Set();
      this.#linksByNode.set(node.id, links.add(link));
    }
  }

  detach(link: Link): void {
    for (const { node, port } of link.ends) {
      const key = portKey(node, port.adapter_number, port.port_number);
      if (this.#linksByPort.get(key) === link) this.#linksByPort.delete(key);
      this.#linksByNode.get(node.id)?.delete(link);
    }
  }

  /** Forgets the lab; settings stay. */
  clear(): void {
    this.recorded = false;
    for (const node of this.nodes.values()) node.end();
    this.nodes.clear();
    this.links.clear();
    this.drawings.clear();
    this.hosts.clear();
    this.#linksByPort.clear();
    this.#linksByNode.clear();
    this.names = new NamePool();
  }
}

function portKey(node: Node, adapter: number, port: number): string {
  return `${node.id}/${adapter}/${port}`;
}
