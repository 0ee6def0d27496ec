// What can be done with nodes: create, change, delete, duplicate, and follow what their computes say of them.
import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { Failure, messageOf } from '../../failures.ts';
import { KeyedLock } from '../../host/keyed-lock.ts';
import type { LabChange } from '../../store/labs.ts';
import { nodeKind, portsOf } from '../../store/node-kinds/kinds.ts';
import { plainLabel } from '../../store/topology/start-order.ts';
import { ComputeRefusal, mustBeObject } from '../computes/answers.ts';
import type { Compute, ComputeMessage } from '../computes/compute.ts';
import type { MissingImages } from '../computes/missing-images.ts';
import type { Announcer } from '../events.ts';
import { type ConfigsPlace, takeBaseConfigs } from '../nodes/base-configs.ts';
import { nodeRecord, type SymbolSource } from '../nodes/creation.ts';
import { Renaming } from '../nodes/names.ts';
import {
  computeBody,
  lastingProperties,
  Node,
  type NodeRecord,
  nodePath,
  withComputeState,
  withName,
} from '../nodes/node.ts';
import type { NodeCreate, NodeDuplicate, NodeUpdate } from '../nodes/schema.ts';
import { nodeCopy, nodeRecord as nodeRecordClaim, wholeNode } from './claims.ts';
import type { HostNumbers } from './host-numbers.ts';
import type { LabWriter } from './lab-writer.ts';
import type { Links } from './links.ts';
import type { Project } from './project.ts';

/** A node's creation may download or convert; the release waits as long. */
const CREATION_LIMIT_MS = 1_200_000;

/** Members that only the controller keeps. */
const OWN_MEMBERS = [
  'x',
  'y',
  'z',
  'locked',
  'port_name_format',
  'first_port_name',
  'port_segment_size',
  'console_auto_start',
  'start_order',
  'start_delay',
] as const;
/** Members that are kept and told the compute. */
const SHARED_MEMBERS = ['console', 'console_type', 'custom_adapters', 'template_id'] as const;
/** Members that a client may repeat but not change. */
const FIXED_MEMBERS = [
  'width',
  'height',
  'status',
  'ports',
  'console_host',
  'project_id',
  'node_directory',
  'command_line',
] as const;
/** Members of a record, and of its properties, that a copy does not take over. */
const NOT_COPIED = ['node_id', 'name', 'mac_addr', 'mac_address', 'compute_id'];

export interface NodesOptions {
  announcer: Announcer;
  writer: LabWriter;
  links: Links;
  symbols: SymbolSource;
  configs: ConfigsPlace;
  images: MissingImages;
  numbers: HostNumbers;
  /** Settings of the server, by their name. */
  settings: (name: 'iou_license') => object;
}

/** A change of a node's record; `rename` gives the name to use for one that is wanted. */
type RecordChange = (record: NodeRecord, rename: (name: string) => string) => NodeRecord;

export class Nodes {
  readonly #options: NodesOptions;
  /** Records are written one after the other, each from the one before: changes of one node that run side by side lose nothing. */
  readonly #writing = new KeyedLock();

  constructor(options: NodesOptions) {
    this.#options = options;
  }

