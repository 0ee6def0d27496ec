// Chooses hosts for the nodes of labs, and keeps the reasons.
import { nodeKind } from '../../api/kinds/kinds.ts';
import type { PlacementObject } from '../../api/objects.ts';
import { AUTO_ID } from '../../api/placement.ts';
import { conflict, messageOf } from '../../failures.ts';
import { log } from '../../host/log.ts';
import { KeyedLock } from '../../host/values/keyed-lock.ts';
import type { Documents } from '../../store/documents.ts';
import type { Compute } from '../computes/compute.ts';
import type { Computes } from '../computes/computes.ts';
import type { Project } from '../lab/project.ts';
import type { Node } from '../nodes/node.ts';
import type { Projects } from '../projects/projects.ts';
import { HostFacts } from './host-facts.ts';
import { needsOf } from './host-needs.ts';
import { place } from './place.ts';
import type { Choice, Needs, PlacedNode, Problem, Solution, Unplaceable } from './problem.ts';

export interface PlacementOptions {
  computes: Computes;
  projects: Projects;
  documents: Documents;
}

/** A node that is not in a lab yet. */
export interface NewNode {
  id: string;
  name: string;
  type: string;
  properties: Readonly<Record<string, unknown>>;
  /** Its host, or `auto`. */
  compute: string;
}

const NAMED = 'the request or the file names this host';
/** Unplaceable nodes and hosts that an error names. */
const MOST_NAMED = 5;

export class Placement {
  readonly #options: PlacementOptions;
  readonly #facts: HostFacts;
  readonly #lock = new KeyedLock();
  /** Nodes with a host that are not in their lab yet. */
  readonly #reserved = new Set<{ host: string; needs: Needs }>();
  /** Choices for nodes that a client is about to create, by project and node. */
  readonly #planned = new Map<string, Map<string, Choice>>();
  /** Reasons by project and node. */
  readonly #reasons = new Map<string, Map<string, Choice>>();

  constructor(options: PlacementOptions) {
    this.#options = options;
    this.#facts = new HostFacts(options.computes);
  }

