// Reports crashes of a fabric thread to the users of its labs and in the log.

import type { ComputeEvents } from '../api/events.ts';
import type { EventBus } from '../events/bus.ts';
import type { Fabric } from '../fabric/fabric.ts';
import { log } from '../host/log.ts';

/** The fabric's groups are the projects. */
export function tellOfCrashes(fabric: Fabric, events: EventBus<ComputeEvents>): void {
  const tell = (projects: readonly string[], message: string): void => {
    log.error(message, { projects: projects.join(',') });
    for (const project of projects) events.emit('log.error', { message }, project);
  };
  fabric.on('crashed', ({ reason }) => log.error('a thread of the fabric has crashed', { reason }));
  fabric.on('recovered', ({ reason, groups, milliseconds, failures }) => {
    const lost = failures.length === 0 ? '' : ` What could not be had again: ${failures.join('; ')}.`;
    const rebuilt = `its cables and devices were rebuilt within ${Math.ceil(milliseconds)} ms`;
    tell(
      groups,
      `The thread that moves the frames of this project has crashed (${reason}); ${rebuilt}. Frames of that time are lost.${lost}`,
    );
  });
  fabric.on('lost', ({ reason, groups }) =>
    tell(
      groups,
      `The thread that moves the frames of this project crashes again and again (${reason}) and was given up: no frame ` +
        'moves any more. Close and open the project to have it built on a new thread.',
    ),
  );
}
