// The numbers of the virtual PCs in a project: MAC addresses are derived from them.
import { freeMacNumber } from '../../../pc/mac.ts';
import type { NodeProject } from '../../nodes/owner.ts';

/** Numbers by project and node identifier; a deleted project takes its entry along. */
const used = new WeakMap<NodeProject, Map<string, number>>();

/**
 * Reserves a number for a new PC until `releaseNumber`: `former` if it had one in the previous run of this process,
 * otherwise none of the PCs that are still to `come`.
 */
export function reserveNumber(
  project: NodeProject,
  nodeId: string,
  former: number | undefined,
  come: Iterable<number>,
): number {
  const taken = [...(used.get(project)?.values() ?? []), ...come];
  const number = former ?? freeMacNumber(taken);
  noteNumber(project, nodeId, number);
  return number;
}

/** Records a number chosen by the controller, which also knows the PCs of other hosts. */
export function noteNumber(project: NodeProject, nodeId: string, number: number): void {
  const numbers = used.get(project) ?? new Map<string, number>();
  used.set(project, numbers);
  numbers.set(nodeId, number);
}

export function releaseNumber(project: NodeProject, nodeId: string): void {
  used.get(project)?.delete(nodeId);
}