  async start(): Promise<void> {
    for (const { id, body } of await this.#options.documents.list('placements')) {
      if (this.#options.projects.find(id))
        this.#reasons.set(id, new Map(Object.entries(body as Record<string, never>)));
      else await this.#options.documents.delete('placements', id);
    }
  }

  /**
   * Creates a node on the requested host; for `auto` on one that is chosen now.
   * @throws Failure `conflict` if no host can run it, with what is missing on each
   */
  async create<Given extends { compute_id: string; node_id?: string | undefined }>(
    project: Project,
    given: Given & { node_type: string; name: string; properties?: object | undefined },
    create: (compute: Compute, given: Given) => Promise<Node>,
  ): Promise<Node> {
    const { computes } = this.#options;
    if (!computes.isAuto(given.compute_id)) return create(computes.get(given.compute_id), given);
    project.requireOpen();
    const known = given.node_id === undefined ? undefined : project.nodes.get(given.node_id);
    if (known) return known;
    const fresh: NewNode = {
      id: given.node_id ?? '',
      name: given.name,
      type: given.node_type,
      properties: (given.properties ?? {}) as Record<string, unknown>,
      compute: AUTO_ID,
    };
    const reservation = { host: '', needs: needsOf(fresh.type, fresh.properties) };
    const choice = await this.#lock.run('choose', async () => {
      const planned = this.#takePlanned(project.id, fresh.id);
      const chosen = planned ?? this.#required(await this.solve([fresh], [], project)).get(fresh.id)!;
      reservation.host = chosen.host;
      this.#reserved.add(reservation);
      return chosen;
    });
    try {
      const node = await create(computes.get(choice.host), { ...given, compute_id: choice.host });
      await this.keep(project, new Map([[node.id, choice]]));
      return node;
    } finally {
      this.#reserved.delete(reservation);
    }
  }

  #takePlanned(projectId: string, nodeId: string): Choice | undefined {
    const planned = this.#planned.get(projectId);
    const choice = planned?.get(nodeId);
    planned?.delete(nodeId);
    const host = this.#options.computes.list().find(({ id }) => id === choice?.host);
    return host?.connected && !host.draining ? choice : undefined;
  }

  /** Uses these choices for nodes with these ids that are created in the project later, until the next plan. */
  plan(project: Project, { choices }: Solution): void {
    this.#planned.set(project.id, new Map(choices));
  }

  /**
   * Chooses hosts for new nodes together with those of an existing lab.
   * @param links pairs of ids of nodes, new or existing
   * @param leaving existing nodes that are to leave their host
   */
  async solve(
    fresh: readonly NewNode[],
    links: Problem['links'],
    project?: Project,
    leaving: ReadonlySet<Node> = new Set(),
  ): Promise<Solution> {
    const problem = (): Promise<Solution> => this.#solveOnce(fresh, links, project, leaving);
    const solution = await problem();
    if (solution.unplaceable.length === 0) return solution;
    // Something may have changed since the hosts were asked, such as an image that was uploaded.
    this.#facts.refresh();
    return problem();
  }

  async #solveOnce(
    fresh: readonly NewNode[],
    links: Problem['links'],
    project: Project | undefined,
    leaving: ReadonlySet<Node>,
  ): Promise<Solution> {
    const { computes } = this.#options;
    const present = project?.isOpen ? [...project.nodes.values()] : [];
    const linked = (node: Node): ReadonlySet<number> => {
      const ends = project?.linksOf(node).flatMap((link) => link.ends) ?? [];
      return new Set(ends.flatMap((end) => (end.node === node ? [end.port.port_number] : [])));
    };
    const nodes: PlacedNode[] = [
      ...present.map((node) => ({
        id: node.id,
        name: node.name,
        kind: node.type,
        ...needsOf(node.type, node.record.properties, nodeKind(node.type).leadsOut && linked(node)),
        ...(!leaving.has(node) && { pinned: node.compute.id, settled: true }),
      })),
      ...fresh.map(({ id, name, type, properties, compute }) => ({
        id,
        name,
        kind: type,
        ...needsOf(type, properties),
        pinned: computes.isAuto(compute) ? undefined : compute,
      })),
    ];
    const hosts = await this.#facts.hosts(nodes, this.#committed());
    // Without a host that has KVM all machines run without it.
    const hasKvm = hosts.some(({ kvm }) => kvm);
    const own = project
      ? [...project.links.values()].map(({ ends }) => [ends[0]!.node.id, ends[1]!.node.id] as const)
      : [];
    return place({
      hosts,
      nodes: nodes.map((node) => ({ ...node, kvm: node.kvm && hasKvm })),
      links: [...own, ...links],
      sendable: hosts.find(({ id }) => id === 'local')?.images ?? new Set(),
    });
  }

  /** Needs of the nodes of open labs: running ones use their memory already. */
  #committed(): Map<string, { memory: number; load: number }> {
    const all = new Map<string, { memory: number; load: number }>();
    const add = (host: string, { memory, load }: { memory: number; load: number }): void => {
      const sum = all.get(host) ?? { memory: 0, load: 0 };
      all.set(host, { memory: sum.memory + memory, load: sum.load + load });
    };
    for (const project of this.#options.projects.list()) {
      for (const node of project.nodes.values()) {
        const { memory, load } = needsOf(node.type, node.record.properties);
        add(node.compute.id, { memory: node.status === 'started' ? 0 : memory, load });
      }
    }
    for (const { host, needs } of this.#reserved) add(host, needs);
    return all;
  }

  #required({ choices, unplaceable }: Solution): Solution['choices'] {
    if (unplaceable.length > 0) throw conflict(`compute_id: ${missingInWords(unplaceable)}`);
    return choices;
  }

  /** Replaces `auto` by hosts. @throws Failure `conflict` if no host can run a node */
  async resolved<One extends { compute_id: string; node_id?: string | undefined; node_type: string; name: string }>(
    nodes: readonly (One & { properties?: object | undefined })[],
    links: Problem['links'],
  ): Promise<{ nodes: One[]; choices: Solution['choices'] }> {
    const { computes } = this.#options;
    if (!nodes.some(({ compute_id: id }) => computes.isAuto(id))) return { nodes: [...nodes], choices: new Map() };
    const fresh = nodes.map(({ node_id: id, name, node_type: type, properties, compute_id: compute }) => {
      return { id: id ?? '', name, type, properties: (properties ?? {}) as Record<string, unknown>, compute };
    });
    const choices = this.#required(await this.solve(fresh, links));
    const hosted = nodes.map((node) => ({
      ...node,
      compute_id: choices.get(node.node_id ?? '')?.host ?? node.compute_id,
    }));
    const chosen = nodes.filter(({ compute_id: id }) => computes.isAuto(id)).map(({ node_id: id }) => id ?? '');
    return { nodes: hosted, choices: new Map([...choices].filter(([id]) => chosen.includes(id))) };
  }

  /** Keeps the reasons for nodes of a lab. Never rejects: the nodes are where they are. */
  async keep(project: Pick<Project, 'id' | 'nodes' | 'isOpen'>, choices: Solution['choices']): Promise<void> {
    if (choices.size === 0) return;
    const all = new Map([...(this.#reasons.get(project.id) ?? []), ...choices]);
    if (project.isOpen) for (const id of all.keys()) if (!project.nodes.has(id)) all.delete(id);
    this.#reasons.set(project.id, all);
    await this.#lock.run(project.id, async () => {
      const latest = this.#reasons.get(project.id);
      // A later call has more to write, and writes it.
      if (latest !== all) return;
      await this.#options.documents.put('placements', project.id, Object.fromEntries(all)).catch((error: unknown) => {
        log.warn('placement: reasons are not kept', { project: project.id, reason: messageOf(error) });
      });
    });
  }

  /** Where the nodes of a lab are, and why. */
  async of(project: Project): Promise<PlacementObject> {
    const { projects, computes } = this.#options;
    const nodes = project.isOpen
      ? [...project.nodes.values()].map(({ record }) => record)
      : await projects.stored(project, 'nodes');
    const links = project.isOpen
      ? [...project.links.values()].map(({ ends }) => ends.map(({ node }) => node.id))
      : (await projects.stored(project, 'links')).map((link) => link.nodes.map(({ node_id: id }) => id));
    const reasons = this.#reasons.get(project.id);
    const at = new Map(nodes.map(({ node_id: id, compute_id: host }) => [id, host]));
    return placementObject(computes, {
      nodes: nodes.map(({ node_id: id, name, compute_id: host }) => {
        const kept = reasons?.get(id);
        return { node_id: id, name, compute_id: host, reason: kept?.host === host ? kept.reason : NAMED };
      }),
      links: links.length,
      crossing_links: links.filter(([one, other]) => at.get(one!) !== at.get(other!)).length,
    });
  }

  async forget(projectId: string): Promise<void> {
    this.#planned.delete(projectId);
    if (this.#reasons.delete(projectId)) await this.#options.documents.delete('placements', projectId);
  }

  /** The object for nodes that are not in a lab yet. @throws Failure `conflict` as `create` */
  planned(fresh: readonly NewNode[], links: Problem['links'], solution: Solution): PlacementObject {
    const choices = this.#required(solution);
    return placementObject(this.#options.computes, {
      nodes: fresh.map(({ id, name }) => {
        const { host, reason } = choices.get(id)!;
        return { node_id: id, name, compute_id: host, reason };
      }),
      links: links.length,
      crossing_links: solution.crossing,
    });
  }
}

function placementObject(computes: Computes, found: Omit<PlacementObject, 'hosts'>): PlacementObject {
  const hosts = computes.list().map(({ id, name }) => {
    return { compute_id: id, name, nodes: found.nodes.filter(({ compute_id: host }) => host === id).length };
  });
  const { nodes, links, crossing_links } = found;
  return { nodes, hosts, links, crossing_links };
}

/** One sentence for each node that no host can run. */
export function missingInWords(unplaceable: readonly Unplaceable[]): string {
  const more = unplaceable.length > MOST_NAMED ? ` ${unplaceable.length - MOST_NAMED} more nodes have no host.` : '';
  return unplaceable
    .slice(0, MOST_NAMED)
    .map(({ name, missing }) => {
      const hosts = missing.slice(0, MOST_NAMED).map(({ name: host, reason }) => `${host}: ${reason}`);
      const others = missing.length > MOST_NAMED ? `; and ${missing.length - MOST_NAMED} more` : '';
      return `no host can run ${name} (${hosts.join('; ')}${others}).`;
    })
    .join(' ')
    .concat(more);
}
