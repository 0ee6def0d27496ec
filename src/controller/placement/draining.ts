// Drains a host: it takes no new nodes, and its nodes are moved to other hosts.

import type { Drained } from '../../api/placement.ts';
import { ongoing } from '../../host/values/progress.ts';
import type { Computes } from '../computes/computes.ts';
import type { Project } from '../lab/project.ts';
import type { Projects } from '../projects/projects.ts';
import { nodeIn, type Relocations } from './relocation.ts';

export interface DrainingOptions {
  computes: Computes;
  projects: Projects;
  relocations: Relocations;
}

export class Draining {
  readonly #options: DrainingOptions;

  constructor(options: DrainingOptions) {
    this.#options = options;
  }

  /**
   * Each move is complete or rolled back; nodes that cannot be moved stay and are reported. Repeating it goes on with
   * those that are left.
   */
  async drain(id: string, signal: AbortSignal): Promise<Drained> {
    const { computes, projects } = this.#options;
    const compute = await computes.setDraining(id, true);
    const result: Drained = { compute_id: id, name: compute.name, draining: true, moved: [], left: [] };
    for (const project of projects.list()) {
      await project.settled();
      if (project.isOpen) await this.#drainLab(project, id, result, signal);
      else if (project.damaged === undefined) await this.#tellClosed(project, id, result);
    }
    return result;
  }

  async undrain(id: string): Promise<Drained> {
    const compute = await this.#options.computes.setDraining(id, false);
    return { compute_id: id, name: compute.name, draining: false, moved: [], left: [] };
  }

  async #drainLab(project: Project, id: string, result: Drained, signal: AbortSignal): Promise<void> {
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
