// Finds the registered computes that a topology refers to.
import type { Topology, TopologyCompute } from '../../api/topology.ts';
import type { Compute } from './compute.ts';
import type { Computes } from './computes.ts';

function find(computes: Computes, id: string): Compute | undefined {
  return computes.list().find((compute) => compute.id === id);
}

/** A compute's entry in topology files; undefined for an unknown id. */
export function describeCompute(computes: Computes, id: string): TopologyCompute | undefined {
  const compute = find(computes, id);
  if (compute === undefined) return undefined;
  const { compute_id, name, protocol, host, port } = compute.description;
  return { compute_id, name, protocol, host, port };
}

/** The computes of a topology's nodes except the one of this process, by id. */
export function computesOf(computes: Computes, { topology }: Topology): Map<string, Compute> {
  const found = new Map<string, Compute>();
  for (const { compute_id: id } of topology.nodes) {
    const compute = id === 'local' ? undefined : find(computes, id);
    if (compute !== undefined) found.set(id, compute);
  }
  return found;
}
