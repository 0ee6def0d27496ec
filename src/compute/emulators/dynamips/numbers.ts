// The numbers of routers in a project: the emulator derives file names and addresses from them.
import type { NodeProject } from '../../nodes/owner.ts';
import { removeGhosts } from './ghosts.ts';
import { refusal } from './platforms.ts';

const LOWEST = 1;
const HIGHEST = 4096;

export class RouterNumbers {
  /** By project; a deleted project takes its entry along. */
  readonly #taken = new WeakMap<NodeProject, Set<number>>();

  /**
   * Reserves the wanted number, or the lowest one that is free and not needed by a router that is still to `come`, until
   * `leave`.
   * @throws Failure `conflict` (`DynamipsError`) if another router has it, or none is left
   */
  reserve(project: NodeProject, wanted: number | null | undefined, come: Iterable<number>): number {
    const numbers = this.#taken.get(project) ?? new Set<number>();
    this.#taken.set(project, numbers);
    const number = wanted ? wanted : lowestFree(new Set([...numbers, ...come]));
    if (number < LOWEST || number > HIGHEST) {
      throw refusal(
        `dynamips_id: ${number} is not from ${LOWEST} to ${HIGHEST}; leave it out for the lowest free one.`,
      );
    }
    if (numbers.has(number)) {
      throw refusal(`dynamips_id: another router of this project has ${number}; leave it out for the lowest free one.`);
    }
    numbers.add(number);
    return number;
  }

  /** Releases a number; the shared memory in the routers' directory is removed with the last one of the project. */
  async leave(project: NodeProject, number: number, directory: string): Promise<void> {
    const numbers = this.#taken.get(project);
    if (numbers?.delete(number) && numbers.size === 0) await removeGhosts(directory);
  }
}

function lowestFree(used: ReadonlySet<number>): number {
  let number = LOWEST;
  while (used.has(number)) number += 1;
  return number;
}
