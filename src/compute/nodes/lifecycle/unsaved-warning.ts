// Reports that a router's configuration could not be saved.
import { messageOf } from '../../../failures.ts';
import type { Services } from '../../services.ts';
import type { PortOwner } from '../owner.ts';

/** Waits for the save; its failure becomes a warning. */
export async function warnOfUnsaved(
  { name, project }: Pick<PortOwner, 'name' | 'project'>,
  { events }: Services,
  save: Promise<void>,
): Promise<void> {
  await save.catch((error: unknown) => {
    const message = `The configuration of ${name} could not be saved: ${messageOf(error)}`;
    events.emit('log.warning', { message }, project.id);
  });
}
