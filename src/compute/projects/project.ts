// One open project on this compute: its directory and its nodes. Only the files outlive `close`.
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { ComputeProject } from '../../api/routes/compute.ts';
import type { Variables } from '../../api/vocabulary.ts';
import { conflict, type Failure, messageOf, notFound } from '../../failures.ts';
import { throwFileFailure } from '../../host/files/atomic-file.ts';
import { removeTree } from '../../host/files/remove-tree.ts';
import { log } from '../../host/log.ts';
import type { NodeKind } from '../nodes/kind.ts';
import { type Node, nodeDirectory } from '../nodes/node.ts';
import type { NodeProject } from '../nodes/owner.ts';
import type { Services } from '../services.ts';
import { endUnclaimed } from '../unclaimed-programs.ts';
import { DeletedFiles } from './deleted-files.ts';
import { DirectoryWatcher } from './watcher.ts';

export interface ProjectSettings {
  readonly id: string;
  readonly name: string | null;
  /** Absolute; exists. */
  readonly path: string;
  readonly variables: Variables;
}

export class Project implements NodeProject {
  readonly id: string;
  readonly name: string | null;
  readonly path: string;
  #variables: Variables;
  readonly #services: Services;
  readonly #watcher: DirectoryWatcher;
  readonly #deleted: DeletedFiles;
  readonly #nodes = new Map<string, Node>();
  /** Nodes that are being created, by their identifier. */
  readonly #coming = new Map<string, Promise<Node>>();
  #closed = false;

