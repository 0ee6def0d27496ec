// A compute, its projects, ports, load and events: the bodies and the routes.
import * as v from 'valibot';
import { CapabilitiesObject, LoadObject, OperationObject, PortsObject, VersionObject } from '../objects.ts';
import { PROJECT_SETTINGS } from '../topology.ts';
import { Integer, named, Text, Uuid, Variables } from '../vocabulary.ts';
import { answers, NODE_LOAD_QUERY, type RouteDefinitions } from './definition.ts';

/** The release validates projects like the controller's, though a compute uses only four members. */
export const ProjectCreate = v.strictObject({
  ...PROJECT_SETTINGS,
  name: v.nullable(Text),
  path: v.optional(v.nullable(Text)),
  project_id: v.optional(v.nullable(Uuid)),
});

export const ProjectUpdate = v.strictObject({
  ...PROJECT_SETTINGS,
  name: v.optional(v.nullable(Text)),
  path: v.optional(v.nullable(v.string())),
});

/** How long after the last renewal of its lease a host keeps clouds and NATs connected; null: for ever. */
export const OutsideAccessUpdate = v.strictObject({
  close_after_seconds: v.nullable(v.pipe(v.number(), v.minValue(1), v.maxValue(86_400))),
});

export const UnavailableKind = named('UnavailableKind', {
  node_type: v.string(),
  /** Null if the type can run. */
  hindrance: v.nullable(v.string()),
});
export type UnavailableKind = v.InferOutput<typeof UnavailableKind>;

export const HostInterface = named('HostInterface', {
  id: v.string(),
  name: v.string(),
  ip_address: v.string(),
  mac_address: v.string(),
  netmask: v.string(),
  type: v.picklist(['ethernet', 'tap']),
  special: v.boolean(),
});
export type HostInterface = v.InferOutput<typeof HostInterface>;

export const ComputeProject = named('ComputeProject', {
  project_id: Uuid,
  name: v.nullable(v.string()),
  variables: Variables,
});
export type ComputeProject = v.InferOutput<typeof ComputeProject>;

const ProjectFile = v.object({
  /** Relative to the project's directory, with `/` between its parts. */
  path: v.string(),
  /** Of the content, in hexadecimal. */
  md5sum: v.string(),
});
export type ProjectFile = v.InferOutput<typeof ProjectFile>;

const FileDetails = v.object({
  path: v.string(),
  /** Bytes. */
  size: Integer,
  /** Milliseconds since 1970. */
  modified: v.number(),
});
export type FileDetails = v.InferOutput<typeof FileDetails>;

// biome-ignore format: a table
export const COMPUTE_SERVER_ROUTES = {
  'GET /v2/compute/projects': { answer: answers(v.array(ComputeProject)), summary: 'List projects' },
  'POST /v2/compute/projects':
    { body: ProjectCreate, status: 201, answer: answers(ComputeProject), summary: 'Create a project', errors: [507] },
  'GET /v2/compute/projects/{project_id}': { answer: answers(ComputeProject), summary: 'Read a project' },
  'PUT /v2/compute/projects/{project_id}':
    { body: ProjectUpdate, answer: answers(ComputeProject), summary: 'Update a project' },
  'DELETE /v2/compute/projects/{project_id}': { status: 204, summary: 'Delete a project' },
  'POST /v2/compute/projects/{project_id}/close': { status: 204, summary: 'Close a project' },
  'GET /v2/compute/projects/{project_id}/files':
    { answer: answers(v.union([v.array(ProjectFile), v.array(FileDetails)])), summary: 'List files of a project',
      query: { details: 'yes: size and time instead of the checksum (an extension)' } },
  'GET /v2/compute/projects/{project_id}/files/{path:.+}':
    { raw: true, summary: 'Get a file from a project', errors: [409] },
  'POST /v2/compute/projects/{project_id}/files/{path:.+}':
    { raw: true, summary: 'Write a file to a project', errors: [408, 507], answerType: '' },
  'GET /v2/compute/projects/{project_id}/notifications':
    { summary: 'Notification stream of a project', answerType: 'application/json' },
  'GET /v2/compute/version':
    { answer: answers(VersionObject), summary: 'Release that this compute speaks' },
  'GET /v2/compute/capabilities': { answer: answers(CapabilitiesObject), summary: 'What this compute can run' },
  'GET /v2/compute/node_types/hindrances':
    { answer: answers(v.array(UnavailableKind)),
      summary: 'Types of nodes, each with the reason why it cannot run on this host (an extension)' },
  'GET /v2/compute/statistics':
    { answer: answers(v.object({ ...LoadObject.entries, processors: v.exactOptional(Integer) })), summary: 'Load of this host',
      query: { ...NODE_LOAD_QUERY, processors: 'yes: the answer has the number of processors, too (an extension)' } },
  'GET /v2/compute/debug': { summary: 'Report for people who help with problems', answerType: 'text/plain' },
  'GET /v2/compute/operations':
    { answer: answers(v.array(OperationObject)), summary: 'List long work under way on this compute (an extension)' },
  'DELETE /v2/compute/operations/{operation_id}':
    { status: 204, summary: 'Cancel long work of this compute (an extension)', errors: [404, 409] },
  'GET /v2/compute/notifications/ws': { socket: true, summary: 'Notification stream of a compute, for controllers' },
  'GET /v2/compute/network/interfaces': { answer: answers(v.array(HostInterface)), summary: 'List network interfaces of this host' },
  'PUT /v2/compute/network/outside':
    { body: OutsideAccessUpdate, status: 204, errors: [409],
      summary: 'Connect clouds and NATs of a host of a cluster, for as long as it holds its lease (an extension)' },
  'GET /v2/compute/network/ports': { answer: answers(PortsObject), summary: 'List ports in use by this compute' },
  'POST /v2/compute/projects/{project_id}/ports/udp':
    { status: 201, answer: answers(v.object({ udp_port: Integer })), summary: 'Reserve a UDP port for a link' },
  'DELETE /v2/compute/projects/{project_id}/ports/udp/{udp_port:\\d+}':
    { status: 204, summary: 'Give back a UDP port that was reserved and is not used' },
} as const satisfies RouteDefinitions;
