// The objects in responses and events. Members that are used on one floor only are left out.
import * as v from 'valibot';
import type { Port } from './kinds/port.ts';
import { Standby } from './leases.ts';
import { Integer, type NodeStatus, named, Timestamp, Uuid } from './vocabulary.ts';

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
  status: NodeStatus;
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
  capture_compute_id: string | null;
  /** Of the running capture, or the last one. */
  capture_file_name: string | null;
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
export const ComputeObject = named('Compute', {
  compute_id: v.string(),
  name: v.string(),
  protocol: v.picklist(['http', 'https']),
  host: v.string(),
  port: Integer,
  user: v.nullable(v.string()),
  connected: v.boolean(),
  cpu_usage_percent: v.nullable(v.number()),
  memory_usage_percent: v.nullable(v.number()),
  capabilities: v.object({
    version: v.nullable(v.string()),
    node_types: v.pipe(v.array(v.string()), v.readonly()),
    platform: v.exactOptional(v.string()),
  }),
  last_error: v.nullable(v.string()),
  /** It takes no new nodes; beyond the release. */
  draining: v.exactOptional(v.literal(true)),
});
export type ComputeObject = v.InferOutput<typeof ComputeObject>;

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

export const SnapshotObject = named('Snapshot', {
  snapshot_id: Uuid,
  project_id: Uuid,
  name: v.string(),
  /** Seconds since 1970. */
  created_at: v.number(),
});
export type SnapshotObject = v.InferOutput<typeof SnapshotObject>;

/** A node as its compute describes it; the other members are the settings of its kind. */
export interface ComputeNode {
  name: string;
  node_id: string;
  project_id: string;
  status: NodeStatus;
}

/** Long work that clients can watch and cancel. */
export const OperationObject = named('Operation', {
  operation_id: Uuid,
  /** `open`, `import`, `export`, `duplicate`, `snapshot`, `restore`, `idlepc`, `upload` or `pull`. */
  kind: v.string(),
  /** The name of the project, snapshot, file or image that it works on. */
  name: v.string(),
  project_id: v.nullable(Uuid),
  done: Integer,
  /** Null while it is not known. */
  total: v.nullable(Integer),
  unit: v.nullable(v.picklist(['bytes', 'nodes'])),
  state: v.picklist(['running', 'cancelling', 'done', 'failed', 'cancelled']),
  /** Whether it still can be cancelled. */
  cancellable: v.boolean(),
  /** The present step, or the reason of a failure. */
  message: v.string(),
});
export type OperationObject = v.InferOutput<typeof OperationObject>;

/** As the controller answers it, for all its computes. */
export const ControllerOperation = named('ControllerOperation', {
  ...OperationObject.entries,
  compute_id: v.nullable(v.string()),
});
export type ControllerOperation = v.InferOutput<typeof ControllerOperation>;

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
  /** `snapshot`: one of its nodes uses the image. `deleted_node`: it can be restored. */
  kind: 'node' | 'template' | 'snapshot' | 'deleted_node';
  name: string;
  /** Missing for a template. */
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
export const AuditLine = named('AuditLine', {
  /** ISO 8601, UTC. */
  time: Timestamp,
  /** Name of the account; for a command on the host, the system's user. */
  account: v.string(),
  /** Name of the token, if one was used. */
  token: v.exactOptional(v.string()),
  /** The client's address; `this host` for a command. */
  address: v.string(),
  /** Method and pattern of the route, or the command. */
  action: v.string(),
  /** The affected objects: ids and names. */
  objects: v.pipe(v.record(v.string(), v.string()), v.readonly()),
  /** Status of the answer; 0 for a command that succeeded. */
  status: Integer,
  /** Id of the request, as in the log. */
  request: v.exactOptional(v.string()),
  /** The number of refused requests of the account in this line, which shows the last of them. */
  refused: v.exactOptional(Integer),
  /** In answers: the number of preceding lines that a disk error lost; the line has no other content. */
  lost: v.exactOptional(Integer),
});
export type AuditLine = v.InferOutput<typeof AuditLine>;

/** As in `/v2/statistics?nodes=`. */
export const NodeLoad = named('NodeLoad', {
  node_id: Uuid,
  /** Since the node's program started. */
  cpu_seconds: v.number(),
  memory_bytes: Integer,
});
export type NodeLoad = v.InferOutput<typeof NodeLoad>;

/** The load of this host, as a compute answers it. */
export const LoadObject = named('Load', {
  cpu_usage_percent: v.number(),
  memory_usage_percent: v.number(),
  disk_usage_percent: v.number(),
  swap_usage_percent: v.number(),
  memory_total: Integer,
  memory_free: Integer,
  memory_used: Integer,
  swap_total: Integer,
  swap_free: Integer,
  swap_used: Integer,
  /** Over the last 1, 5 and 15 minutes; 100 is as many runnable threads as processors. */
  load_average_percent: v.array(v.number()),
  /** Of the nodes of the requested project. */
  nodes: v.exactOptional(v.array(NodeLoad)),
});
export type LoadObject = v.InferOutput<typeof LoadObject>;

/** The load of a host, as in `/v2/statistics`. */
export const HostLoad = named('Statistics', {
  compute_id: v.string(),
  compute_name: v.string(),
  statistics: LoadObject,
});
export type HostLoad = v.InferOutput<typeof HostLoad>;

/** A node's host, whether it was chosen or named. */
export const PlacementObject = named('Placement', {
  nodes: v.array(v.object({ node_id: Uuid, name: v.string(), compute_id: v.string(), reason: v.string() })),
  hosts: v.array(v.object({ compute_id: v.string(), name: v.string(), nodes: Integer })),
  links: Integer,
  crossing_links: Integer,
});
export type PlacementObject = v.InferOutput<typeof PlacementObject>;

