// The server's events: for each bus a map from action to payload, and how many of them are kept.
import type {
  ComputeNode,
  ComputeObject,
  ControllerOperation,
  DrawingObject,
  FileObject,
  LinkObject,
  NodeObject,
  OperationObject,
  ProjectObject,
  SnapshotObject,
  TemplateObject,
} from './objects.ts';

/** Events of a bus kept for returning listeners: enough for some minutes of a busy lab. */
export const KEPT_EVENTS = 4_096;

/** Characters of a bus's kept events together: pictures of drawings may have megabytes. */
export const KEPT_CHARACTERS = 32 * 1024 * 1024;

/** A sentence for the users of a lab. */
interface LogEvent {
  message: string;
}

interface LogEvents {
  'log.info': LogEvent;
  'log.warning': LogEvent;
  'log.error': LogEvent;
}

/** Transient, for listeners that asked for progress. */
interface OperationEvents<Operation extends OperationObject = OperationObject> {
  'operation.started': Operation;
  'operation.progress': Operation;
  'operation.ended': Operation;
}

/** A compute's events for its controllers (as in release 2.2.57), and those for files and operations, which are not in the release. */
export interface ComputeEvents extends LogEvents, OperationEvents {
  'node.updated': ComputeNode;
  'node.deleted': ComputeNode;
  'file.created': FileObject;
  'file.updated': FileObject;
  'file.deleted': FileObject;
}

/** Controller-wide events (as in release 2.2.57). */
export interface ControllerEvents extends OperationEvents<ControllerOperation> {
  'compute.created': ComputeObject;
  'compute.updated': ComputeObject;
  'compute.deleted': ComputeObject;
  'project.created': ProjectObject;
  'project.updated': ProjectObject;
  'project.opened': ProjectObject;
  'project.closed': ProjectObject;
  'project.deleted': ProjectObject;
  'template.created': TemplateObject;
  'template.updated': TemplateObject;
  'template.deleted': TemplateObject;
  'log.warning': LogEvent;
}

/** Events of one project. A drawing whose picture has not changed is announced without it. */
export interface ProjectEvents extends LogEvents {
  'node.created': NodeObject;
  'node.updated': NodeObject;
  'node.deleted': NodeObject;
  'link.created': LinkObject;
  'link.updated': LinkObject;
  'link.deleted': LinkObject;
  'drawing.created': DrawingObject;
  'drawing.updated': Omit<DrawingObject, 'svg'> & Partial<Pick<DrawingObject, 'svg'>>;
  'drawing.deleted': DrawingObject;
  'snapshot.restored': SnapshotObject;
  /** Of the notes; all other files are announced by the computes. */
  'file.updated': FileObject;
}

export type ActionOf<Events> = keyof Events & string;

/** The messages for a map of events, as a union by action. */
export type MessageOf<Events> = {
  [Action in ActionOf<Events>]: { action: Action; event: Events[Action] };
}[ActionOf<Events>];

/** A message of any compute, passed unchanged to the listeners of its project. */
export interface Relayed {
  readonly action: string;
  readonly event: Readonly<Record<string, unknown>>;
  readonly project_id?: string;
}