  #announce(action: 'node.created' | 'node.updated' | 'node.deleted', node: Node): void {
    this.#options.announcer.project.emit(action, node.json(), node.projectId);
  }

  /**
   * Creates a node on its compute and in the project; a known `node_id` gives the node that there is.
   * @throws Failure of the compute; nothing is left behind then
   */
  async create(project: Project, compute: Compute, given: NodeCreate): Promise<Node> {
    const id = given.node_id ?? randomUUID();
    return project.changes.run(wholeNode(id), async () => {
      project.requireOpen();
      const known = project.nodes.get(id);
      if (known) return known;
      for (const member of ['status', 'ports'] as const) {
        if (given[member] !== undefined)
          throw new Failure('invalid', `${member}: is the server's to tell; leave it out.`);
      }
      const strays = Object.fromEntries(
        (['project_id', 'node_directory', 'command_line'] as const)
          .filter((member) => given[member] !== undefined)
          .map((member) => [member, given[member]]),
      );
      return this.#createFrom(project, compute, {
        ...given,
        node_id: id,
        properties: { ...given.properties, ...strays },
      });
    });
  }

  async #createFrom(project: Project, compute: Compute, given: NodeCreate): Promise<Node> {
    const path = nodePath(project.id, given.node_type, String(given.node_id));
    using trace = await project.traces.begin(compute, project.id, path);
    await using undo = new AsyncDisposableStack();
    try {
      using numbered = this.#options.numbers.number(project, compute, given, { keeps: false });
      const node = await this.#onCompute(project, compute, numbered.node, undo);
      await this.#options.writer.apply(project.record, [{ node: node.record }, ...computeChange(compute)]);
      undo.move();
      project.nodes.set(node.id, node);
      this.#announce('node.created', node);
      void trace.settle();
      return node;
    } catch (error) {
      await trace.failed(error);
      throw error;
    }
  }

  /** Makes the node of a topology file again; the lab's own record of it is written by the opening as a whole. */
  async recreate(project: Project, compute: Compute, given: NodeCreate): Promise<Node> {
    await using undo = new AsyncDisposableStack();
    using numbered = this.#options.numbers.number(project, compute, given, { keeps: true });
    const node = await this.#onCompute(project, compute, numbered.node, undo);
    undo.move();
    project.nodes.set(node.id, node);
    this.#announce('node.created', node);
    return node;
  }

  async #onCompute(project: Project, compute: Compute, given: NodeCreate, undo: AsyncDisposableStack): Promise<Node> {
    const name = project.names.allocate(given.name);
    const renaming = new Renaming(project.names, name);
    undo.defer(() => renaming.end());
    const properties = { ...given.properties };
    const texts = await takeBaseConfigs(properties, this.#options.configs);
    const node = new Node(project.id, compute, nodeRecord({ ...given, properties }, name, this.#options.symbols));
    const { startSettings } = nodeKind(node.type);
    if (startSettings !== undefined) node.startBody = () => this.#options.settings(startSettings);
    const object = await this.#place(project, node, { ...properties, ...texts });
    undo.defer(() => compute.remove(node.path).catch(noop));
    node.applyRuntime(object);
    node.record = withComputeState(node.record, object, (wanted) => renaming.take(wanted));
    return node;
  }

  /** Makes a node again on its compute, as it is known here, after the compute has forgotten it. Its files are there still. */
  async renew(project: Project, node: Node): Promise<void> {
    node.status = 'stopped';
    try {
      const object = await this.#place(project, node, node.lastingProperties);
      node.applyRuntime(object);
      await this.#write(project, node, (record, rename) => withComputeState(record, object, rename));
    } finally {
      this.#announce('node.updated', node);
    }
  }

  /** Makes the node on its compute; answers what that says of it. */
  async #place(project: Project, node: Node, properties: Record<string, unknown>): Promise<Record<string, unknown>> {
    const { compute, type } = node;
    await hostProject(project, compute);
    const body = { ...node.computeBody(properties), node_id: node.id };
    const limit = nodeKind(type).creationLimit ?? CREATION_LIMIT_MS;
    const path = `/projects/${project.id}/${type}/nodes`;
    try {
      const need = { compute, type, projectId: project.id };
      const answer = await this.#options.images.supply(need, () => compute.post(path, { body, limit }));
      return mustBeObject(answer, `POST ${path}`);
    } catch (error) {
      // Unless it was refused it may be there all the same.
      if (!(error instanceof ComputeRefusal)) await compute.remove(node.path, { connect: false }).catch(noop);
      throw error;
    }
  }

  /**
   * Changes what is stored of a node: first on the disk, then here. Nothing happens to a node that goes or is gone.
   * @returns whether it is another now
   */
  async #write(project: Project, node: Node, change: RecordChange, renaming?: Renaming): Promise<boolean> {
    return this.#writing.run(`${project.id}/${node.id}`, async () => {
      if (node.leaving || project.nodes.get(node.id) !== node) return false;
      const names = renaming ?? new Renaming(project.names, node.name);
      try {
        const record = change(node.record, (wanted) => names.take(wanted));
        if (isDeepStrictEqual(record, node.record)) return false;
        portsOf(record);
        // While a lab is being opened it is in memory alone.
        if (project.recorded) await this.#options.writer.apply(project.record, [{ node: record }]);
        node.record = record;
        return true;
      } finally {
        if (!renaming) names.end(node.name);
      }
    });
  }

  /**
   * Changes a node; a change that its compute refuses changes nothing.
   * @throws Failure `invalid` for members that are not settable
   */
  update(project: Project, id: string, given: NodeUpdate): Promise<Node> {
    return project.changes.run(nodeRecordClaim(id, given), async () => {
      const node = project.node(id);
      refuseFixed(node, given);
      const isRenamed = given.name !== undefined && given.name !== node.name;
      if (isRenamed && nodeKind(node.type).fixedNameWhileRunning && node.status !== 'stopped') {
        throw new Failure('conflict', 'name: a started router cannot be renamed; stop it first.');
      }
      const renaming = new Renaming(project.names, node.name);
      try {
        const name = isRenamed ? renaming.take(given.name as string) : node.name;
        const change = (record: NodeRecord): NodeRecord => this.#changed(record, given, name);
        // Refuses what cannot be before anybody is told.
        portsOf(change(node.record));
        if (concernsCompute(node.record, given, name))
          await this.#updateOnCompute(project, node, given, change, renaming);
        else if (await this.#write(project, node, change, renaming)) this.#announce('node.updated', node);
        return node;
      } finally {
        renaming.end(node.name);
      }
    });
  }

  /** The compute is told first; what it announces meanwhile is taken over together with its answer, and announced once. */
  async #updateOnCompute(
    project: Project,
    node: Node,
    given: NodeUpdate,
    change: (record: NodeRecord) => NodeRecord,
    renaming: Renaming,
  ): Promise<void> {
    const wanted = change(node.record);
    const body = computeBody(wanted, given.properties ?? lastingProperties(wanted));
    const inbox: Record<string, unknown>[] = [];
    node.inbox = inbox;
    let told: readonly Record<string, unknown>[] = [];
    const heard = (): readonly Record<string, unknown>[] => {
      told = [...told, ...inbox.splice(0)];
      return told;
    };
    try {
      const answer = mustBeObject(await node.compute.put(node.path, { body }), `PUT ${node.path}`);
      await this.#write(
        project,
        node,
        (record, rename) =>
          [...heard(), answer].reduce(
            (next: NodeRecord, object) => withComputeState(next, object, rename),
            change(record),
          ),
        renaming,
      );
    } catch (error) {
      if (!(error instanceof ComputeRefusal)) await this.#tellAgain(project, node);
      throw error;
    } finally {
      node.inbox = undefined;
      if (inbox.length > 0) await this.#follow(project, node, inbox).catch(noop);
      else if (told.length > 0 && project.nodes.get(node.id) === node) this.#announce('node.updated', node);
    }
  }

  /** Has the compute and the disk forget a change that has failed: the compute may have made it, and have announced it already. */
  async #tellAgain(project: Project, node: Node): Promise<void> {
    const body = node.computeBody(node.lastingProperties);
    await node.compute.put(node.path, { body, connect: false }).catch(noop);
    await this.#options.writer.apply(project.record, [{ node: node.record }]).catch(noop);
  }

  /** The record as a request wants it, under the name that the node gets. */
  #changed(record: NodeRecord, given: NodeUpdate, name: string): NodeRecord {
    const next: NodeRecord = { ...record };
    if (given.properties !== undefined && Array.isArray(given.properties['custom_adapters'])) {
      next.custom_adapters = given.properties['custom_adapters'] as NodeRecord['custom_adapters'];
    }
    for (const member of [...OWN_MEMBERS, ...SHARED_MEMBERS]) {
      if (given[member] !== undefined) Object.assign(next, { [member]: given[member] });
    }
    if (given.symbol !== undefined) Object.assign(next, this.#options.symbols.forNode(given.symbol));
    const renamed = name === next.name ? next : withName(next, name);
    return given.label === undefined ? renamed : { ...renamed, label: { ...plainLabel(given.label), text: name } };
  }

  /** @throws Failure `conflict` for a locked node */
  delete(project: Project, id: string): Promise<void> {
    return project.changes.run(wholeNode(id), () => this.#deleteNow(project, project.node(id)));
  }

  async #deleteNow(project: Project, node: Node): Promise<void> {
    if (node.record.locked)
      throw new Failure('conflict', `locked: the node "${node.name}" is locked; unlock it before deleting it.`);
    const { links, writer } = this.#options;
    const own = project.linksOf(node);
    for (const part of [node, ...own]) part.leaving = true;
    using undo = new DisposableStack();
    undo.defer(() => {
      for (const part of [node, ...own]) part.leaving = false;
    });
    using trace = await project.traces.begin(node.compute, project.id, node.path);
    // First on the disk, all together: when that fails nothing has happened.
    const ends = own.map((link): LabChange => ({ delete: 'link', id: link.id }));
    await writer.apply(project.record, [...ends, { delete: 'node', id: node.id }]);
    await links.forgetAll(project, own);
    let failure: unknown;
    try {
      await node.compute.remove(node.path);
      void trace.settle();
    } catch (error) {
      // One that refuses has the node still, without its cables: so has the lab.
      if (error instanceof ComputeRefusal) {
        await writer.apply(project.record, [{ node: node.record }]);
        await trace.settle();
        throw error;
      }
      // Otherwise it goes when the compute is there again.
      failure = error;
    }
    undo.move();
    project.nodes.delete(node.id);
    project.names.release(node.name);
    this.#announce('node.deleted', node);
    if (failure !== undefined) throw failure;
  }

  /** A copy of a stopped node, without its links. */
  duplicate(project: Project, id: string, { x, y, z }: NodeDuplicate): Promise<Node> {
    const copyId = randomUUID();
    return project.changes.run(nodeCopy(id, copyId), async () => {
      const source = project.node(id);
      if (source.status !== 'stopped' && !source.alwaysRunning) {
        throw new Failure('conflict', `The node "${source.name}" is running: stop it before duplicating it.`);
      }
      const left = [...NOT_COPIED, ...(nodeKind(source.type).ownNumbers ?? [])];
      const keep = <T extends object>(members: T): T =>
        Object.fromEntries(Object.entries(members).filter(([member]) => !left.includes(member))) as T;
      const { width: _width, height: _height, ...record } = keep(source.record);
      const given = {
        ...record,
        name: source.name,
        compute_id: source.compute.id,
        node_id: copyId,
        properties: keep(source.record.properties),
        locked: false,
        x,
        y,
        z,
      } as NodeCreate;
      const copy = await this.#createFrom(project, source.compute, given);
      try {
        await source.compute.post(`${source.path}/duplicate`, { body: { destination_node_id: copy.id }, limit: 0 });
      } catch (error) {
        await this.#deleteNow(project, copy);
        throw new Failure('conflict', `The node "${source.name}" cannot be duplicated: ${messageOf(error)}`);
      }
      return copy;
    });
  }

  /** A compute announces that one of its nodes changed. What it says of nodes that are not here, or not its own, counts for nothing. */
  async computeUpdated(project: Project, compute: Compute, { event }: ComputeMessage): Promise<void> {
    const node = project.nodes.get(String(event['node_id']));
    if (node?.compute !== compute || node.leaving) return;
    const isSeen = node.applyRuntime(event);
    if (node.inbox) {
      node.inbox.push(event);
      if (isSeen) this.#announce('node.updated', node);
    } else await this.#follow(project, node, [event]);
    if (isSeen) this.#options.links.captures.nodeChanged(project, node);
  }

  /** Takes over what a compute has said of a node. */
  async #follow(project: Project, node: Node, said: readonly Record<string, unknown>[]): Promise<void> {
    await this.#write(project, node, (record, rename) =>
      said.reduce((next: NodeRecord, object) => withComputeState(next, object, rename), record),
    );
    if (project.nodes.get(node.id) === node && !node.leaving) this.#announce('node.updated', node);
  }

  /** Takes over what a compute answers of a node; nothing is announced when that is known already. */
  async compare(project: Project, node: Node, object: Record<string, unknown>): Promise<void> {
    const isSeen = node.applyRuntime(object);
    const isStored = await this.#write(project, node, (record, rename) => withComputeState(record, object, rename));
    if (!isSeen && !isStored) return;
    this.#announce('node.updated', node);
    this.#options.links.captures.nodeChanged(project, node);
  }
}

