// Deletes nodes with their links, and restores those that their computes keep.
import type { Kept } from '../../api/deleted-nodes.ts';
import type { NodeCreate } from '../../api/routes/nodes.ts';
import { conflict, messageOf } from '../../failures.ts';
import type { LabChange } from '../../store/labs.ts';
import { ComputeRefusal } from '../computes/answers.ts';
import type { Compute } from '../computes/compute.ts';
import { ComputeUnreachable } from '../computes/transport.ts';
import { keepingFiles, lastingProperties, type Node } from '../nodes/node.ts';
import { cancelStartsOf } from './actions.ts';
import { wholeNode } from './claims.ts';
import type { LabWriter } from './lab-writer.ts';
import type { Links } from './links.ts';
import type { NodeRecords } from './node-records.ts';
import { NotedNios } from './noted-nios.ts';
import type { Project } from './project.ts';

export interface NodeDeletionsOptions {
  records: NodeRecords;
  writer: LabWriter;
  links: Links;
  create(project: Project, compute: Compute, given: NodeCreate): Promise<Node>;
}

export class NodeDeletions {
  readonly #options: NodeDeletionsOptions;

  constructor(options: NodeDeletionsOptions) {
    this.#options = options;
  }

  /**
   * Deletes a node with its links.
   * @param keep keeps it for `restore`, if its compute keeps the files
   * @returns until when (ms since 1970) it is kept; undefined if it is gone for good
   * @throws Failure `conflict` for a locked node
   */
  delete(project: Project, id: string, { keep = false } = {}): Promise<number | undefined> {
    const node = project.nodes.get(id);
    const cancelled = cancelStartsOf(node && !node.record.locked ? [node] : []);
    return project.changes.run(wholeNode(id), async () => {
      await cancelled;
      return this.#deleteNow(project, project.node(id), keep);
    });
  }

  /**
   * Brings a deleted node back, with its files, and those of its links whose ports are free.
   * @throws Failure `not-found` if it is not kept; of the compute, and then it is kept further on
   */
  async restore(project: Project, id: string): Promise<Node> {
    const { create, links, records } = this.#options;
    const { node, kept } = await project.changes.run(wholeNode(id), async () => {
      project.requireOpen();
      const kept = project.deleted.get(id);
      kept.compute.requireAccepting();
      const { record, compute } = kept;
      const given = { ...record, properties: lastingProperties(record), compute_id: compute.id } as NodeCreate;
      return { kept, node: await create(project, compute, given) };
    });
    for (const link of kept.links.values()) {
      if (link.ends.some(({ node_id: end }) => end !== id && project.deleted.handOver(link, end))) continue;
      await links.restore(project, link).catch((error: unknown) => {
        const message = `${node.name} is restored without one of its links. ${messageOf(error)}`;
        records.tell(project, 'log.warning', message);
      });
    }
    return node;
  }

  async #deleteNow(project: Project, node: Node, keep: boolean): Promise<number | undefined> {
    if (node.record.locked) throw conflict(`locked: the node "${node.name}" is locked; unlock it before deleting it.`);
    const { links, records, writer } = this.#options;
    const own = project.linksOf(node);
    for (const part of [node, ...own]) part.leaving = true;
    using undo = new DisposableStack();
    undo.defer(() => {
      for (const part of [node, ...own]) part.leaving = false;
    });
    using trace = await project.remoteChanges.begin(node.compute, project.id, node.path, { makesRoom: true });
    const farEnds = own.flatMap((link) => link.ends.filter((end) => end.node !== node));
    using noted = new NotedNios(project);
    await noted.begin(farEnds, { makesRoom: true });
    // On disk first and in one transaction: if that fails nothing has changed.
    const ends = own.map((link): LabChange => ({ delete: 'link', id: link.id }));
    await writer.apply(project.record, [...ends, { delete: 'node', id: node.id }]);
    await links.forgetAll(project, own, noted);
    let failure: unknown;
    let isKept = false;
    try {
      const answer = await node.compute.remove(keep ? keepingFiles(node.path) : node.path);
      isKept = keep && (answer as Partial<Kept> | undefined)?.kept === true;
      void trace.settle();
    } catch (error) {
      // If the compute refuses, it still has the node, without its cables; the lab keeps it likewise.
      if (error instanceof ComputeRefusal) {
        await writer.apply(project.record, [{ node: node.record }]);
        await trace.settle();
        throw error;
      }
      // Otherwise it is removed when the compute is back.
      const isAway = !node.compute.connected || (error instanceof ComputeUnreachable && !error.late);
      if (!isAway) failure = error;
      else
        records.tell(
          project,
          'log.warning',
          `${node.name} is removed from the host ${node.compute.name} when that is back. ${messageOf(error)}`,
        );
    }
    undo.move();
    project.nodes.delete(node.id);
    const until = isKept ? project.deleted.add(node, own) : undefined;
    node.end();
    project.names.release(node.name);
    records.announce('node.deleted', node);
    if (failure !== undefined) throw failure;
    return until;
  }
}
