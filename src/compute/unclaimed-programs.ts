// Ends programs left running by the previous run that no node has reattached, and removes interfaces that it has left.

import { isBridgePair, isTunnel } from '../host/network/interfaces.ts';
import { links, removeLink } from '../host/network/kernel-interfaces.ts';
import { inNetworkOf } from '../host/system-calls.ts';
import { KINDS } from './emulators/registry.ts';
import type { IsOver } from './nodes/lifecycle/surviving-programs.ts';
import type { Services } from './services.ts';
import { hasPair } from './uplinks/opening.ts';

/** Ends them for the given nodes: those of a closed project, or a single one. */
export async function endUnclaimed(services: Services, isOver: IsOver): Promise<void> {
  const { survivingPrograms, switchedOn, kindHosts } = services;
  await survivingPrograms.endUnclaimed(isOver);
  for (const kind of KINDS) await kind.endUnclaimed?.(services, isOver, kindHosts.get(kind.type));
  await removeUnclaimedInterfaces(services, isOver);
  // After the kinds, which use its entries.
  await switchedOn.forgetUnclaimed(isOver);
}

/** Pairs at bridges, and interfaces of links to other hosts. */
async function removeUnclaimedInterfaces({ nodeNetwork, vxlanLinks }: Services, isOver: IsOver): Promise<void> {
  const keeper = nodeNetwork.find('lo');
  if (keeper === undefined) return;
  const removals: Promise<void>[] = [];
  for (const { name, alias, leadsElsewhere } of inNetworkOf(keeper, links)) {
    const [projectId = '', nodeId = ''] = alias.split(' ');
    if (!isOver(projectId, nodeId)) continue;
    if (leadsElsewhere && isBridgePair(name) && !hasPair(name)) inNetworkOf(keeper, () => removeLink(name));
    if (isTunnel(name) && !vxlanLinks.has(name)) removals.push(vxlanLinks.remove(name));
  }
  await Promise.all(removals);
}
