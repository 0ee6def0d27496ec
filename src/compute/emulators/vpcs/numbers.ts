// Which virtual PC of a project has which number: MAC addresses are made of it.
import { freeMacNumber } from '../../../pc/mac.ts';
import type { NodeProject } from '../../nodes/owner.ts';

/** From a project to its PCs' numbers by node identifier; a project that is gone takes its entry along. */
const used = new WeakMap<NodeProject, Map<string, number>>();

/**
 * The number of one more PC, which keeps it until `releaseNumber`; `former` if it had one in a former life of this process, else none
 * of those that are still to `come` from there.
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

/** A controller, which knows the PCs of other hosts as well, has chosen the number. */
export function noteNumber(project: NodeProject, nodeId: string, number: number): void {
  const numbers = used.get(project) ?? new Map<string, number>();
  used.set(project, numbers);
  numbers.set(nodeId, number);
}

export function releaseNumber(project: NodeProject, nodeId: string): void {
  used.get(project)?.delete(nodeId);
}
