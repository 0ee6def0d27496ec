// Writes the records of nodes, on disk before in memory, and applies the computes' answers and notifications to them.

import { isDeepStrictEqual } from 'node:util';
import type { Relayed } from '../../api/events.ts';
import { portsOf } from '../../api/kinds/kinds.ts';
import { KeyedLock } from '../../host/values/keyed-lock.ts';
import type { LabChange } from '../../store/labs.ts';
import type { Compute } from '../computes/compute.ts';
import type { Announcer } from '../events.ts';
import type { ConsoleForwards } from '../nodes/console-forwards.ts';
import { Renaming } from '../nodes/names.ts';
import { type Node, type NodeRecord, withComputeState } from '../nodes/node.ts';
import type { LabWriter } from './lab-writer.ts';
import type { Links } from './links.ts';
import type { Project } from './project.ts';

/** A change of a node's record; `rename` returns the name to use instead of the requested one. */
export type RecordChange = (record: NodeRecord, rename: (name: string) => string) => NodeRecord;

export class NodeRecords {
  readonly #announcer: Announcer;
  readonly #writer: LabWriter;
  readonly #links: Links;
  readonly #forwards: ConsoleForwards;
  /** Records are written one at a time, so that concurrent changes of a node do not overwrite each other. */
  readonly #writing = new KeyedLock();

  constructor({
    announcer,
    writer,
    links,
    forwards,
  }: {
    announcer: Announcer;
    writer: LabWriter;
    links: Links;
    forwards: ConsoleForwards;
  }) {
    this.#forwards = forwards;
    this.#announcer = announcer;
    this.#writer = writer;
    this.#links = links;
  }

  announce(action: 'node.created' | 'node.updated' | 'node.deleted', node: Node): void {
    this.#announcer.project.emit(action, node.json(), node.projectId);
  }

  tell(project: Project, action: 'log.info' | 'log.warning' | 'log.error', message: string): void {
    this.#announcer.project.emit(action, { message }, project.id);
  }

  /**
   * Changes a node's record, on disk before in memory. Does nothing for a deleted node or one being deleted.
   * @returns whether the record has changed
   */
  async write(project: Project, node: Node, change: RecordChange, renaming?: Renaming): Promise<boolean> {
    return this.#writing.run(`${project.id}/${node.id}`, async () => {
      if (node.leaving || project.nodes.get(node.id) !== node) return false;
      const names = renaming ?? new Renaming(project.names, node.name);
      try {
        const record = change(node.record, (wanted) => names.take(wanted));
        if (isDeepStrictEqual(record, node.record)) return false;
        portsOf(record);
        // While a lab is being opened it is in memory only.
        if (project.recorded) await this.#writer.apply(project.record, [{ node: record }]);
        node.record = record;
        await this.#forwards.follow(node);
        return true;
      } finally {
        if (!renaming) names.end(node.name);
      }
    });
  }

  /**
   * Changes nodes' records, and other parts of the lab with them, all or none; leaves out nodes that are being deleted.
   * @returns the nodes whose records have changed
   */
  writeTogether(
    project: Project,
    nodes: readonly Node[],
    change: (record: NodeRecord) => NodeRecord,
    others: readonly LabChange[],
  ): Promise<Node[]> {
    const keys = nodes.map(({ id }) => `${project.id}/${id}`);
    return this.#writing.run(keys, async () => {
      const changed = nodes
        .filter((node) => !node.leaving && project.nodes.get(node.id) === node)
        .map((node) => ({ node, record: change(node.record) }))
        .filter(({ node, record }) => !isDeepStrictEqual(record, node.record));
      const changes = [...others, ...changed.map(({ record }) => ({ node: record }))];
      if (changes.length > 0) await this.#writer.apply(project.record, changes);
      for (const { node, record } of changed) node.record = record;
      return changed.map(({ node }) => node);
    });
  }

  /** A compute announces a changed node. Unknown nodes and nodes of other computes are ignored. */
  async computeUpdated(project: Project, compute: Compute, { event }: Relayed): Promise<void> {
    const node = project.nodes.get(String(event['node_id']));
    if (node?.compute !== compute || node.leaving) return;
    const isSeen = node.applyRuntime(event);
    if (node.inbox) {
      node.inbox.push(event);
      if (isSeen) this.announce('node.updated', node);
    } else await this.follow(project, node, [event]);
    if (isSeen) this.#links.captures.nodeChanged(project, node);
  }

  /** Applies the objects that a compute sent for a node. */
  async follow(project: Project, node: Node, said: readonly Record<string, unknown>[]): Promise<void> {
    await this.write(project, node, (record, rename) =>
      said.reduce((next: NodeRecord, object) => withComputeState(next, object, rename), record),
    );
    if (project.nodes.get(node.id) === node && !node.leaving) this.announce('node.updated', node);
  }

  /** Applies a compute's answer to a node; announced only if something changed. */
  async compare(project: Project, node: Node, object: Record<string, unknown>): Promise<void> {
    const isSeen = node.applyRuntime(object);
    if (node.absent !== undefined) {
      // The node exists after all: its lab was opened while its host was unreachable.
      node.absent = undefined;
      node.record = { ...node.record };
    }
    const isStored = await this.write(project, node, (record, rename) => withComputeState(record, object, rename));
    if (!isSeen && !isStored) return;
    this.announce('node.updated', node);
    this.#links.captures.nodeChanged(project, node);
  }
}
