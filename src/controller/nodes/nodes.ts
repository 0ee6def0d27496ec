// What can be done with nodes: create, change, delete, duplicate, and follow what their computes say of them.
import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { Failure } from '../../failures.ts';
import type { LabChange } from '../../store/labs.ts';
import { ComputeRefusal, mustBeObject } from '../computes/answers.ts';
import type { Compute, ComputeMessage } from '../computes/compute.ts';
import type { MissingImages } from '../computes/missing-images.ts';
import type { Announcer } from '../events.ts';
import type { Links } from '../links/links.ts';
import type { LabWriter } from '../projects/lab-writer.ts';
import type { Project } from '../projects/project.ts';
import { takeBaseConfigs } from './base-configs.ts';
import { nodeRecord, type SymbolSource } from './creation.ts';
import { Node, type NodeRecord } from './node.ts';
import type { NodeCreate, NodeDuplicate, NodeUpdate } from './schema.ts';

/** A node's creation may download or convert; the release waits as long. */
const CREATION_LIMIT = 1_200_000;

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
/** Members of a record that a copy does not take over. */
const NOT_COPIED = ['node_id', 'name', 'mac_addr', 'mac_address', 'compute_id', 'application_id', 'dynamips_id'];

export interface NodesOptions {
  announcer: Announcer;
  writer: LabWriter;
  links: Links;
  symbols: SymbolSource;
  /** Directory of base configurations. */
  configs: string;
  images: MissingImages;
}

export class Nodes {
  private readonly options: NodesOptions;

  constructor(options: NodesOptions) {
    this.options = options;
  }

  /**
   * Creates a node on its compute and in the project; a known `node_id` gives the node that there is.
   * @throws Failure of the compute; nothing is left behind then
   */
  async create(project: Project, compute: Compute, given: NodeCreate): Promise<Node> {
    project.requireOpen();
    const known = given.node_id === undefined ? undefined : project.nodes.get(given.node_id);
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
    return this.createFrom(project, compute, { ...given, properties: { ...given.properties, ...strays } });
  }

  private async createFrom(project: Project, compute: Compute, given: NodeCreate): Promise<Node> {
    await using undo = new AsyncDisposableStack();
    const node = await this.onCompute(project, compute, given, undo);
    const record = { ...node.record };
    await this.options.writer.apply(project.record, [{ node: record }, ...computeChange(compute)]);
    undo.move();
    project.nodes.set(node.id, node);
    this.options.announcer.project.emit('node.created', node.json(), project.id);
    return node;
  }

  /** Makes the node of a topology file anew; the lab's own record of it is written by the opening as a whole. */
  async recreate(project: Project, compute: Compute, given: NodeCreate): Promise<Node> {
    await using undo = new AsyncDisposableStack();
    const node = await this.onCompute(project, compute, given, undo);
    undo.move();
    project.nodes.set(node.id, node);
    this.options.announcer.project.emit('node.created', node.json(), project.id);
    return node;
  }

  private async onCompute(
    project: Project,
    compute: Compute,
    given: NodeCreate,
    undo: AsyncDisposableStack,
  ): Promise<Node> {
    const name = project.names.allocate(given.name);
    undo.defer(() => project.names.release(name));
    const node = new Node(project.id, compute, nodeRecord(given, name, this.options.symbols));
    const texts = await takeBaseConfigs(node.record.properties, this.options.configs);
    await this.place(project, node, { ...node.record.properties, ...texts });
    undo.defer(() => compute.remove(node.path).catch(noop));
    return node;
  }

  /** Makes a node anew on its compute, as it is known here, after the compute has forgotten it. Its files are there still. */
  async renew(project: Project, node: Node): Promise<void> {
    node.status = 'stopped';
    try {
      await this.place(project, node, node.lastingProperties);
      await this.options.writer.apply(project.record, [{ node: node.record }]);
    } finally {
      this.options.announcer.project.emit('node.updated', node.json(), project.id);
    }
  }

