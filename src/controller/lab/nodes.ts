// Creates, recreates, changes and duplicates nodes.
import { randomUUID } from 'node:crypto';
import { nodeKind } from '../../api/kinds/kinds.ts';
import type { NodeCreate, NodeDuplicate, NodeUpdate } from '../../api/routes/nodes.ts';
import type { NodeType } from '../../api/vocabulary.ts';
import { conflict, ignore, invalid, messageOf } from '../../failures.ts';
import { KeyedLock } from '../../host/values/keyed-lock.ts';
import { ComputeRefusal, mustBeObject } from '../computes/answers.ts';
import type { Compute } from '../computes/compute.ts';
import type { MissingImages } from '../computes/missing-images.ts';
import type { Announcer } from '../events.ts';
import { type ConfigsPlace, takeBaseConfigs } from '../nodes/base-configs.ts';
import type { ConsoleForwards } from '../nodes/console-forwards.ts';
import { nodeRecord, type SymbolSource } from '../nodes/creation.ts';
import { Renaming } from '../nodes/names.ts';
import { Node, nodePath, withComputeState } from '../nodes/node.ts';
import type { Action, LeftOut } from './actions.ts';
import { nodeCopy, wholeNode } from './claims.ts';
import type { HostNumbers } from './host-numbers.ts';
import { computeEntry, hostProject } from './hosting.ts';
import type { LabWriter } from './lab-writer.ts';
import type { Links } from './links.ts';
import type { MacNumbers } from './mac-numbers.ts';
import { NodeDeletions } from './node-deletions.ts';
import { NodeMoves, type NodeMovesOptions } from './node-moves.ts';
import { NodeRecords } from './node-records.ts';
import { NodeUpdates } from './node-updates.ts';
import type { PendingUpdates } from './pending-updates.ts';
import type { Project } from './project.ts';

/** A creation may download or convert images; the release allows the same time. */
const CREATION_LIMIT_MS = 1_200_000;

/** Members of a record, its properties and its custom adapters that a copy does not inherit. */
const NOT_COPIED = ['node_id', 'name', 'mac_addr', 'mac_address', 'compute_id'];

export interface NodesOptions extends Pick<NodeMovesOptions, 'restore'> {
  announcer: Announcer;
  writer: LabWriter;
  links: Links;
  symbols: SymbolSource;
  configs: ConfigsPlace;
  images: MissingImages;
  numbers: HostNumbers;
  macNumbers: MacNumbers;
  forwards: ConsoleForwards;
  pendingUpdates: PendingUpdates;
  /** Server settings, by name. */
  settings: (name: 'iou_license') => object;
  /** Whether the nodes of a lab may write directly to the images of this host. */
  mayWriteImages: (projectId: string) => Promise<boolean>;
  /** The properties that computes accept for a type of node. */
  properties: (type: NodeType) => ReadonlySet<string>;
}

/** How to load a node whose saved settings cannot be used as they are. */
export interface LoadPolicy {
  /** Reports parts of the node that are left out. */
  remark(message: string): void;
  /** The compute may reject it; it is then created at its first start. */
  mayBeAbsent: boolean;
}

export class Nodes {
  readonly #options: NodesOptions;
  readonly records: NodeRecords;
  readonly updates: NodeUpdates;
  readonly #moves: NodeMoves;
  readonly #deletions: NodeDeletions;
  /** By project: nodes at both ends of a link may be created at the same time. */
  readonly #appearing = new KeyedLock();

