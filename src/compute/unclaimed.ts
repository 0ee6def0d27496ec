// What a former life of the server has left running, and nobody has taken back.
import { KINDS } from './emulators/registry.ts';
import type { IsOver } from './nodes/lifecycle/surviving-programs.ts';
import type { Services } from './services.ts';

/** Ends it for the nodes that are over: those of a closed project, or a single one. */
export async function endUnclaimed(services: Services, isOver: IsOver): Promise<void> {
  const { survivingPrograms, switchedOn } = services;
  await survivingPrograms.endUnclaimed(isOver);
  for (const kind of KINDS) await kind.endUnclaimed?.(services, isOver);
  // After the kinds, which end what it tells of.
  await switchedOn.forgetUnclaimed(isOver);
}
