// Lets other hosts of the cluster run the nodes of one that is gone.
import { nodeKind } from '../../api/kinds/kinds.ts';
import { messageOf } from '../../failures.ts';
import { log } from '../../host/log.ts';
import type { Compute } from '../computes/compute.ts';
import type { Computes } from '../computes/computes.ts';
import type { Announcer } from '../events.ts';
import { startThese } from '../lab/actions.ts';
import type { Project } from '../lab/project.ts';
import type { Node } from '../nodes/node.ts';
import type { Projects } from '../projects/projects.ts';
import type { DueStarts } from './due-starts.ts';
import type { Fencing } from './fencing.ts';
import { nodeIn, type Relocated, type Relocations } from './relocation.ts';

/** Nodes with a reason that a message names. */
const MOST_NAMED = 5;

export interface FailoverOptions {
  computes: Computes;
  projects: Projects;
  relocations: Relocations;
  announcer: Announcer;
  fencing: Fencing;
  /** Nodes that ran on a host that this controller has not seen. */
  ran: { has(id: string): boolean };
  due: DueStarts;
}

export class Failover {
  readonly #options: FailoverOptions;

  constructor(options: FailoverOptions) {
    this.#options = options;
  }

  /** Moves the nodes of open labs from a lost host, and starts those that ran. Never rejects. */
  async replace(id: string): Promise<void> {
    const { computes, projects } = this.#options;
    const compute = computes.list().find((one) => one.id === id);
    if (!compute) return;
    for (const project of projects.list()) {
      await project.settled();
      if (compute.connected) return;
      if (!project.isOpen || project.nodesOn(compute).length === 0) continue;
      await this.#replaceIn(project, compute).catch((error: unknown) => {
        log.error('the nodes of a lost host stay lost', { project: project.id, reason: messageOf(error) });
      });
    }
  }

  async #replaceIn(project: Project, compute: Compute): Promise<void> {
    const all = project.nodesOn(compute).filter((node) => !node.leaving);
    const { ran, due } = this.#options;
    const running = all.filter(
      ({ id, lastStatus, alwaysRunning }) => (lastStatus === 'started' || ran.has(id) || due.has(id)) && !alwaysRunning,
    );
    await due.during(project, running, () => this.#replaceThese(project, compute, all, running));
  }

  async #replaceThese(
    project: Project,
    compute: Compute,
    all: readonly Node[],
    running: readonly Node[],
  ): Promise<void> {
    // If only the network between the hosts is broken, the host's own copies may still reach the networks around it.
    const isFenced = this.#options.fencing.isFenced(compute.id);
    const bound = new Map(all.flatMap((node) => boundBy(node, isFenced) ?? []));
    const free = all.filter((node) => !bound.has(node));
    const why = `${compute.name} was lost`;
    const { moved, left } = await this.#options.relocations.run({
      ...{ project, source: compute, nodes: free, why },
      stopped: () => (compute.connected ? `${compute.name} is back` : undefined),
    });
    left.push(...[...bound].map(([node, reason]) => ({ ...nodeIn(project, node), reason })));
    const arrived = new Set(running.filter((node) => node.compute !== compute));
    const failure = await startThese(project, arrived).then(() => undefined, messageOf);
    this.#tell(project, compute, { moved, left }, failure);
  }

  #tell(project: Project, compute: Compute, { moved, left }: Relocated, failure: string | undefined): void {
    const { name } = compute;
    log.warn('nodes of a lost host are run elsewhere', {
      ...{ host: name, project: project.id, moved: moved.length, left: left.length },
      ...(left[0] && { reason: left[0].reason }),
    });
    const hosts = new Set(moved.map((node) => this.#options.computes.get(node.compute_id).name));
    const done =
      moved.length === 0
        ? 'None of its nodes here could be moved.'
        : `${moved.length} of its ${moved.length + left.length} nodes here run on ${[...hosts].join(', ')} now.`;
    const named = left.slice(0, MOST_NAMED).map((node) => `${node.name}: ${node.reason}`);
    const more = left.length > MOST_NAMED ? `; and ${left.length - MOST_NAMED} more` : '';
    const rest = left.length === 0 ? '' : ` Left: ${named.join('; ')}${more}.`;
    const unstarted = failure === undefined ? '' : ` Not all could be started: ${failure}`;
    const message = `The host ${name} is lost. ${done}${rest}${unstarted}`;
    this.#options.announcer.project.emit('log.warning', { message }, project.id);
  }
}

/** Why a node is not moved, in a list with it; undefined if it is. */
function boundBy(node: Node, isFenced: boolean): [[Node, string]] | undefined {
  const { leadsOut, needs } = nodeKind(node.type);
  if (!leadsOut) return undefined;
  if (!isFenced)
    return [[node, 'it leads into a network of its host, which may still be connected to it; move it by hand']];
  const mapping = node.record.properties['ports_mapping'];
  const hasTunnel = needs !== undefined && Array.isArray(mapping) && mapping.some(({ type }) => type === 'udp');
  return hasTunnel ? [[node, 'it has a UDP tunnel to the address of its host; move it by hand']] : undefined;
}
