// Machines of other programs (VirtualBox, VMware): each is used by at most one node.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Failure } from '../../../failures.ts';
import type { NodeProject } from '../owner.ts';

/** Seconds to wait for another node that may be about to go: of the same project, and of another. */
const PATIENCE = { same: 5, other: 30 };

interface User {
  node: string;
  project: string;
}

export class MachineUsers {
  readonly #users = new Map<string, User>();

  /** Reserves a machine for a node. Throws `refusal` if another node keeps it. */
  async reserve(
    machine: string,
    { id, project }: { id: string; project: NodeProject },
    refusal: () => Failure,
  ): Promise<void> {
    for (let waited = 0; ; waited += 1) {
      const other = this.#users.get(machine);
      if (other === undefined || other.node === id) break;
      if (waited >= (other.project === project.id ? PATIENCE.same : PATIENCE.other)) throw refusal();
      await sleep(1000);
    }
    this.#users.set(machine, { node: id, project: project.id });
  }

  release(machine: string, nodeId: string): void {
    if (this.#users.get(machine)?.node === nodeId) this.#users.delete(machine);
  }

  releaseAll(nodeId: string): void {
    for (const machine of [...this.#users.keys()]) this.release(machine, nodeId);
  }
}