  constructor(options: NodesOptions) {
    this.#options = options;
    this.records = new NodeRecords(options);
    this.updates = new NodeUpdates({ ...options, records: this.records });
    const place = (project: Project, node: Node, properties: Record<string, unknown>) =>
      this.#place(project, node, properties);
    this.#moves = new NodeMoves({ ...options, records: this.records, place });
    this.#deletions = new NodeDeletions({
      ...options,
      records: this.records,
      create: (project, compute, given) => this.#createFrom(project, compute, given),
    });
  }

  /**
   * Creates a node on its compute and in the project, or returns the existing node with this `node_id`.
   * @throws Failure of the compute, after rollback
   */
  async create(project: Project, compute: Compute, given: NodeCreate): Promise<Node> {
    const id = given.node_id ?? randomUUID();
    return project.changes.run(wholeNode(id), async () => {
      project.requireOpen();
      const known = project.nodes.get(id);
      if (known) return known;
      compute.requireAccepting();
      for (const member of ['status', 'ports'] as const) {
        if (given[member] !== undefined) throw invalid(`${member} is read-only; leave it out.`);
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

  /** @param fill does further work on the compute before the node joins the lab */
  async #createFrom(
    project: Project,
    compute: Compute,
    given: NodeCreate,
    fill: (node: Node) => Promise<void> = async () => {},
  ): Promise<Node> {
    const path = nodePath(project.id, given.node_type, String(given.node_id));
    using trace = await project.remoteChanges.begin(compute, project.id, path);
    await using undo = new AsyncDisposableStack();
    try {
      using numbered = this.#options.numbers.number(project, compute, given, { keeps: false });
      const node = await this.#onCompute(project, compute, numbered.node, undo);
      await fill(node);
      await this.#options.writer.apply(project.record, [{ node: node.record }, ...computeEntry(compute)]);
      undo.move();
      this.#join(project, node);
      void trace.settle();
      return node;
    } catch (error) {
      await trace.failed(error);
      throw error;
    }
  }

  /**
   * Recreates a node from a topology file; the opening records the whole lab. Missing programs or images on the host do
   * not keep the node out of the lab: it is created at its next start.
   */
  async recreate(project: Project, compute: Compute, given: NodeCreate, policy: LoadPolicy): Promise<Node> {
    await using undo = new AsyncDisposableStack();
    using numbered = this.#options.numbers.number(project, compute, given, { keeps: true });
    const node = await this.#onCompute(project, compute, numbered.node, undo, policy);
    undo.move();
    this.#join(project, node);
    return node;
  }

  #join(project: Project, node: Node): void {
    node.returning = false;
    project.deleted.forget(node.id);
    // Its host may have become unreachable meanwhile.
    if (!node.compute.connected) node.lost = true;
    project.nodes.set(node.id, node);
    this.records.announce('node.created', node);
  }

  /** @param policy given for a node from a file */
  async #onCompute(
    project: Project,
    compute: Compute,
    given: NodeCreate,
    undo: AsyncDisposableStack,
    policy?: LoadPolicy,
  ): Promise<Node> {
    const name = project.names.allocate(given.name);
    const renaming = new Renaming(project.names, name);
    undo.defer(() => renaming.end());
    const properties = { ...given.properties };
    const texts = await takeBaseConfigs(properties, this.#options.configs);
    const node = new Node(project.id, compute, nodeRecord({ ...given, properties }, name, this.#options.symbols));
    // The compute gives it the files back.
    node.returning = project.deleted.has(node.id);
    node.mayWriteImages = () => this.#options.mayWriteImages(project.id);
    node.appear = () => this.#appear(project, node);
    const { startSettings } = nodeKind(node.type);
    node.startHeaders = () => this.#options.macNumbers.atStart(project, node);
    undo.defer(() => this.#options.macNumbers.release(node));
    if (startSettings !== undefined) node.startBody = () => this.#options.settings(startSettings);
    const all = { ...properties, ...texts };
    const object = await (policy ? this.#placeStored(project, node, all, policy) : this.#place(project, node, all));
    if (object === undefined) return node;
    undo.defer(async () => void (await compute.remove(node.removal).catch(ignore)));
    node.applyRuntime(object);
    node.record = withComputeState(node.record, object, (wanted) => renaming.take(wanted));
    undo.defer(() => node.end());
    await this.#options.forwards.follow(node);
    return node;
  }

  /**
   * Recreates a node on its compute from the controller's record after the compute has forgotten it. Its files are
   * still there.
   */
  async renew(project: Project, node: Node, properties = node.lastingProperties): Promise<void> {
    node.status = 'stopped';
    try {
      const object = await this.#place(project, node, properties);
      node.absent = undefined;
      node.applyRuntime(object);
      await this.records.write(project, node, (record, rename) => withComputeState(record, object, rename));
      await this.#options.forwards.follow(node);
    } catch (error) {
      if (error instanceof ComputeRefusal) {
        node.lost = false;
        this.#beAbsent(node, error.message);
      }
      throw error;
    } finally {
      this.records.announce('node.updated', node);
    }
  }

  /** Creates the node on its compute and returns the compute's answer. */
  async #place(project: Project, node: Node, properties: Record<string, unknown>): Promise<Record<string, unknown>> {
    const { compute, type } = node;
    await hostProject(project, compute);
    const body = { ...(await node.computeBody(properties)), node_id: node.id };
    const limit = nodeKind(type).creationLimit ?? CREATION_LIMIT_MS;
    const path = `/projects/${project.id}/${type}/nodes`;
    const { images, macNumbers } = this.#options;
    const headers = macNumbers.atCreation(project, node);
    try {
      const checksums = Object.entries(properties).flatMap(([name, value]) =>
        name.endsWith('md5sum') && typeof value === 'string' ? [value.toLowerCase()] : [],
      );
      const need = { compute, type, projectId: project.id, checksums };
      const answer = await images.supply(need, () => compute.post(path, { body, headers, limit }));
      return macNumbers.answered(project, node, mustBeObject(answer, `POST ${path}`));
    } catch (error) {
      // Unless the compute rejected it, the node may exist all the same.
      if (!(error instanceof ComputeRefusal)) await compute.remove(node.removal, { connect: false }).catch(ignore);
      throw error;
    }
  }

  /** As `#place`, without properties that no compute knows; undefined for a node that its compute rejects. */
  async #placeStored(
    project: Project,
    node: Node,
    properties: Record<string, unknown>,
    policy: LoadPolicy,
  ): Promise<Record<string, unknown> | undefined> {
    try {
      // A rejection of the whole project does not concern the node.
      await hostProject(project, node.compute);
    } catch (error) {
      return this.#lose(node, error);
    }
    try {
      return await this.#place(project, node, properties);
    } catch (error) {
      if (!(error instanceof ComputeRefusal)) return this.#lose(node, error);
      const strange = error.code === 'invalid' ? await this.#strangeProperties(node, properties) : [];
      if (strange.length > 0) {
        policy.remark(
          `The node ${node.name} is opened without ${strange.join(', ')}: no ${node.type} node has such properties.`,
        );
        const known = (all: object) => Object.entries(all).filter(([name]) => !strange.includes(name));
        node.record = { ...node.record, properties: Object.fromEntries(known(node.record.properties)) };
        return this.#placeStored(project, node, Object.fromEntries(known(properties)), policy);
      }
      // A node that always runs has no later start that could create it.
      if (!policy.mayBeAbsent || nodeKind(node.type).alwaysRuns || error.code !== 'conflict') throw error;
      this.#beAbsent(node, error.message);
      policy.remark(`The node ${node.name} cannot be started as yet. ${error.message}`);
      return undefined;
    }
  }

  /**
   * A node on an unreachable host is created when the host is back.
   * @throws any other failure
   */
  #lose(node: Node, error: unknown): undefined {
    if (node.compute.connected) throw error;
    node.lost = true;
    this.#beAbsent(node, messageOf(error));
  }

  #beAbsent(node: Node, reason: string): void {
    node.absent = reason;
    // Recomputes its ports: those of a missing node follow from the defaults.
    node.record = { ...node.record };
  }

  async #strangeProperties(node: Node, properties: Record<string, unknown>): Promise<string[]> {
    const taken = this.#options.properties(node.type);
    return Object.keys(await node.computeBody(properties)).filter((name) => name in properties && !taken.has(name));
  }

  /** Creates a missing node and wires its links. */
  async #appear(project: Project, node: Node): Promise<void> {
    await this.#appearing.run(project.id, async () => {
      if (node.absent === undefined || node.leaving) return;
      await this.renew(project, node);
      for (const link of project.linksOf(node)) {
        if (!link.leaving && !link.unwirable) await this.#options.links.renew(project, link, new Set([node]));
      }
    });
  }

  /** @throws Failure `invalid` for members that are not settable, or the compute's; nothing changes then */
  update(project: Project, id: string, given: NodeUpdate): Promise<Node> {
    return this.updates.update(project, id, given);
  }

  move(project: Project, id: string, target: Compute, given: NodeUpdate): Promise<Node> {
    return this.#moves.move(project, id, target, given);
  }

  /** Warns the project's clients of nodes that an action on all nodes skipped. */
  tellLeftOut(project: Project, action: Action, leftOut: readonly LeftOut[]): void {
    for (const [reason, nodes] of Map.groupBy(leftOut, (one) => one.reason)) {
      const names = nodes.map(({ name }) => name).join(', ');
      this.records.tell(project, 'log.warning', `${action}: left out ${names}. ${reason}`);
    }
  }

  /** See `NodeDeletions`. */
  delete(project: Project, id: string, options?: { keep: boolean }): Promise<number | undefined> {
    return this.#deletions.delete(project, id, options);
  }

  /** See `NodeDeletions`. */
  restore(project: Project, id: string): Promise<Node> {
    return this.#deletions.restore(project, id);
  }

  /** Copies a stopped node, without its links. */
  duplicate(project: Project, id: string, { x, y, z }: NodeDuplicate): Promise<Node> {
    const copyId = randomUUID();
    return project.changes.run(nodeCopy(id, copyId), async () => {
      const source = project.node(id);
      source.compute.requireAccepting();
      if (source.status !== 'stopped' && !source.alwaysRunning) {
        throw conflict(`The node "${source.name}" is running: stop it before duplicating it.`);
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
        custom_adapters: source.record.custom_adapters.map(keep),
        locked: false,
        x,
        y,
        z,
      } as NodeCreate;
      return this.#createFrom(project, source.compute, given, async (copy) => {
        try {
          await source.compute.post(`${source.path}/duplicate`, { body: { destination_node_id: copy.id }, limit: 0 });
        } catch (error) {
          throw conflict(`The node "${source.name}" cannot be duplicated: ${messageOf(error)}`);
        }
      });
    });
  }
}
