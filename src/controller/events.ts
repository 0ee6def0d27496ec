// What the controller announces: to everybody, and to the listeners of one project. Payloads are the objects that routes answer with.
import type { ControllerEvents, ProjectEvents } from '../api/events.ts';
import { EventBus } from '../events/bus.ts';

/** The two buses of the controller. */
export interface Announcer {
  readonly controller: EventBus<ControllerEvents>;
  readonly project: EventBus<ProjectEvents>;
}

/** Nobody is told any more what has happened in a project: it is gone, or another one comes under its identifier. */
export function forgetEvents({ controller, project }: Announcer, projectId: string): void {
  controller.forget(({ event }) => 'project_id' in event && event.project_id === projectId);
  project.forget((message) => message.projectId === projectId);
}

export function createAnnouncer(): Announcer {
  return { controller: new EventBus(), project: new EventBus() };
}
