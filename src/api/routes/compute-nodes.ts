// Nodes of a compute: the bodies and the routes that all kinds have; those of one kind are defined with the kind. `{node_type}` is the kind.
import * as v from 'valibot';
import { CAPTURE_EXTENSIONS, LINK_TYPES, type LinkType } from '../captures.ts';
import { DirectionChange, DirectionImpairments, MOST_STEPS, ScheduleRounds, StepTimes } from '../impairments.ts';
import { type ComputeNode, PortCounters } from '../objects.ts';
import { AnyObject, Integer, named, Text, Uuid } from '../vocabulary.ts';
import { answers, LAST_QUERY, type RouteDefinitions, WINDOW_QUERY } from './definition.ts';
import { Schedule } from './links.ts';

export const UdpPort = v.pipe(Integer, v.minValue(1), v.maxValue(65535));

export const NodeDuplicate = v.strictObject({ destination_node_id: Uuid });

export const NodeCapture = v.strictObject({
  capture_file_name: Text,
  data_link_type: v.optional(v.picklist(Object.keys(LINK_TYPES) as LinkType[]), 'DLT_EN10MB'),
  ...CAPTURE_EXTENSIONS,
  /** An extension: the port's description in pcapng. */
  interface_description: v.optional(Text),
});
export type NodeCapture = v.InferOutput<typeof NodeCapture>;

/** The identifiers of VXLAN have 24 bits; the first of them marks probes. */
export const MOST_VNI = 0x7fffff;

export const NioUdp = v.strictObject({
  type: v.literal('nio_udp'),
  lport: UdpPort,
  rhost: Text,
  rport: UdpPort,
  suspend: v.optional(v.boolean()),
  filters: v.optional(AnyObject),
  /** Beyond the release: frames go by VXLAN, with this network identifier, while that works, and otherwise by the UDP ports. */
  vni: v.optional(v.pipe(Integer, v.minValue(1), v.maxValue(MOST_VNI))),
});

export const Nio = v.variant('type', [
  NioUdp,
  v.strictObject({ type: v.literal('nio_generic_ethernet'), ethernet_device: Text }),
  v.strictObject({ type: v.literal('nio_ethernet'), ethernet_device: Text }),
  v.strictObject({ type: v.literal('nio_linux_ethernet'), ethernet_device: Text }),
  v.strictObject({ type: v.literal('nio_nat') }),
  v.strictObject({ type: v.literal('nio_tap'), tap_device: Text }),
  v.strictObject({ type: v.literal('nio_unix'), local_file: Text, remote_file: Text }),
  v.strictObject({ type: v.literal('nio_vde'), control_file: Text, local_file: Text }),
  v.strictObject({ type: v.literal('nio_vmnet'), vmnet: Text }),
  v.strictObject({ type: v.literal('nio_null') }),
]);

export type Nio = v.InferOutput<typeof Nio>;

export const PortSuspension = v.strictObject({ suspend: v.boolean() });

/** `outgoing` are the frames that the node sends into the cable. */
export const PortImpairments = v.strictObject({
  outgoing: v.optional(DirectionImpairments),
  incoming: v.optional(DirectionImpairments),
});

export type PortImpairments = v.InferOutput<typeof PortImpairments>;

const PortStep = v.strictObject({
  ...StepTimes,
  outgoing: v.optional(DirectionChange),
  incoming: v.optional(DirectionChange),
});

export const PortSchedule = v.strictObject({
  steps: v.pipe(v.array(PortStep), v.minLength(1), v.maxLength(MOST_STEPS)),
  ...ScheduleRounds,
});

export type PortSchedule = v.InferOutput<typeof PortSchedule>;

export const DiskUse = named('DiskUse', {
  /** Bytes on the disk, all files together; a sparse file takes less than its size. */
  bytes: Integer,
  /** The largest on the disk first, at most a hundred. */
  files: v.array(v.object({ path: v.string(), size: Integer, bytes: Integer })),
});
export type DiskUse = v.InferOutput<typeof DiskUse>;

/** An entry of the table, as clients see it. */
export const MacTableRow = named('MacTableRow', {
  vlan: Integer,
  /** `02:00:00:00:00:01` */
  mac_address: v.string(),
  port_number: Integer,
  port_name: v.string(),
  /** Whole seconds since the last frame from the address. */
  age: Integer,
});
export type MacTableRow = v.InferOutput<typeof MacTableRow>;