/** A node that a drain was about. */
export const DrainedNode = named('DrainedNode', {
  project_id: Uuid,
  project_name: v.string(),
  node_id: Uuid,
  name: v.string(),
});
export type DrainedNode = v.InferOutput<typeof DrainedNode>;

/** What a drain has done. */
export const Drained = named('Drained', {
  compute_id: v.string(),
  name: v.string(),
  draining: v.boolean(),
  moved: v.array(v.object({ ...DrainedNode.entries, compute_id: v.string(), reason: v.string() })),
  /** Nodes that stay, each with the reason and the fix. */
  left: v.array(v.object({ ...DrainedNode.entries, reason: v.string() })),
  /** The host that is the controller from now on: the drained one was it. */
  next_controller: v.exactOptional(v.string()),
});
export type Drained = v.InferOutput<typeof Drained>;

/** A host as its cluster sees it. */
export const ClusterHost = named('ClusterHost', {
  compute_id: v.string(),
  name: v.string(),
  is_controller: v.boolean(),
  /** Since its lease was renewed last; null if this controller has not seen it. */
  lease_age_seconds: v.nullable(v.number()),
  /** It may become the controller: `ready` when it has the whole log of changes. */
  standby: v.nullable(Standby),
  runs_nats: v.boolean(),
  /** Nodes of open labs there that the client may see. */
  nodes: Integer,
  running_nodes: Integer,
  /** When the files of its nodes were last copied as a whole; null if they are not. */
  checkpoint: v.nullable(Timestamp),
  /** How frames of links with hosts in other networks go: directly by UDP, or through NATS. */
  frames: v.picklist(['udp', 'relay']),
  /** Its clouds and NATs are cut off from networks outside of labs. */
  outside_closed: v.boolean(),
});
export type ClusterHost = v.InferOutput<typeof ClusterHost>;

export const ClusterObject = named('Cluster', {
  /** Null outside of a cluster. */
  name: v.nullable(v.string()),
  hosts: v.array(ClusterHost),
});
export type ClusterObject = v.InferOutput<typeof ClusterObject>;

/** The release that a server speaks. */
export const VersionObject = named('Version', { version: v.string(), local: v.boolean() });

const PortRange = v.pipe(v.tuple([Integer, Integer]), v.readonly());

/** The ports that a compute has for its nodes, and those that are taken. */
export const PortsObject = named('Ports', {
  console_port_range: PortRange,
  console_ports: v.array(Integer),
  udp_port_range: PortRange,
  udp_ports: v.array(Integer),
});
export type PortsObject = v.InferOutput<typeof PortsObject>;

export const CapabilitiesObject = named('Capabilities', {
  version: v.string(),
  node_types: v.pipe(v.array(v.string()), v.readonly()),
  platform: v.string(),
});

const Traffic = v.object({ frames: Integer, bytes: Integer });

/** What was seen of one direction of a link since it was connected or its counters were reset. */
const DirectionCounters = v.object({
  seconds: v.number(),
  /** Before and after the impairments; a duplicated frame is delivered twice. */
  offered: Traffic,
  delivered: Traffic,
  /** Frames, by reason. */
  dropped: v.record(v.string(), Integer),
  loss_percent: v.number(),
  duplicated: Integer,
  reordered: Integer,
  corrupted: Integer,
  rate_kbit: v.number(),
  /** Null without delayed frames. */
  delay: v.nullable(
    v.object({
      frames: Integer,
      mean_ms: v.number(),
      min_ms: v.number(),
      max_ms: v.number(),
      p50_ms: v.number(),
      p95_ms: v.number(),
      p99_ms: v.number(),
    }),
  ),
  held: Traffic,
  queue: Traffic,
});
export type DirectionCounters = v.InferOutput<typeof DirectionCounters>;

const CaptureCounters = v.nullable(v.object({ frames: Integer, bytes: Integer, drops: Integer }));

/** As a compute answers it: incoming and outgoing for the node. */
export const PortCounters = named('PortStatistics', {
  incoming: DirectionCounters,
  outgoing: DirectionCounters,
  capture: CaptureCounters,
  /** Who forwards the node's frames, and why the kernel does not. A host of an older release leaves it out. */
  path: v.exactOptional(v.object({ by: v.picklist(['kernel', 'fabric', 'relay']), reason: v.nullable(v.string()) })),
  /**
   * How frames get to another host, why not by VXLAN, and their path; null for other links. A host of an older release
   * leaves it out, or its first two members.
   */
  tunnel: v.exactOptional(
    v.nullable(
      v.object({
        by: v.exactOptional(v.picklist(['vxlan', 'udp'])),
        reason: v.exactOptional(v.nullable(v.string())),
        path_mtu: Integer,
        max_frame: Integer,
        fragmented: Integer,
        too_long: Integer,
      }),
    ),
  ),
});

/** A link in the messages of `/links/statistics/ws`. */
export interface LinkCounters {
  link_id: string;
  forward: DirectionCounters;
  backward: DirectionCounters;
  capture: v.InferOutput<typeof CaptureCounters>;
}

const NodesOfDirection = { from: Uuid, to: Uuid };

export const LinkStatistics = named('LinkStatistics', {
  forward: v.object({ ...DirectionCounters.entries, ...NodesOfDirection }),
  backward: v.object({ ...DirectionCounters.entries, ...NodesOfDirection }),
  ends: v.array(
    v.object({
      node_id: Uuid,
      adapter_number: Integer,
      port_number: Integer,
      compute_id: v.string(),
      statistics: v.nullable(PortCounters),
    }),
  ),
});
