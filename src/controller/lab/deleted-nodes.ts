// Deleted nodes of an open project that can be restored, with their links, while their compute keeps their files.
import { type DeletedNode, KEPT_MS } from '../../api/deleted-nodes.ts';
import { notFound } from '../../failures.ts';
import type { Compute } from '../computes/compute.ts';
import type { Link, LinkRecord, LinkSettings } from '../links/link.ts';
import type { Node, NodeRecord } from '../nodes/node.ts';

/** A link that went with its node. */
export interface KeptLink {
  readonly id: string;
  readonly settings: LinkSettings;
  readonly ends: LinkRecord['nodes'];
}

export interface KeptNode {
  readonly record: NodeRecord;
  readonly compute: Compute;
  /** Grows while the node is being restored, by links whose other node was restored first. */
  readonly links: Map<string, KeptLink>;
  /** Milliseconds since 1970. */
  readonly until: number;
}

export class DeletedNodes {
  readonly #kept = new Map<string, KeptNode>();

  /** Returns until when the node is kept. */
  add({ id, record, compute }: Node, links: readonly Link[]): number {
    const until = Date.now() + KEPT_MS;
    const gone = links.map(({ id, settings, record: { nodes: ends } }) => [id, { id, settings, ends }] as const);
    this.#kept.set(id, { record, compute, links: new Map(gone), until });
    return until;
  }

  has(id: string): boolean {
    return this.#present().has(id);
  }

  /** @throws Failure `not-found` */
  get(id: string): KeptNode {
    const kept = this.#present().get(id);
    if (kept !== undefined) return kept;
    throw notFound(
      `node_id: no deleted node ${id} is kept. Nodes are kept for an hour while their lab is open, if they were deleted with keep=yes and a tenth of the disk was free.`,
    );
  }

  /** Gives a link to its other node, which is restored later. Returns false if that is not kept. */
  handOver(link: KeptLink, id: string): boolean {
    const kept = this.#present().get(id);
    if (kept === undefined) return false;
    kept.links.set(link.id, link);
    return true;
  }

  forget(id: string): void {
    this.#kept.delete(id);
  }

  clear(): void {
    this.#kept.clear();
  }

  records(): NodeRecord[] {
    return [...this.#present().values()].map(({ record }) => record);
  }

  /** The last deleted first. */
  list(): DeletedNode[] {
    return [...this.#present()]
      .map(([node_id, { record, until }]) => ({
        node_id,
        name: record.name,
        node_type: record.node_type,
        until: new Date(until).toISOString(),
      }))
      .reverse();
  }

  #present(): Map<string, KeptNode> {
    for (const [id, { until }] of this.#kept) if (until <= Date.now()) this.#kept.delete(id);
    return this.#kept;
  }
}