// biome-ignore format: a table
export const COMPUTE_NODE_ROUTES = {
  'POST /v2/compute/projects/{project_id}/{node_type}/nodes':
    { status: 201, answer: answers<ComputeNode>(), summary: 'Create a node' },
  'GET /v2/compute/projects/{project_id}/{node_type}/nodes/{node_id}':
    { answer: answers<ComputeNode>(), summary: 'Read a node' },
  'PUT /v2/compute/projects/{project_id}/{node_type}/nodes/{node_id}':
    { answer: answers<ComputeNode>(), summary: 'Update a node' },
  'DELETE /v2/compute/projects/{project_id}/{node_type}/nodes/{node_id}': { status: 204, summary: 'Delete a node' },
  'POST /v2/compute/projects/{project_id}/{node_type}/nodes/{node_id}/start':
    { answer: answers<ComputeNode | undefined>(), summary: 'Start a node' },
  'POST /v2/compute/projects/{project_id}/{node_type}/nodes/{node_id}/stop': { status: 204, summary: 'Stop a node' },
  'POST /v2/compute/projects/{project_id}/{node_type}/nodes/{node_id}/suspend':
    { status: 204, summary: 'Suspend a node' },
  'POST /v2/compute/projects/{project_id}/{node_type}/nodes/{node_id}/reload':
    { status: 204, summary: 'Reload a node' },
  'POST /v2/compute/projects/{project_id}/{node_type}/nodes/{node_id}/resume':
    { status: 204, summary: 'Resume a suspended node' },
  'POST /v2/compute/projects/{project_id}/{node_type}/nodes/{node_id}/duplicate':
    { body: NodeDuplicate, status: 201, answer: answers<ComputeNode>(),
      summary: 'Copy what a node has into another node' },
  'GET /v2/compute/projects/{project_id}/{node_type}/nodes/{node_id}/disk_use':
    { answer: answers(DiskUse), summary: "Disk space of a node's files" },
  'GET /v2/compute/projects/{project_id}/{node_type}/nodes/{node_id}/addresses':
    { concurrent: true, answer: answers(v.array(v.string())), summary: 'Addresses that a running node has now (an extension)' },
  'POST /v2/compute/projects/{project_id}/{node_type}/nodes/{node_id}/state':
    { status: 204, summary: 'Keep what a running node is doing in its files, and have it stand still (an extension)' },
  'DELETE /v2/compute/projects/{project_id}/{node_type}/nodes/{node_id}/state':
    { status: 204, summary: 'Drop what was kept of a running node, and have it go on (an extension)' },
  'POST /v2/compute/projects/{project_id}/{node_type}/nodes/{node_id}/state/start':
    { status: 204, summary: 'Start a node where it was kept (an extension)' },
  'POST /v2/compute/projects/{project_id}/{node_type}/nodes/{node_id}/console/reset':
    { status: 204, summary: 'Reset the console of a node' },
  'GET /v2/compute/projects/{project_id}/{node_type}/nodes/{node_id}/console/ws':
    { socket: true, summary: 'Console of a node', query: WINDOW_QUERY },
  'GET /v2/compute/projects/{project_id}/{node_type}/nodes/{node_id}/console/window/ws':
    { socket: true, summary: 'Console of a node for a client that names its window (an extension)',
      query: WINDOW_QUERY },
  'GET /v2/compute/projects/{project_id}/{node_type}/nodes/{node_id}/console/port/ws':
    { socket: true, summary: 'Port of the console of a node, in binary messages (an extension)' },
  'GET /v2/compute/projects/{project_id}/{node_type}/nodes/{node_id}/console/vnc':
    { socket: true, summary: 'VNC display of a node, in binary messages (an extension)' },
  'GET /v2/compute/projects/{project_id}/{node_type}/nodes/{node_id}/aux/ws':
    { socket: true, summary: 'Auxiliary console of a node (an extension)', query: WINDOW_QUERY },
  'GET /v2/compute/projects/{project_id}/{node_type}/nodes/{node_id}/aux/window/ws':
    { socket: true, summary: 'Console of a node for a client that names its window (an extension)',
      query: WINDOW_QUERY },
  'POST /v2/compute/projects/{project_id}/{node_type}/nodes/{node_id}/adapters/{adapter_number:\\d+}/ports/{port_number:\\d+}/nio':
    { body: Nio, status: 201, answer: answers<object>(), summary: 'Add a NIO to a node' },
  'PUT /v2/compute/projects/{project_id}/{node_type}/nodes/{node_id}/adapters/{adapter_number:\\d+}/ports/{port_number:\\d+}/nio':
    { body: Nio, status: 201, answer: answers<object>(), summary: 'Update filters and suspension of a NIO' },
  'DELETE /v2/compute/projects/{project_id}/{node_type}/nodes/{node_id}/adapters/{adapter_number:\\d+}/ports/{port_number:\\d+}/nio':
    { status: 204, summary: 'Remove a NIO from a node' },
  'POST /v2/compute/projects/{project_id}/{node_type}/nodes/{node_id}/adapters/{adapter_number:\\d+}/ports/{port_number:\\d+}/start_capture':
    { body: NodeCapture, answer: answers(v.object({ pcap_file_path: v.string() })), summary: 'Start capture on a port' },
  'POST /v2/compute/projects/{project_id}/{node_type}/nodes/{node_id}/adapters/{adapter_number:\\d+}/ports/{port_number:\\d+}/stop_capture':
    { status: 204, summary: 'Stop capture on a port' },
  'GET /v2/compute/projects/{project_id}/{node_type}/nodes/{node_id}/adapters/{adapter_number:\\d+}/ports/{port_number:\\d+}/pcap':
    { concurrent: true, summary: 'Fetch the capture of a port', errors: [409], query: LAST_QUERY,
      answerType: 'application/vnd.tcpdump.pcap' },
  'GET /v2/compute/projects/{project_id}/{node_type}/nodes/{node_id}/adapters/{adapter_number:\\d+}/ports/{port_number:\\d+}/pcap/ws':
    { socket: true, summary: 'The capture of a port as binary messages, and its figures as text (an extension)',
      errors: [409], query: LAST_QUERY },
  'PUT /v2/compute/projects/{project_id}/{node_type}/nodes/{node_id}/adapters/{adapter_number:\\d+}/ports/{port_number:\\d+}/impairments':
    { body: PortImpairments, answer: answers<object>(), summary: 'Impair each direction of the cable (an extension)' },
  'PUT /v2/compute/projects/{project_id}/{node_type}/nodes/{node_id}/adapters/{adapter_number:\\d+}/ports/{port_number:\\d+}/suspension':
    { body: PortSuspension, status: 204, summary: 'Suspend or resume the cable of a port whose NIO has no update (an extension)' },
  'GET /v2/compute/projects/{project_id}/{node_type}/nodes/{node_id}/adapters/{adapter_number:\\d+}/ports/{port_number:\\d+}/statistics':
    { concurrent: true, answer: answers<object>(PortCounters), summary: 'What was seen of the cable (an extension)', errors: [409] },
  'POST /v2/compute/projects/{project_id}/{node_type}/nodes/{node_id}/adapters/{adapter_number:\\d+}/ports/{port_number:\\d+}/statistics/reset':
    { status: 204, summary: 'Start counting what passes the cable from zero (an extension)' },
  'GET /v2/compute/projects/{project_id}/{node_type}/nodes/{node_id}/adapters/{adapter_number:\\d+}/ports/{port_number:\\d+}/schedule':
    { concurrent: true, answer: answers<object>(Schedule), summary: 'State of the schedule of impairments (an extension)', errors: [409] },
  'POST /v2/compute/projects/{project_id}/{node_type}/nodes/{node_id}/adapters/{adapter_number:\\d+}/ports/{port_number:\\d+}/schedule':
    { body: PortSchedule, status: 201, answer: answers<object>(Schedule),
      summary: 'Start a schedule of impairments (an extension)' },
  'DELETE /v2/compute/projects/{project_id}/{node_type}/nodes/{node_id}/adapters/{adapter_number:\\d+}/ports/{port_number:\\d+}/schedule':
    { status: 204, summary: 'Cancel the schedule of impairments (an extension)' },
} as const satisfies RouteDefinitions;
