// A project: its settings and, while it is open, its lab.
import { forbidden, notFound } from '../../failures.ts';
import type { ProjectRecord } from '../../store/projects.ts';
import type { Compute } from '../computes/compute.ts';
import type { Drawing } from '../drawings/drawing.ts';
import type { Link } from '../links/link.ts';
import { nioPath } from '../links/wiring.ts';
import { NamePool } from '../nodes/names.ts';
import type { Node } from '../nodes/node.ts';
import { Rounds } from './action-rounds.ts';
import { ChangeQueue } from './change-queue.ts';
import { DeletedNodes } from './deleted-nodes.ts';
import type { PendingRemoteChanges } from './pending-remote-changes.ts';
import { isWay, type ProjectState } from './state.ts';

export class Project {
  record: ProjectRecord;
  /** Orders all changes of the project and its lab. */
  readonly changes = new ChangeQueue();
  readonly rounds = new Rounds();
  /** Why the topology file cannot be read, if so: such a project is listed but does not open. */
  damaged: string | undefined;
  /** Its file is a copy of another project's or in another one's folder: `damaged` says so, and it never opens. */
  foreign = false;
  /** It was open when the previous run of the server ended: its computes may still have its nodes. */
  leftOpen = false;
  /** It was closed but that could not be recorded on disk; closing it again retries. */
  unended = false;
  /** The database has the present lab: changes are written there first. */
  recorded = false;
  /** How often its files were exchanged for others, and how often it was closed. */
  readonly times = { exchanging: 0, closing: 0 };
  readonly nodes = new Map<string, Node>();
  readonly links = new Map<string, Link>();
  readonly drawings = new Map<string, Drawing>();
  readonly deleted = new DeletedNodes();
  names = new NamePool();
  /** Computes that have had this project since it was opened. */
  readonly hosts = new Set<Compute>();
  /** Computes that are just getting it. */
  readonly telling = new Map<Compute, Promise<void>>();
  /** How many read its files on a compute while it is closed. */
  readonly readers = new Map<Compute, number>();
  readonly remoteChanges: PendingRemoteChanges;
  #state: ProjectState;
  #passing: Promise<unknown> | undefined;
  readonly #linksByPort = new Map<string, Link>();
  readonly #linksByNode = new Map<string, Set<Link>>();

  constructor(record: ProjectRecord, remoteChanges: PendingRemoteChanges, state: 'closed' | 'opened' = 'closed') {
    this.record = record;
    this.remoteChanges = remoteChanges;
    this.#state = state;
    this.recorded = state === 'opened';
  }

  get state(): ProjectState {
    return this.#state;
  }

  /** Changes the state; only a change that runs alone may do that. */
  become(state: ProjectState): void {
    if (!isWay(this.#state, state)) throw new Error(`a project that is ${this.#state} cannot become ${state}`);
    this.#state = state;
    if (state === 'exchanging' || state === 'closing') this.times[state] += 1;
  }

  /** Runs `work` in a passing state; `work` ends that state, and others wait for it. */
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

  /** Waits for a pending opening or exchange of files, whatever its outcome. */
  async settled(): Promise<void> {
    await this.#passing?.catch(() => {});
  }

  /** Whether it is open for clients, or will be in a moment. */
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
    if (this.#state === 'deleted') throw notFound(`project_id: there is no lab ${this.id}.`);
  }

  /** @throws Failure `forbidden` unless the lab is open, `not-found` once the project is deleted */
  requireOpen(): void {
    this.requirePresent();
    if (this.isOpen) return;
    throw forbidden(`The lab "${this.record.name}" is closed: open it first.`);
  }

  node(id: string): Node {
    this.requireOpen();
    const node = this.nodes.get(id);
    if (!node) throw notFound(`node_id: there is no node ${id} in the lab "${this.record.name}".`);
    return node;
  }

  link(id: string): Link {
    this.requireOpen();
    const link = this.links.get(id);
    if (!link) throw notFound(`link_id: there is no link ${id} in the lab "${this.record.name}".`);
    return link;
  }

  drawing(id: string): Drawing {
    this.requireOpen();
    const drawing = this.drawings.get(id);
    if (!drawing) throw notFound(`drawing_id: there is no drawing ${id} in the lab "${this.record.name}".`);
    return drawing;
  }

  nodesOn(compute: Compute): Node[] {
    return [...this.nodes.values()].filter((node) => node.compute === compute);
  }

  /** The computes that have, or may have, parts of the open lab. */
  get computes(): Set<Compute> {
    return new Set([...this.hosts, ...[...this.nodes.values()].map(({ compute }) => compute)]);
  }

  linksOf(node: Node): Link[] {
    return [...(this.#linksByNode.get(node.id) ?? [])];
  }

  linkAt(node: Node, adapter: number, port: number): Link | undefined {
    return this.#linksByPort.get(portKey(node, adapter, port));
  }

  /** Whether a link is at the port whose NIO has this path on its compute. */
  hasLinkAt(path: string): boolean {
    return [...this.#linksByPort.values()].some(({ ends }) => ends.some((end) => nioPath(end) === path));
  }

  /** Records that the ends of a link occupy their ports. */
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

  /** Forgets the lab but keeps the settings. */
  clear(): void {
    this.recorded = false;
    for (const node of this.nodes.values()) node.end();
    this.nodes.clear();
    this.links.clear();
    this.drawings.clear();
    this.deleted.clear();
    this.hosts.clear();
    this.#linksByPort.clear();
    this.#linksByNode.clear();
    this.names = new NamePool();
  }
}

function portKey(node: Node, adapter: number, port: number): string {
  return `${node.id}/${adapter}/${port}`;
}