  /** Makes the node on its compute, and takes over what that says of it. */
  private async place(project: Project, node: Node, properties: Record<string, unknown>): Promise<void> {
    const { compute, type } = node;
    await hostProject(project, compute);
    const body = { ...node.computeBody(properties), node_id: node.id };
    const limit = type === 'docker' ? 0 : CREATION_LIMIT;
    const path = `/projects/${project.id}/${type}/nodes`;
    try {
      const need = { compute, type, projectId: project.id };
      const answer = await this.options.images.supply(need, () => compute.post(path, { body, limit }));
      const object = mustBeObject(answer, `POST ${path}`);
      node.absorb(object, (wanted) => this.rename(project, node, wanted));
    } catch (error) {
      // Unless it was refused it may be there all the same.
      if (!(error instanceof ComputeRefusal)) await compute.remove(node.path, { connect: false }).catch(noop);
      throw error;
    }
    node.updatePorts();
  }

  private rename(project: Project, node: Node, wanted: string): string {
    const label = node.record.label;
    project.names.release(node.record.name);
    let name: string;
    try {
      name = project.names.allocate(wanted);
    } catch (error) {
      project.names.allocate(node.record.name);
      throw error;
    }
    if (name !== label.text) node.record.label = { ...label, text: name, x: null };
    return name;
  }

  /**
   * Changes a node; a change that its compute refuses changes nothing.
   * @throws Failure `invalid` for members that are not settable
   */
  async update(project: Project, node: Node, given: NodeUpdate): Promise<Node> {
    refuseFixed(node, given);
    const before: NodeRecord = { ...node.record, properties: { ...node.record.properties } };
    if (given.name !== undefined && given.name !== node.name && node.type === 'dynamips' && node.status !== 'stopped') {
      throw new Failure('conflict', 'name: a started router cannot be renamed; stop it first.');
    }
    let told = false;
    try {
      const forCompute = this.assign(project, node, given);
      node.updatePorts();
      if (forCompute) {
        told = true;
        const body = node.computeBody(given.properties ?? node.lastingProperties);
        const answer = mustBeObject(await node.compute.put(node.path, { body }), `PUT ${node.path}`);
        node.absorb(answer, (wanted) => this.rename(project, node, wanted));
      }
      if (isDeepStrictEqual(before, node.record)) return node;
      await this.options.writer.apply(project.record, [{ node: node.record }]);
      // What the compute was told it announces itself.
      if (!forCompute) this.options.announcer.project.emit('node.updated', node.json(), project.id);
      return node;
    } catch (error) {
      if (before.name !== node.record.name) {
        project.names.release(node.record.name);
        project.names.allocate(before.name);
      }
      Object.assign(node.record, before);
      node.updatePorts();
      if (told && !(error instanceof ComputeRefusal)) await this.tellAgain(project, node);
      throw error;
    }
  }

  /** Has the compute and the disk forget a change that has failed: the compute may have made it, and have announced it already. */
  private async tellAgain(project: Project, node: Node): Promise<void> {
    const body = node.computeBody(node.lastingProperties);
    await node.compute.put(node.path, { body, connect: false }).catch(noop);
    await this.options.writer.apply(project.record, [{ node: node.record }]).catch(noop);
  }

  /** Takes over what differs; tells whether the compute must hear of it. */
  private assign(project: Project, node: Node, given: NodeUpdate): boolean {
    const { record } = node;
    let forCompute = given.properties !== undefined;
    if (given.properties !== undefined && Array.isArray(given.properties['custom_adapters'])) {
      record.custom_adapters = given.properties['custom_adapters'] as NodeRecord['custom_adapters'];
    }
    for (const member of OWN_MEMBERS) {
      if (given[member] !== undefined) Object.assign(record, { [member]: given[member] });
    }
    if (given.symbol !== undefined) Object.assign(record, this.options.symbols.forNode(given.symbol));
    for (const member of SHARED_MEMBERS) {
      const value = given[member];
      if (value === undefined || isDeepStrictEqual(value, record[member])) continue;
      Object.assign(record, { [member]: value });
      forCompute = true;
    }
    if (given.label !== undefined) record.label = { ...given.label, text: record.name };
    if (given.name !== undefined && given.name !== record.name) {
      record.name = this.rename(project, node, given.name);
      forCompute = true;
    }
    return forCompute;
  }

