// What a former life of the server has left running, and nobody has taken back.
import { KINDS } from './emulators/registry.ts';
import type { Services } from './services.ts';

/** Ends it in the projects that are over. */
export async function endUnclaimed(services: Services, isOver: (projectId: string) => boolean): Promise<void> {
  const { survivingPrograms, switchedOn } = services;
  await survivingPrograms.endUnclaimed(isOver);
  for (const kind of KINDS) await kind.endUnclaimed?.(services, isOver);
  // After the kinds, which end what it tells of.
  await switchedOn.forgetUnclaimed(isOver);
}
