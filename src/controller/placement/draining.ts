// Drains a host: it takes no new nodes, and its nodes are moved to other hosts.
import type { Drained } from '../../api/objects.ts';
import { messageOf } from '../../failures.ts';
import { log } from '../../host/log.ts';
import { ongoing } from '../../host/values/progress.ts';
import type { Computes } from '../computes/computes.ts';
import type { Project } from '../lab/project.ts';
import type { Projects } from '../projects/projects.ts';
import { nodeIn, type Relocations } from './relocation.ts';

/** Between the answer and the end of this controller (ms). */
const HAND_OVER_MS = 500;

export interface ControllerRole {
  /** The host that can be the controller next. @throws Failure with the reason if there is none */
  next(): Promise<{ name: string }>;
  /** Lets it be the controller. */
  handOver(name: string): Promise<unknown>;
}

export interface DrainingOptions {
  computes: Computes;
  projects: Projects;
  relocations: Relocations;
  /** The role of the controller, where hosts of a cluster take turns at it. */
  role: () => ControllerRole | undefined;
}

export class Draining {
  readonly #options: DrainingOptions;

  constructor(options: DrainingOptions) {
    this.#options = options;
  }

  /**
   * Each move is complete or rolled back; nodes that cannot be moved stay and are reported. Repeating it goes on with
   * those that are left.
   * @param restarts whether running nodes are stopped, moved and started again; otherwise they are left
   */
  async drain(id: string, restarts: boolean, signal: AbortSignal): Promise<Drained> {
    const { computes, projects } = this.#options;
    const compute = await computes.setDraining(id, true);
    const result: Drained = { compute_id: id, name: compute.name, draining: true, moved: [], left: [] };
    for (const project of projects.list()) {
      await project.settled();
      if (project.isOpen) await this.#drainLab({ project, id, restarts, signal }, result);
      else if (project.damaged === undefined) await this.#tellClosed(project, id, result);
    }
    const next = compute.id === 'local' && !signal.aborted ? await this.#handOverLater() : undefined;
    return { ...result, ...(next !== undefined && { next_controller: next }) };
  }

  /** This host is to have no part in the cluster: another one is the controller after the answer. Returns its name. */
  async #handOverLater(): Promise<string | undefined> {
    const role = this.#options.role();
    const next = await role?.next().catch(() => undefined);
    if (!role || !next) return undefined;
    const handOver = (): Promise<unknown> =>
      role.handOver(next.name).catch((error: unknown) => {
        log.warn('the role of the controller stays on a drained host', { reason: messageOf(error) });
      });
    setTimeout(() => void handOver(), HAND_OVER_MS).unref();
    return next.name;
  }

  async undrain(id: string): Promise<Drained> {
    const compute = await this.#options.computes.setDraining(id, false);
    return { compute_id: id, name: compute.name, draining: false, moved: [], left: [] };
  }

  async #drainLab(
    { project, id, restarts, signal }: { project: Project; id: string; restarts: boolean; signal: AbortSignal },
    result: Drained,
  ): Promise<void> {
    const compute = this.#options.computes.get(id);
    const nodes = project.nodesOn(compute);
    if (nodes.length === 0) return;
    if (!compute.connected) {
      const reason = `the host ${compute.name} is not connected: a move would leave the node's files behind; move single nodes with "labwired node move"`;
      result.left.push(...nodes.map((node) => ({ ...nodeIn(project, node), reason })));
      return;
    }
    const progress = ongoing();
    const { moved, left } = await this.#options.relocations.run({
      project,
      source: compute,
      nodes,
      why: `${compute.name} is being drained`,
      restarts,
      stopped: () => (signal.aborted ? 'the drain was cancelled; repeat it to go on' : undefined),
      progressed: (expected) => (expected > 0 ? progress.expect(expected, 'nodes') : progress.advance(1, 'nodes')),
    });
    result.moved.push(...moved);
    result.left.push(...left);
  }

  async #tellClosed(project: Project, id: string, { left }: Drained): Promise<void> {
    const stored = await this.#options.projects.stored(project, 'nodes').catch(() => []);
    for (const { node_id, name, compute_id: host } of stored) {
      if (host !== id) continue;
      const reason = `the lab ${project.record.name} is closed; open it and drain again`;
      left.push({ ...nodeIn(project, { id: node_id, name }), reason });
    }
  }
}