  /** @throws Failure `conflict` for a locked node */
  async delete(project: Project, node: Node): Promise<void> {
    if (node.record.locked)
      throw new Failure('conflict', `locked: the node "${node.name}" is locked; unlock it before deleting it.`);
    const { announcer, links, writer } = this.options;
    const own = project.linksOf(node);
    // First on the disk, all together: when that fails nothing has happened.
    const ends = own.map((link): LabChange => ({ delete: 'link', id: link.id }));
    await writer.apply(project.record, [...ends, { delete: 'node', id: node.id }]);
    await links.forgetAll(project, own);
    let failure: unknown;
    try {
      await node.compute.remove(node.path);
    } catch (error) {
      // One that refuses has the node still, without its cables: so has the lab.
      if (error instanceof ComputeRefusal) {
        await writer.apply(project.record, [{ node: node.record }]);
        throw error;
      }
      failure = error;
    }
    project.nodes.delete(node.id);
    project.names.release(node.name);
    announcer.project.emit('node.deleted', node.json(), project.id);
    if (failure !== undefined) throw failure;
  }

  /** A copy of a stopped node, without its links. */
  async duplicate(project: Project, source: Node, { x, y, z }: NodeDuplicate): Promise<Node> {
    if (source.status !== 'stopped' && !source.alwaysRunning) {
      throw new Failure('conflict', `The node "${source.name}" is running: stop it before duplicating it.`);
    }
    const keep = <T extends object>(members: T): T =>
      Object.fromEntries(Object.entries(members).filter(([member]) => !NOT_COPIED.includes(member))) as T;
    const { width: _width, height: _height, ...record } = keep(source.record);
    const given = {
      ...record,
      name: source.name,
      compute_id: source.compute.id,
      node_id: randomUUID(),
      properties: keep(structuredClone(source.record.properties)),
      locked: false,
      x,
      y,
      z,
    } as NodeCreate;
    const copy = await this.createFrom(project, source.compute, given);
    try {
      await source.compute.post(`${source.path}/duplicate`, { body: { destination_node_id: copy.id }, limit: 0 });
    } catch (error) {
      await this.delete(project, copy);
      throw new Failure(
        'conflict',
        `The node "${source.name}" cannot be duplicated: ${error instanceof Error ? error.message : error}`,
      );
    }
    return copy;
  }

  /** A compute announces that one of its nodes changed. */
  async computeUpdated(project: Project, compute: Compute, { event }: ComputeMessage): Promise<void> {
    const node = project.nodes.get(String(event['node_id']));
    if (node?.compute !== compute || project.state === 'closed') return;
    const { stored } = node.absorb(event, (wanted) => this.rename(project, node, wanted));
    await this.changed(project, node, stored);
  }

  /** Takes over what a compute answers of a node; nothing is announced when that is known already. */
  async compare(project: Project, node: Node, object: Record<string, unknown>): Promise<void> {
    const { stored, seen } = node.absorb(object, (wanted) => this.rename(project, node, wanted));
    if (seen) await this.changed(project, node, stored);
  }

  private async changed(project: Project, node: Node, stored: boolean): Promise<void> {
    if (stored) await this.options.writer.apply(project.record, [{ node: node.record }]);
    this.options.announcer.project.emit('node.updated', node.json(), project.id);
    await this.options.links.nodeChanged(project, node);
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
