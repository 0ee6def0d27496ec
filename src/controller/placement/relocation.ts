// Moves nodes of a lab away from a host, to hosts that are chosen for them.
import { setTimeout as sleep } from 'node:timers/promises';
import { nodeKind } from '../../api/kinds/kinds.ts';
import type { Drained, DrainedNode } from '../../api/objects.ts';
import type { NodeUpdate } from '../../api/routes/nodes.ts';
import { messageOf } from '../../failures.ts';
import type { Compute } from '../computes/compute.ts';
import type { Computes } from '../computes/computes.ts';
import { act } from '../lab/actions.ts';
import { nodeRun } from '../lab/claims.ts';
import type { Nodes } from '../lab/nodes.ts';
import type { Project } from '../lab/project.ts';
import type { Node } from '../nodes/node.ts';
import type { DueStarts } from './due-starts.ts';
import type { Placement } from './placement.ts';

/** How long (ms) a host may take to report that a node is stopped, and how often that is looked at. */
const STOPPED_MS = 5_000;
const LOOK_MS = 20;

export type Relocated = Pick<Drained, 'moved' | 'left'>;

export interface Relocation {
  project: Project;
  source: Compute;
  nodes: readonly Node[];
  /** Begins the reason that is kept for each moved node: `rack 2 is being drained`. */
  why: string;
  /** Stops running nodes, and starts them where they are then. */
  restarts?: boolean;
  /** Why the rest is left, once nothing more is to be moved. */
  stopped?: () => string | undefined;
  /** Called before the first move with their number, and after each with 0. */
  progressed?: (expected: number) => void;
}

export class Relocations {
  readonly #computes: Computes;
  readonly #nodes: Nodes;
  readonly #placement: Placement;
  readonly #due: DueStarts;

  constructor(parts: { computes: Computes; nodes: Nodes; placement: Placement; due: DueStarts }) {
    this.#computes = parts.computes;
    this.#nodes = parts.nodes;
    this.#placement = parts.placement;
    this.#due = parts.due;
  }

  /**
   * Each move is complete or rolled back; nodes that cannot be moved are left, with the reason. If a chosen host is lost
   * meanwhile, others are chosen for the rest.
   */
  async run(relocation: Relocation): Promise<Relocated> {
    const result: Relocated = { moved: [], left: [] };
    const lost = new Set<string>();
    let { nodes } = relocation;
    do {
      const { moved, left, failed } = await this.#runOnce({ ...relocation, nodes });
      const isConnected = (host: string): boolean =>
        this.#computes.list().some(({ id, connected }) => id === host && connected);
      // Once for each host: one that comes and goes must not keep this going.
      const retried = new Map([...failed].filter(([, host]) => !lost.has(host) && !isConnected(host)));
      for (const host of retried.values()) lost.add(host);
      result.moved.push(...moved);
      result.left.push(...left.filter(({ node_id: id }) => !retried.has(id)));
      nodes = nodes.filter(({ id }) => retried.has(id));
    } while (nodes.length > 0);
    return result;
  }

  /** @returns also the hosts that were chosen for nodes whose move failed, by id */
  async #runOnce(relocation: Relocation): Promise<Relocated & { failed: Map<string, string> }> {
    const { project, source, nodes, why, restarts = false, stopped, progressed } = relocation;
    const result: Relocated = { moved: [], left: [] };
    const failed = new Map<string, string>();
    const { choices, unplaceable } = await this.#placement.solve([], [], project, new Set(nodes));
    for (const { node, missing } of unplaceable) {
      const found = project.nodes.get(node);
      const hosts = missing.filter(({ host }) => host !== source.id).map(({ name, reason }) => `${name}: ${reason}`);
      const reason = hosts.length > 0 ? `no other host can run it (${hosts.join('; ')})` : 'there is no other host';
      if (found) result.left.push({ ...nodeIn(project, found), reason });
    }
    progressed?.(choices.size);
    const keeping: Promise<void>[] = [];
    for (const [nodeId, { host, reason }] of choices) {
      const node = project.nodes.get(nodeId);
      if (!node || node.compute !== source) continue;
      const halt = stopped?.();
      if (halt !== undefined) {
        result.left.push({ ...nodeIn(project, node), reason: halt });
        continue;
      }
      const runs = restarts && canRestart(node);
      const move = async (): Promise<void> => {
        try {
          if (runs) await stop(project, node);
          await this.#nodes.move(project, nodeId, this.#computes.get(host), { compute_id: host } as NodeUpdate);
          // Not awaited: the reasons of all nodes of the lab are one document, which is written once for many moves.
          keeping.push(this.#placement.keep(project, new Map([[nodeId, { host, reason: `${why}; ${reason}` }]])));
          result.moved.push({ ...nodeIn(project, node), compute_id: host, reason });
        } catch (error) {
          failed.set(nodeId, host);
          result.left.push({ ...nodeIn(project, node), reason: messageOf(error).replace(/^compute_id: /, '') });
        }
        if (runs) await this.#startAgain(project, node, result);
      };
      await (runs ? this.#due.during(project, [node], move) : move());
      progressed?.(0);
    }
    await Promise.all(keeping);
    return { ...result, failed };
  }

  /** On its new host, or after a failed move on the former one. */
  async #startAgain(project: Project, node: Node, { left }: Relocated): Promise<void> {
    try {
      await project.changes.run(nodeRun(node.id), () => act(node, 'start'));
    } catch (error) {
      left.push({
        ...nodeIn(project, node),
        reason: `it was stopped and cannot be started on ${node.compute.name}: ${messageOf(error)}`,
      });
    }
  }
}

function canRestart({ type, status, alwaysRunning }: Node): boolean {
  return status === 'started' && !alwaysRunning && nodeKind(type).staysOnHost === undefined;
}

/** Resolves when its host has reported that the node is stopped. */
async function stop(project: Project, node: Node): Promise<void> {
  await project.changes.run(nodeRun(node.id), () => act(node, 'stop'));
  const deadline = performance.now() + STOPPED_MS;
  while (node.status !== 'stopped' && performance.now() < deadline) await sleep(LOOK_MS);
}

export function nodeIn(project: Project, { id, name }: Pick<Node, 'id' | 'name'>): DrainedNode {
  return { project_id: project.id, project_name: project.record.name, node_id: id, name };
}
