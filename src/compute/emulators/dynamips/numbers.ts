// Which router of a project has which number: the emulator names its files and makes addresses by it.
import type { NodeProject } from '../../nodes/owner.ts';
import { refusal } from './platforms.ts';

const LOWEST = 1;
const HIGHEST = 4096;

/** From a project to the numbers that are taken; a project that is gone takes its entry along. */
const taken = new WeakMap<NodeProject, Set<number>>();

/**
 * The wanted number, or the lowest that is free and that no router has which is still to `come` again; the router's until
 * `releaseNumber`.
 * @throws Failure `conflict` (`DynamipsError`) when another router has it, or none is left
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
