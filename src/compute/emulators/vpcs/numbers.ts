// Which virtual PC of a project has which number: MAC addresses are made of it.
import type { NodeProject } from '../../nodes/owner.ts';
import { chooseMacByte } from './command.ts';

const BYTES = 256;

/** From a project to its PCs' numbers by node identifier; a project that is gone takes its entry along. */
const used = new WeakMap<NodeProject, Map<string, number>>();

/**
 * The number of one more PC, which keeps it until `releaseNumber`; `former` if it had one in a former life of this process, else none
 * of those that are still to `come` from there. No two are the same, and their last bytes, which is all that VPCS
 * makes its addresses of, are the same as seldom as possible.
 */
export function reserveNumber(
  project: NodeProject,
  nodeId: string,
  former: number | undefined,
  come: Iterable<number>,
): number {
  const numbers = used.get(project) ?? new Map<string, number>();
  used.set(project, numbers);
  const taken = new Set([...numbers.values(), ...come]);
  let number = former ?? chooseMacByte(taken);
  while (taken.has(number)) number += BYTES;
  numbers.set(nodeId, number);
  return number;
}

export function releaseNumber(project: NodeProject, nodeId: string): void {
  used.get(project)?.delete(nodeId);
}
