// The numbers of routers in a project: the emulator derives file names and addresses from them.
import type { NodeProject } from '../../nodes/owner.ts';
import { refusal } from './platforms.ts';

const LOWEST = 1;
const HIGHEST = 4096;

/** Numbers in use by project; a deleted project takes its entry along. */
const taken = new WeakMap<NodeProject, Set<number>>();

/**
 * Reserves the wanted number, or the lowest one that is free and not needed by a router that is still to `come`, until
 * `releaseNumber`.
 * @throws Failure `conflict` (`DynamipsError`) if another router has it, or none is left
 */
export function reserveNumber(project: NodeProject, wanted: number | null | undefined, come: Iterable<number>): number {
  const numbers = taken.get(project) ?? new Set<number>();
  taken.set(project, numbers);
  const number = wanted ? wanted : lowestFree(new Set([...numbers, ...come]));
  if (number < LOWEST || number > HIGHEST) {
    throw refusal(`dynamips_id: ${number} is not from ${LOWEST} to ${HIGHEST}; leave it out for the lowest free one.`);
  }
  if (numbers.has(number)) {
    throw refusal(`dynamips_id: another router of this project has ${number}; leave it out for the lowest free one.`);
  }
  numbers.add(number);
  return number;
}

export function releaseNumber(project: NodeProject, number: number): void {
  taken.get(project)?.delete(number);
}

function lowestFree(used: ReadonlySet<number>): number {
  let number = LOWEST;
  while (used.has(number)) number += 1;
  return number;
}
