// The controller's events, for all clients and for listeners of one project. Payloads are the objects that routes return.
import type { ControllerEvents, ProjectEvents } from '../api/events.ts';
import { EventBus } from '../events/bus.ts';

/** How long (ms) without an event until a stream sends a ping. */
export const SILENCE_MS = 5_000;

/** The two buses of the controller. */
export interface Announcer {
  readonly controller: EventBus<ControllerEvents>;
  readonly project: EventBus<ProjectEvents>;
  /** Called for a project whose past events are dropped. */
  forgotten?: (projectId: string) => void;
}

/** Drops past events of a project that is deleted, or replaced by another one with its id. */
export function forgetEvents({ controller, project, forgotten }: Announcer, projectId: string): void {
  forgotten?.(projectId);
  controller.forget(({ event }) => 'project_id' in event && event.project_id === projectId);
  project.forget((message) => message.projectId === projectId);
}

export function createAnnouncer(): Announcer {
  return { controller: new EventBus(), project: new EventBus() };
}
