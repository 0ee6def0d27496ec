// Drains a host: it takes no new nodes, and its nodes are moved to other hosts.
import type { Drained } from '../../api/objects.ts';
import type { Operation } from '../../events/operations.ts';
import { messageOf } from '../../failures.ts';
import { log } from '../../host/log.ts';
import { KeyedLock } from '../../host/values/keyed-lock.ts';
import { ongoing } from '../../host/values/progress.ts';
import type { Compute } from '../computes/compute.ts';
import type { Computes } from '../computes/computes.ts';
import type { Project } from '../lab/project.ts';
import type { Projects } from '../projects/projects.ts';
import { nodeIn, type Relocations } from './relocation.ts';

/** Between the answer and the end of this controller (ms). */
const HAND_OVER_MS = 500;

const CANCELLED = 'the drain was cancelled; repeat it to go on';

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
  /** Of each host, by its id, one drain or undrain works at a time. */
  readonly #hosts = new KeyedLock();
  /** The last one of each host, by its id. */
  readonly #drains = new Map<string, Pick<Operation, 'giveUp'>>();

  constructor(options: DrainingOptions) {
    this.#options = options;
  }

  /**
   * Each move is complete or rolled back; nodes that cannot be moved stay and are reported. Repeating it goes on with
   * those that are left: the former drain is cancelled, and this one begins when it has ended.
   * @param restarts whether running nodes are stopped, moved and started again; otherwise they are left
   */
  drain(id: string, restarts: boolean, operation: Pick<Operation, 'giveUp' | 'signal'>): Promise<Drained> {
    const { id: host } = this.#options.computes.host(id);
    this.#drains.get(host)?.giveUp();
    this.#drains.set(host, operation);
    return this.#hosts.run(host, () => this.#drain(host, restarts, operation.signal));
  }

  async #drain(id: string, restarts: boolean, signal: AbortSignal): Promise<Drained> {
    const { computes, projects } = this.#options;
    const compute = await computes.setDraining(id, true);
    const result: Drained = { compute_id: id, name: compute.name, draining: true, moved: [], left: [] };
    const cancelled = new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve());
    });
    for (const project of projects.list()) {
      if (!signal.aborted) await Promise.race([project.settled(), cancelled]);
      if (project.isOpen) await this.#drainLab({ project, id, restarts, signal }, result);
      else if (project.damaged === undefined) await this.#tellClosed(project, id, result);
    }
    const next = compute.id === 'local' && !signal.aborted ? await this.#handOverLater(compute) : undefined;
    return { ...result, ...(next !== undefined && { next_controller: next }) };
  }

  /** This host is to have no part in the cluster: another one is the controller after the answer. Returns its name. */
  async #handOverLater(compute: Compute): Promise<string | undefined> {
    const role = this.#options.role();
    const next = await role?.next().catch(() => undefined);
    if (!role || !next) return undefined;
    const handOver = async (): Promise<void> => {
      if (!compute.draining) return;
      await role.handOver(next.name).catch((error: unknown) => {
        log.warn('the role of the controller stays on a drained host', { reason: messageOf(error) });
      });
    };
    setTimeout(() => void handOver(), HAND_OVER_MS).unref();
    return next.name;
  }

  /** Cancels the drain of the host, and waits until the node that is being moved has arrived. */
  undrain(id: string): Promise<Drained> {
    const { id: host } = this.#options.computes.host(id);
    this.#drains.get(host)?.giveUp();
    return this.#hosts.run(host, async () => {
      const { name } = await this.#options.computes.setDraining(host, false);
      return { compute_id: host, name, draining: false, moved: [], left: [] };
    });
  }

  /** Cancels all drains. Resolves when they have ended. */
  async stop(): Promise<void> {
    for (const drain of this.#drains.values()) drain.giveUp();
    await Promise.all([...this.#drains.keys()].map((host) => this.#hosts.run(host, async () => {})));
  }

  async #drainLab(
    { project, id, restarts, signal }: { project: Project; id: string; restarts: boolean; signal: AbortSignal },
    result: Drained,
  ): Promise<void> {
    const compute = this.#options.computes.get(id);
    const nodes = project.nodesOn(compute);
    if (nodes.length === 0) return;
    if (signal.aborted || !compute.connected) {
      const reason = signal.aborted
        ? CANCELLED
        : `the host ${compute.name} is not connected: a move would leave the node's files behind; move single nodes with "labwired node move"`;
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
      stopped: () => (signal.aborted ? CANCELLED : undefined),
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
