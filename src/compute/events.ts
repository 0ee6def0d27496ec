// What a compute tells its controllers (as in release 2.2.57) and, beyond the release, what happens to files.

/** A file of a project's directory that somebody added, changed or removed. */
export interface FileEvent {
  project_id: string;
  /** Relative to the project's directory, with `/` between its parts. */
  path: string;
  /** Bytes; null when the file is gone. */
  size: number | null;
  /** Seconds since 1970, with fraction; null when the file is gone. */
  mtime: number | null;
}

export interface ComputeEvents extends Record<string, object> {
  'node.updated': object;
  'node.deleted': object;
  'log.info': { message: string };
  'log.warning': { message: string };
  'log.error': { message: string };
  /** Told in passing, to those who asked. */
  'operation.started': object;
  'operation.progress': object;
  'operation.ended': object;
  'file.created': FileEvent;
  'file.updated': FileEvent;
  'file.deleted': FileEvent;
}
