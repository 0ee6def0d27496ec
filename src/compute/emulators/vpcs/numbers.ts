// The numbers of the virtual PCs in a project: MAC addresses are derived from them.
import { freeMacNumber } from '../../../pc/mac.ts';
import type { NodeProject } from '../../nodes/owner.ts';

export class PcNumbers {
  /** By project and node identifier; a deleted project takes its entry along. */
  readonly #used = new WeakMap<NodeProject, Map<string, number>>();

  /**
   * Reserves a number for a new PC until `release`: `former` if it had one in the previous run of this process,
   * otherwise none of the PCs that are still to `come`.
   */
  reserve(project: NodeProject, nodeId: string, former: number | undefined, come: Iterable<number>): number {
    const number = former ?? freeMacNumber([...(this.#used.get(project)?.values() ?? []), ...come]);
    this.note(project, nodeId, number);
    return number;
  }

  /** Records a number chosen by the controller, which also knows the PCs of other hosts. */
  note(project: NodeProject, nodeId: string, number: number): void {
    const numbers = this.#used.get(project) ?? new Map<string, number>();
    this.#used.set(project, numbers.set(nodeId, number));
  }

  release(project: NodeProject, nodeId: string): void {
    this.#used.get(project)?.delete(nodeId);
  }
}
