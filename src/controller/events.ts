// What the controller announces: to everybody, and to the listeners of one project. Payloads are the objects that routes answer with.
import { EventBus } from '../events/bus.ts';

/** Controller-wide events (as in release 2.2.57). */
export interface ControllerEvents extends Record<string, object> {
  'compute.created': object;
  'compute.updated': object;
  'compute.deleted': object;
  'project.created': object;
  'project.updated': object;
  'project.opened': object;
  'project.closed': object;
  'project.deleted': object;
  'template.created': object;
  'template.updated': object;
  'template.deleted': object;
  'log.warning': { message: string };
  /** Told in passing, to those who asked. */
  'operation.started': object;
  'operation.progress': object;
  'operation.ended': object;
}

/** Events of one project, and whatever else its computes tell. */
export interface ProjectEvents extends Record<string, object> {
  'node.created': object;
  'node.updated': object;
  'node.deleted': object;
  'link.created': object;
  'link.updated': object;
  'link.deleted': object;
  'drawing.created': object;
  'drawing.updated': object;
  'drawing.deleted': object;
  'snapshot.restored': object;
  'log.error': { message: string };
  'log.warning': { message: string };
  'log.info': { message: string };
}

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