  constructor(settings: ProjectSettings, services: Services) {
    this.id = settings.id;
    this.name = settings.name;
    this.path = settings.path;
    this.#variables = settings.variables;
    this.#services = services;
    this.#deleted = new DeletedFiles(this.path);
    this.#watcher = new DirectoryWatcher(this.path, {
      file: (change, file) => services.events.emit(`file.${change}`, { project_id: this.id, ...file }, this.id),
      problem: (message) => services.events.emit('log.warning', { message }, this.id),
    });
  }

  get variables(): Variables {
    return this.#variables;
  }

  /**
   * Sets the variables and restarts the nodes that run with the old ones. A failed restart is reported and does not
   * stop the others.
   */
  async changeVariables(variables: Variables): Promise<void> {
    this.#variables = variables;
    const nodes = [...this.#nodes.values()];
    const changes = await Promise.allSettled(nodes.map((node) => node.variablesChanged()));
    for (const [index, change] of changes.entries()) {
      if (change.status === 'fulfilled') continue;
      const message = `${nodes[index]!.name} does not run with the new variables of the project: ${messageOf(change.reason)}`;
      this.#services.events.emit('log.error', { message }, this.id);
    }
  }

  async start(): Promise<void> {
    await this.#removeTemporary();
    await this.#watcher.start();
  }

  /** The project as the API shows it. */
  describe(): ComputeProject {
    return { name: this.name, project_id: this.id, variables: this.variables };
  }

  /**
   * The node of this kind.
   * @throws Failure `not-found`
   */
  node(kind: NodeKind, id: string): Node {
    const node = this.find(kind, id);
    if (node) return node;
    throw this.#missing(kind, id);
  }

  #missing(kind: NodeKind, id: string): Failure {
    return notFound(`node_id: project ${this.id} has no ${kind.type} node ${id}.`);
  }

  find(kind: NodeKind, id: string): Node | undefined {
    const node = this.#nodes.get(id);
    return node?.type === kind.type ? node : undefined;
  }

  /**
   * Creates a node. An existing one with the identifier is returned unchanged; one that was deleted with `keep` has its
   * files again.
   */
  async createNode(kind: NodeKind, body: { name: string; node_id?: string | undefined }): Promise<Node> {
    if (this.#closed) throw notFound(`project_id: project ${this.id} is closed.`);
    const id = body.node_id ?? randomUUID();
    const coming = this.#coming.get(id);
    const known = this.#nodes.get(id) ?? (coming && (await coming));
    if (known?.type === kind.type) return known;
    if (known) throw conflict(`node_id: ${id} is taken by a ${known.type} node; choose another.`);
    const making = this.#make(kind, { ...body, node_id: id });
    this.#coming.set(id, making);
    try {
      const node = await making;
      this.#nodes.set(id, node);
      return node;
    } finally {
      this.#coming.delete(id);
    }
  }

  async #make(kind: NodeKind, body: { name: string; node_id: string }): Promise<Node> {
    const { node_id: id, name } = body;
    const directory = kind.module === undefined ? undefined : nodeDirectory(kind.module, id);
    const isBack = directory !== undefined && (await this.#deleted.bringBack(directory));
    try {
      return await kind.make(
        { id, project: this, name },
        body,
        this.#services,
        this.#services.kindHosts.get(kind.type),
      );
    } catch (error) {
      if (isBack) await this.#deleted.keep(directory);
      throw error;
    }
  }

  /**
   * Stops the node and removes its directory, or keeps it for an hour.
   * @returns whether the files are kept
   * @throws Failure `not-found` for an unknown node; leftovers of it from the previous run are removed all the same
   */
  async deleteNode(kind: NodeKind, id: string, { keep = false } = {}): Promise<boolean> {
    const node = this.find(kind, id);
    if (node === undefined) {
      if (!this.#nodes.has(id) && !this.#coming.has(id)) await this.#removeLeft(kind, id);
      throw this.#missing(kind, id);
    }
    // A closed node cannot be started again: what fails from here on is reported, and does not bring it back.
    await node.close().catch((error: unknown) => {
      this.#warn(`${node.name} is deleted, but its program may still run: ${messageOf(error)}`);
    });
    this.#nodes.delete(node.id);
    this.#services.events.emit('node.deleted', node.describe(), this.id);
    if (keep && (await this.#keepFiles(kind, id))) return true;
    await this.#removeNodeFiles(kind, id, node.name);
    return false;
  }

  async #keepFiles({ module }: NodeKind, id: string): Promise<boolean> {
    if (module === undefined) return true;
    try {
      return await this.#deleted.keep(nodeDirectory(module, id));
    } catch (error) {
      log.warn('the files of a deleted node cannot be kept', { project: this.id, reason: messageOf(error) });
      return false;
    }
  }

  /** Removes a node that its lab deleted while this process was not running: ends its program, deletes its files. */
  async #removeLeft(kind: NodeKind, id: string): Promise<void> {
    await endUnclaimed(this.#services, (projectId, nodeId) => projectId === this.id && nodeId === id);
    await this.#removeNodeFiles(kind, id, id);
  }

  async #removeNodeFiles(kind: NodeKind, id: string, name: string): Promise<void> {
    if (kind.module === undefined) return;
    const directory = nodeDirectory(kind.module, id);
    await removeDirectory(join(this.path, directory), directory).catch((error: unknown) => {
      this.#warn(`The files of ${name} stay in ${directory}: ${messageOf(error)}`);
    });
  }

  #warn(message: string): void {
    log.warn(message, { project: this.id });
    this.#services.events.emit('log.warning', { message }, this.id);
  }

  /** Stops all nodes at once and releases ports. A node that cannot be stopped does not delay the others. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await Promise.allSettled(this.#coming.values());
    const endings = await Promise.allSettled([...this.#nodes.values()].map((node) => node.close()));
    for (const ending of endings) {
      if (ending.status === 'rejected') {
        log.warn('a node could not be closed', { project: this.id, reason: messageOf(ending.reason) });
      }
    }
    this.#nodes.clear();
    this.#services.ports.releaseAll(this.id);
    await this.#watcher.stop();
    await this.#removeTemporary().catch((thrown: unknown) => {
      log.warn('the project tmp directory stays', { project: this.id, reason: messageOf(thrown) });
    });
  }

  /** Removes the project's directory. Call this after `close`. */
  async removeFiles(): Promise<void> {
    await removeDirectory(this.path, this.path);
  }

  /** In the order of creation. */
  nodes(): Iterable<Node> {
    return this.#nodes.values();
  }

  /** Types and states of its nodes, for debug reports. */
  summary(): { type: string; name: string; status: string }[] {
    return [...this.#nodes.values()].map(({ type, name, status }) => ({ type, name, status }));
  }

  async #removeTemporary(): Promise<void> {
    await this.#deleted.removeAll();
    await removeDirectory(join(this.path, 'tmp'), 'tmp');
  }
}

/** If the directory was replaced by a link, the link is removed, not its target. */
async function removeDirectory(directory: string, shownAs: string): Promise<void> {
  await removeTree(directory).catch(throwFileFailure(shownAs));
}
