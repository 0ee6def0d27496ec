// Assigns VMware networks to nodes, one per adapter.
import type { Services } from '../../services.ts';
import { KEPT } from './kept.ts';
import { allocateVmnet, freeVmnet } from './machines.ts';

export class Networks {
  readonly #services: Services;
  /** From a network to the node that has it. */
  readonly #given = new Map<string, string>();

  constructor(services: Services) {
    this.#services = services;
  }

  /** The networks of a node. */
  of(nodeId: string): Set<string> {
    return new Set([...this.#given].flatMap(([vmnet, node]) => (node === nodeId ? [vmnet] : [])));
  }

  has(vmnet: string): boolean {
    return this.#given.has(vmnet);
  }

  /** Assigns a node the networks that it had in the previous run of this process. */
  keep(nodeId: string, vmnets: readonly string[]): void {
    for (const vmnet of vmnets) this.#given.set(vmnet, nodeId);
  }

  /** Assigns an unused one. @throws Failure `conflict` (`VMwareError`) */
  take(nodeId: string): string {
    const vmnet = freeVmnet(...this.#choice());
    this.#given.set(vmnet, nodeId);
    return vmnet;
  }

  /** Assigns one from VMware's own configuration; needs no machine. @throws Failure `conflict` (`VMwareError`) */
  async allocate(nodeId: string): Promise<string> {
    const vmnet = await allocateVmnet(...this.#choice());
    this.#given.set(vmnet, nodeId);
    return vmnet;
  }

  release(nodeId: string): void {
    for (const vmnet of this.of(nodeId)) this.#given.delete(vmnet);
  }

  /** Networks of all nodes, including those of machines left from the previous run, and the configured range. */
  #choice(): [used: Set<string>, first: number, last: number] {
    const { switchedOn, config } = this.#services;
    const toCome = switchedOn.left(KEPT, () => true).flatMap(({ data }) => data.networks);
    const { vmnet_start_range: first, vmnet_end_range: last } = config.VMware;
    return [new Set([...this.#given.keys(), ...toCome]), first, last];
  }
}
