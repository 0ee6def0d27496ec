// Ends programs left running by the previous run that no node has reattached.
import { KINDS } from './emulators/registry.ts';
import type { IsOver } from './nodes/lifecycle/surviving-programs.ts';
import type { Services } from './services.ts';

/** Ends them for the given nodes: those of a closed project, or a single one. */
export async function endUnclaimed(services: Services, isOver: IsOver): Promise<void> {
  const { survivingPrograms, switchedOn, kindHosts } = services;
  await survivingPrograms.endUnclaimed(isOver);
  for (const kind of KINDS) await kind.endUnclaimed?.(services, isOver, kindHosts.get(kind.type));
  // After the kinds, which use its entries.
  await switchedOn.forgetUnclaimed(isOver);
}
