// Assigns VMware networks to nodes, one per adapter.
import type { Services } from '../../services.ts';
import { KEPT } from './kept.ts';
import { allocateVmnet, freeVmnet } from './machines.ts';

const given = new WeakMap<Services, Map<string, string>>();

function of(services: Services): Map<string, string> {
  const known = given.get(services) ?? new Map<string, string>();
  given.set(services, known);
  return known;
}

/** The networks of a node. */
export function networksOf(services: Services, nodeId: string): Set<string> {
  return new Set([...of(services)].flatMap(([vmnet, node]) => (node === nodeId ? [vmnet] : [])));
}

export const isGiven = (services: Services, vmnet: string): boolean => of(services).has(vmnet);

/** Networks of all nodes, including those not yet created again whose machines are left from the previous run. */
function used(services: Services): Set<string> {
  const toCome = services.switchedOn.left(KEPT, () => true).flatMap(({ data }) => data.networks);
  return new Set([...of(services).keys(), ...toCome]);
}

/** Assigns a node the networks that it had in the previous run of this process. */
export function keepNetworks(services: Services, nodeId: string, vmnets: readonly string[]): void {
  for (const vmnet of vmnets) of(services).set(vmnet, nodeId);
}

/** Assigns an unused one. @throws Failure `conflict` (`VMwareError`) */
export function takeNetwork(services: Services, nodeId: string): string {
  const { vmnet_start_range: first, vmnet_end_range: last } = services.config.VMware;
  const vmnet = freeVmnet(used(services), first, last);
  of(services).set(vmnet, nodeId);
  return vmnet;
}

/** Assigns one from VMware's own configuration; needs no machine. @throws Failure `conflict` (`VMwareError`) */
export async function allocateNetwork(services: Services, nodeId: string): Promise<string> {
  const { vmnet_start_range: first, vmnet_end_range: last } = services.config.VMware;
  const vmnet = await allocateVmnet(used(services), first, last);
  of(services).set(vmnet, nodeId);
  return vmnet;
}

export function releaseNetworks(services: Services, nodeId: string): void {
  for (const vmnet of networksOf(services, nodeId)) of(services).delete(vmnet);
}
