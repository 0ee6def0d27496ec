// The hosts of the cluster as its controller sees them.
import type { HeldLease } from '../../api/leases.ts';
import type { ClusterHost, ClusterObject } from '../../api/objects.ts';
import type { Compute } from '../computes/compute.ts';
import type { Computes } from '../computes/computes.ts';
import type { Projects } from '../projects/projects.ts';
import type { Checkpoints } from './checkpoints.ts';

export class ClusterHosts {
  readonly #computes: Computes;
  readonly #projects: Projects;
  readonly #checkpoints: Checkpoints;
  /** The last leases, and when they came, by compute. */
  readonly #leases = new Map<string, { lease: HeldLease; at: number }>();

  constructor(options: { computes: Computes; projects: Projects; checkpoints: Checkpoints }) {
    this.#computes = options.computes;
    this.#projects = options.projects;
    this.#checkpoints = options.checkpoints;
  }

  held(computeId: string, lease: HeldLease): void {
    this.#leases.set(computeId, { lease, at: performance.now() });
  }

  /** @param sees whether the client may know of a lab; nodes of others are not counted */
  json(name: string | null, sees: (projectId: string) => boolean): ClusterObject {
    const members = this.#computes.list().filter(({ place }) => place !== undefined);
    return { name, hosts: name === null ? [] : members.map((compute) => this.#host(compute, sees)) };
  }

  #host(compute: Compute, sees: (projectId: string) => boolean): ClusterHost {
    const { id, name, place } = compute;
    const { lease, at } = this.#leases.get(id) ?? {};
    const projects = this.#projects.list().filter(({ id, isOpen }) => isOpen && sees(id));
    const nodes = projects.flatMap((project) => project.nodesOn(compute));
    return {
      compute_id: id,
      name: place?.name ?? name,
      is_controller: id === 'local',
      lease_age_seconds: at === undefined ? null : Math.round((performance.now() - at) / 100) / 10,
      standby: lease?.standby ?? null,
      runs_nats: lease?.runsNats === true,
      nodes: nodes.length,
      running_nodes: nodes.filter(({ status, lost }) => status === 'started' && !lost).length,
      checkpoint: this.#checkpoints.lastOf(compute)?.toISOString() ?? null,
      frames: place?.address === place?.outsideAddress ? 'udp' : 'relay',
      outside_closed: lease?.isOutsideClosed === true,
    };
  }
}
