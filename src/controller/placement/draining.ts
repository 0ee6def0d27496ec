// Drains a host: it takes no new nodes, and its nodes are moved to other hosts.

import type { Drained, DrainedNode } from '../../api/placement.ts';
import { messageOf } from '../../failures.ts';
import { ongoing } from '../../host/values/progress.ts';
import type { Computes } from '../computes/computes.ts';
import type { Nodes } from '../lab/nodes.ts';
import type { Project } from '../lab/project.ts';
import type { Node } from '../nodes/node.ts';
import type { NodeUpdate } from '../nodes/schema.ts';
import type { Projects } from '../projects/projects.ts';
import type { Placement } from './placement.ts';

export interface DrainingOptions {
  computes: Computes;
  projects: Projects;
  nodes: Nodes;
  placement: Placement;
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

  async #drainLab(project: Project, id: string, { moved, left }: Drained, signal: AbortSignal): Promise<void> {
    const { computes, nodes, placement } = this.#options;
    const compute = computes.get(id);
    const leaving = project.nodesOn(compute);
    if (leaving.length === 0) return;
    const told = ({ id: node, name }: Node): DrainedNode => {
      return { project_id: project.id, project_name: project.record.name, node_id: node, name };
    };
    if (!compute.connected) {
      const reason = `the host ${compute.name} is not connected: a move would leave the node's files behind; move single nodes with "labwired node move"`;
      left.push(...leaving.map((node) => ({ ...told(node), reason })));
      return;
    }
    const { choices, unplaceable } = await placement.solve([], [], project, new Set(leaving));
    for (const { node, missing } of unplaceable) {
      const found = project.nodes.get(node);
      const hosts = missing.filter(({ host }) => host !== id).map(({ name, reason }) => `${name}: ${reason}`);
      const reason = hosts.length > 0 ? `no other host can run it (${hosts.join('; ')})` : 'there is no other host';
      if (found) left.push({ ...told(found), reason });
    }
    const progress = ongoing();
    progress.expect(choices.size, 'nodes');
    for (const [nodeId, { host, reason }] of choices) {
      const node = project.nodes.get(nodeId);
      if (!node || node.compute !== compute) continue;
      if (signal.aborted) {
        left.push({ ...told(node), reason: 'the drain was cancelled; repeat it to go on' });
        continue;
      }
      try {
        await nodes.move(project, nodeId, computes.get(host), { compute_id: host } as NodeUpdate);
        const why = `${compute.name} is being drained; ${reason}`;
        await placement.keep(project, new Map([[nodeId, { host, reason: why }]]));
        moved.push({ ...told(node), compute_id: host, reason });
      } catch (error) {
        left.push({ ...told(node), reason: messageOf(error).replace(/^compute_id: /, '') });
      }
      progress.advance(1, 'nodes');
    }
  }

  async #tellClosed(project: Project, id: string, { left }: Drained): Promise<void> {
    type Stored = { node_id: string; name: string; compute_id: string };
    const stored = await this.#options.projects.stored(project, 'nodes').catch(() => []);
    for (const { node_id, name, compute_id: host } of stored as Stored[]) {
      if (host !== id) continue;
      const { name: lab } = project.record;
      const reason = `the lab ${lab} is closed; open it and drain again`;
      left.push({ project_id: project.id, project_name: lab, node_id, name, reason });
    }
  }
}
