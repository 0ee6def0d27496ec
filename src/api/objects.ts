// The objects in responses and events. Members that are used on one floor only are left out.
import type { Port } from './kinds/port.ts';

export interface ProjectObject {
  project_id: string;
  name: string;
  status: 'opened' | 'closed';
  auto_close: boolean;
  auto_open: boolean;
  auto_start: boolean;
  scene_width: number;
  scene_height: number;
  /** Pixels between the lines that nodes, and drawings, snap to. */
  grid_size: number;
  drawing_grid_size: number;
  show_grid: boolean;
  snap_to_grid: boolean;
  show_layers: boolean;
  show_interface_labels: boolean;
  /** Why the project cannot be read; beyond the release. */
  damaged?: string | null;
}

export type PortObject = Port;

export interface NodeObject {
  node_id: string;
  project_id: string;
  name: string;
  node_type: string;
  status: 'started' | 'stopped' | 'suspended';
  /** Why QEMU has halted it, with the fix; absent otherwise. */
  halt_reason?: string;
  /** Set while the node's host is unreachable. */
  lost_reason?: string;
  console: number | null;
  console_host: string | null;
  console_type: string | null;
  compute_id: string;
  symbol: string;
  width: number;
  height: number;
  x: number;
  y: number;
  z: number;
  locked: boolean;
  label: LabelObject;
  ports: readonly PortObject[];
  properties: Readonly<Record<string, unknown>>;
  node_directory: string | null;
  command_line: string | null;
}

/** A text beside a node, at a place counted from the node's; without `x` in its middle. */
export interface LabelObject {
  text: string;
  x?: number | null | undefined;
  y?: number | null | undefined;
  rotation?: number | undefined;
  style?: string | null | undefined;
}

export interface LinkEnd {
  node_id: string;
  adapter_number: number;
  port_number: number;
  label?: LabelObject;
}

export interface LinkObject {
  link_id: string;
  project_id: string;
  /** None until it is wired, then two. */
  nodes: LinkEnd[];
  suspend: boolean;
  capturing: boolean;
  /** The host that captures it. */
  capture_compute_id: string | null;
  filters: Record<string, unknown>;
  link_style: Record<string, unknown>;
  /** Beyond the release; absent without any. */
  impairments?: Directions;
}

export interface Directions {
  forward: object;
  backward: object;
}

export interface DrawingObject {
  drawing_id: string;
  project_id: string;
  x: number;
  y: number;
  z: number;
  rotation: number;
  locked: boolean;
  svg: string;
}

/** A compute in the controller's responses, without its password. */
export interface ComputeObject {
  compute_id: string;
  name: string;
  protocol: 'http' | 'https';
  host: string;
  port: number;
  user: string | null;
  connected: boolean;
  cpu_usage_percent: number | null;
  memory_usage_percent: number | null;
  capabilities: { version: string | null; node_types: readonly string[]; platform?: string };
  last_error: string | null;
  /** It takes no new nodes; beyond the release. */
  draining?: true;
}

export interface TemplateObject {
  readonly template_id: string;
  readonly template_type: string;
  readonly name: string;
  readonly category: string;
  readonly builtin: boolean;
  readonly compute_id: string | null;
  readonly symbol: string;
  /** Of QEMU and of routers. */
  readonly platform?: string;
}

export interface SnapshotObject {
  snapshot_id: string;
  project_id: string;
  name: string;
  /** Seconds since 1970. */
  created_at: number;
}

/** A node as its compute describes it; the other members are the settings of its kind. */
export interface ComputeNode {
  name: string;
  node_id: string;
  project_id: string;
  status: NodeObject['status'];
}

/** Long work that clients can watch and cancel. */
export interface OperationObject {
  operation_id: string;
  /** `open`, `import`, `export`, `duplicate`, `snapshot`, `restore`, `idlepc`, `upload` or `pull`. */
  kind: string;
  /** The name of the project, snapshot, file or image that it works on. */
  name: string;
  project_id: string | null;
  done: number;
  /** Null while it is not known. */
  total: number | null;
  unit: 'bytes' | 'nodes' | null;
  state: 'running' | 'cancelling' | 'done' | 'failed' | 'cancelled';
  /** Whether it still can be cancelled. */
  cancellable: boolean;
  /** The present step, or the reason of a failure. */
  message: string;
}

/** A file of a project's directory that was added, changed or removed. */
export interface FileObject {
  project_id: string;
  /** Relative to the project's directory, with `/` between its parts. */
  path: string;
  /** Bytes; null when the file is gone. */
  size: number | null;
  /** Seconds since 1970, with fraction; null when the file is gone. */
  mtime: number | null;
}

/** What uses an image. */
export interface ImageUser {
  kind: 'node' | 'template';
  name: string;
  /** Set for a node. */
  project_id?: string;
  project_name?: string;
}

/** An image of a compute, with its users. */
export interface ImageObject {
  emulator: string;
  filename: string;
  path: string;
  md5sum: string;
  filesize: number;
  used_by: ImageUser[];
  /** Ids of the connected hosts with exactly this image; only in the list of `auto`. */
  computes?: string[];
}

/** A line of the audit trail: one change. Never contains secrets or the body of a request. */
export interface AuditLine {
  /** ISO 8601, UTC. */
  time: string;
  /** Name of the account; for a command on the host, the system's user. */
  account: string;
  /** Name of the token, if one was used. */
  token?: string;
  /** The client's address; `this host` for a command. */
  address: string;
  /** Method and pattern of the route, or the command. */
  action: string;
  /** The affected objects: ids and names. */
  objects: Readonly<Record<string, string>>;
  /** Status of the answer; 0 for a command that succeeded. */
  status: number;
  /** Id of the request, as in the log. */
  request?: string;
  /** The number of refused requests of the account in this line, which shows the last of them. */
  refused?: number;
  /** In answers: the number of preceding lines that a disk error lost; the line has no other content. */
  lost?: number;
}