const noop = (): void => {};

/** Tells the compute of the project, once, before its first node there. */
export async function hostProject(project: Project, compute: Compute): Promise<void> {
  if (project.hosts.has(compute)) return;
  const { record } = project;
  const body: Record<string, unknown> = { name: record.name, project_id: record.project_id };
  if (compute.id === 'local') body['path'] = record.path;
  if (record.variables?.length) body['variables'] = record.variables;
  await project.traces.hosting(compute, project.id);
  // One that has the project open already answers the same.
  await compute.insist((connect) => compute.post('/projects', { body, connect }));
  project.hosts.add(compute);
}

/** The entry of a compute in the topology file; `local` has none. */
function computeChange(compute: Compute): { compute: { compute_id: string } }[] {
  if (compute.id === 'local') return [];
  const { compute_id, name, protocol, host, port } = compute.description;
  return [{ compute: { compute_id, name, protocol, host, port } as { compute_id: string } }];
}

function refuseFixed(node: Node, given: NodeUpdate): void {
  const object = node.json() as Record<string, unknown>;
  for (const member of FIXED_MEMBERS) {
    if (given[member] !== undefined && !isDeepStrictEqual(given[member], object[member])) {
      throw new Failure('invalid', `${member}: is the server's to tell and cannot be set.`);
    }
  }
}

/** Whether the compute must hear of a change. */
function concernsCompute(record: NodeRecord, given: NodeUpdate, name: string): boolean {
  if (given.properties !== undefined || name !== record.name) return true;
  return SHARED_MEMBERS.some(
    (member) => given[member] !== undefined && !isDeepStrictEqual(given[member], record[member]),
  );
}
