// The answers of release 2.2.57, of its computes too, for the OpenAPI document. Loaded only for the document.
import {
  type AnswerTable,
  id,
  integer,
  listOf,
  mapOf,
  number,
  object,
  oneOf,
  orNull,
  reference,
  text,
  truth,
} from '../../http/openapi/answers.ts';
import type { Node } from '../../http/openapi/dialect.ts';

const isoTime: Node = { type: 'string', format: 'date-time' };
const status = oneOf('started', 'stopped', 'suspended');
const access = oneOf('none', 'view', 'change');
const range: Node = { type: 'array', items: integer, minItems: 2, maxItems: 2 };
const record = (members: Record<string, Node>, optional: readonly string[] = []): Node => ({
  type: 'object',
  properties: members,
  required: Object.keys(members).filter((name) => !optional.includes(name)),
});
const traffic = record({ frames: integer, bytes: integer });
const DIRECTION = {
  ...{ offered: traffic, delivered: traffic, held: traffic, queue: traffic, dropped: mapOf(integer) },
  ...{ corrupted: integer, duplicated: integer, reordered: integer },
  ...{ delay: orNull(object), loss_percent: number, rate_kbit: number, seconds: number },
};
const LOAD = {
  ...{
    cpu_usage_percent: number,
    memory_usage_percent: number,
    disk_usage_percent: number,
    swap_usage_percent: number,
  },
  ...{ memory_total: integer, memory_free: integer, memory_used: integer },
  ...{ swap_total: integer, swap_free: integer, swap_used: integer },
  load_average_percent: listOf(number),
};
const SHARE = { owner: orNull(text), access, may_share: truth };

const OBJECTS: AnswerTable['objects'] = {
  Version: { members: { version: text, local: truth } },
  Account: { members: { name: text, role: text, created: orNull(isoTime) } },
  OwnAccount: {
    members: { login: truth, others: truth, name: orNull(text), role: text, token: orNull(text) },
  },
  Token: {
    members: {
      ...{ token_id: text, name: text, role: orNull(text), created: isoTime },
      ...{ expires: orNull(isoTime), last_used: orNull(isoTime), token: text },
    },
    // Answered once.
    optional: ['token'],
  },
  Group: { members: { name: text, built_in: truth, accounts: listOf(text) } },
  Sharing: { members: { ...SHARE, everybody: access, accounts: mapOf(access), groups: mapOf(access) } },
  Share: { members: { project_id: id, ...SHARE } },
  AuditLine: {
    members: {
      ...{ time: isoTime, account: text, token: text, address: text, action: text, objects: mapOf(text) },
      ...{ status: integer, request: text, refused: integer, lost: integer },
    },
    optional: ['token', 'request', 'refused', 'lost'],
  },
  Operation: {
    members: {
      ...{ operation_id: id, kind: text, name: text, project_id: orNull(id), compute_id: orNull(text) },
      ...{ done: integer, total: orNull(integer), unit: orNull(oneOf('bytes', 'nodes')), message: text },
      ...{ state: oneOf('running', 'cancelling', 'done', 'failed', 'cancelled'), cancellable: truth },
    },
    // Computes leave it out.
    optional: ['compute_id'],
  },
  Appliance: { members: { name: text, category: text, builtin: truth } },
  ApplianceMatch: {
    members: {
      ...{ appliance_id: id, name: text, vendor: text, symbol: text, category: text, emulator: text },
      ...{ builtin: truth, version: orNull(text), complete: truth, images: listOf(object) },
    },
  },
  Project: {
    of: 'POST /v2/projects',
    members: {
      ...{ project_id: id, name: text, status: oneOf('opened', 'closed'), path: orNull(text), filename: orNull(text) },
    },
  },
  Figures: { members: { nodes: integer, links: integer, drawings: integer, snapshots: integer } },
  LabFigures: { members: { project_id: id, nodes: integer, running: integer } },
  LabChange: { members: { project_id: id, changed_at: orNull(isoTime) } },
  JournalEntry: {
    members: {
      ...{ at: isoTime, level: orNull(oneOf('error', 'warning', 'info')), message: orNull(text) },
      ...{ node_id: orNull(id), status: orNull(status) },
    },
  },
  Node: {
    of: 'POST /v2/projects/{project_id}/nodes',
    members: {
      ...{ node_id: id, project_id: id, name: text, node_type: text, compute_id: text, status, properties: object },
      ...{ ports: listOf(object), console: orNull(integer), console_host: orNull(text), console_type: orNull(text) },
      ...{ node_directory: orNull(text), command_line: orNull(text), label: reference('Label') },
    },
    // Lists of closed labs have what is stored.
    optional: ['project_id', 'status', 'ports', 'console_host', 'node_directory', 'command_line'],
  },
  DeletedNode: { members: { node_id: id, name: text, node_type: text, until: isoTime } },
  Label: {
    members: { text, x: orNull(integer), y: orNull(integer), rotation: integer, style: orNull(text) },
    optional: ['x', 'y', 'rotation', 'style'],
  },
  MacTableRow: {
    members: { vlan: integer, mac_address: text, port_number: integer, port_name: text, age: integer },
  },
  DiskUse: { members: { bytes: integer, files: listOf(record({ path: text, size: integer, bytes: integer })) } },
  Link: {
    of: 'POST /v2/projects/{project_id}/links',
    members: {
      ...{ link_id: id, project_id: id, link_type: orNull(text), suspend: truth, link_style: object, filters: object },
      ...{ capturing: truth, capture_compute_id: orNull(text) },
      ...{ capture_file_name: orNull(text), capture_file_path: orNull(text) },
      nodes: listOf(
        record({ node_id: id, adapter_number: integer, port_number: integer, label: reference('Label') }, ['label']),
      ),
    },
    // Lists of closed labs have what is stored.
    optional: [
      ...['project_id', 'link_type', 'capturing', 'capture_compute_id', 'capture_file_name', 'capture_file_path'],
    ],
  },
  Filter: { members: { type: text, name: text, description: text, parameters: listOf(object) } },
  Preset: { members: { name: text, description: text, source: text, down: object, up: object } },
  LinkStatistics: {
    members: {
      forward: record({ ...DIRECTION, from: id, to: id }),
      backward: record({ ...DIRECTION, from: id, to: id }),
      ends: listOf(
        record({
          ...{ node_id: id, adapter_number: integer, port_number: integer, compute_id: text },
          statistics: orNull(reference('PortStatistics')),
        }),
      ),
    },
  },
  PortStatistics: {
    members: { incoming: record(DIRECTION), outgoing: record(DIRECTION), capture: orNull(object) },
  },
  Schedule: { members: { state: text } },
  CaptureFile: {
    members: {
      ...{ name: text, bytes: orNull(integer), modified: orNull(isoTime), link_id: orNull(id) },
      ...{ running: truth, compute_id: text },
    },
  },
  Drawing: {
    of: 'POST /v2/projects/{project_id}/drawings',
    members: { drawing_id: id, project_id: id, svg: text },
    optional: ['project_id'],
  },
  Snapshot: { members: { snapshot_id: id, project_id: id, name: text, created_at: number } },
  Symbol: { members: { symbol_id: text, filename: text, theme: text, builtin: truth } },
  Size: { members: { width: integer, height: integer } },
  Template: {
    members: {
      ...{ template_id: id, template_type: text, name: text, category: text, default_name_format: text },
      ...{ symbol: text, builtin: truth, compute_id: orNull(text) },
    },
  },
  Compute: {
    members: {
      ...{ compute_id: text, name: text, protocol: oneOf('http', 'https'), host: text, port: integer },
      ...{ user: orNull(text), connected: truth, last_error: orNull(text), draining: truth },
      ...{ cpu_usage_percent: orNull(number), memory_usage_percent: orNull(number) },
      capabilities: record({ version: orNull(text), node_types: listOf(text), platform: text }, ['platform']),
    },
    optional: ['draining'],
  },
  Capabilities: { members: { version: text, node_types: listOf(text), platform: text } },
  Ports: {
    members: {
      ...{ console_port_range: range, console_ports: listOf(integer) },
      ...{ udp_port_range: range, udp_ports: listOf(integer) },
    },
  },
  Load: { members: { ...LOAD, nodes: listOf(object) }, optional: ['nodes'] },
  Statistics: { members: { compute_id: text, compute_name: text, statistics: reference('Load') } },
  Placement: {
    members: {
      ...{ links: integer, crossing_links: integer },
      hosts: listOf(record({ compute_id: text, name: text, nodes: integer })),
      nodes: listOf(record({ node_id: id, name: text, compute_id: text, reason: text }, ['node_id'])),
    },
  },
  Cluster: {
    members: {
      name: orNull(text),
      hosts: listOf(
        record({
          ...{ compute_id: text, name: text, is_controller: truth, lease_age_seconds: orNull(number) },
          ...{ standby: orNull(oneOf('waiting', 'ready')), runs_nats: truth, nodes: integer, running_nodes: integer },
          ...{ checkpoint: orNull(isoTime), frames: oneOf('udp', 'relay'), outside_closed: truth },
        }),
      ),
    },
  },
  HostInterface: {
    members: {
      ...{ id: text, name: text, type: text, mac_address: text, ip_address: text, netmask: text, special: truth },
    },
  },
  UnavailableKind: { members: { node_type: text, hindrance: orNull(text) } },
  ComputeProject: { members: { project_id: id, name: text, variables: orNull(listOf(object)) } },
  // The checksum, or with `details=yes` size and time.
  ComputeFile: {
    members: { path: text, md5sum: text, size: integer, modified: number },
    optional: ['md5sum', 'size', 'modified'],
  },
  ComputeNode: { members: { node_id: id, project_id: id, name: text, status } },
  Image: { members: { filename: text, path: text, md5sum: orNull(text), filesize: integer } },
  Upload: {
    members: { upload_id: text, filename: text, filesize: integer, offset: integer, md5sum: orNull(text) },
  },
  IouLicence: { members: { iourc_content: text, license_check: truth } },
  VirtualMachine: { of: 'PUT /v2/gns3vm', members: {} },
  Engine: { members: { engine_id: text, name: text, description: text } },
};

const LAB = '/v2/projects/{project_id}';
const KIND = '/v2/compute/projects/{project_id}/{kind}/nodes';
const PORT = `${KIND}/{node_id}/adapters/{adapter_number:\\d+}/ports/{port_number:\\d+}`;
const computeNode = reference('ComputeNode');

export const V2_ANSWERS: AnswerTable = {
  objects: OBJECTS,
  answers: {
    'GET /v2/appliances/matches': listOf(reference('ApplianceMatch')),
    'GET /v2/gns3vm/engines/{engine}/vms': listOf(object),
    'GET /v2/computes/{compute_id}/ports': reference('Ports'),
    'GET /v2/computes/endpoint/{compute_id}/{emulator}/{action:.+}': record({ endpoint: text }),
    [`GET ${LAB}/stats`]: reference('Figures'),
    [`GET ${LAB}/notes`]: record({ text }),
    [`GET ${LAB}/locked`]: truth,
    [`POST ${LAB}/snapshots/{snapshot_id}/restore`]: reference('Project'),
    [`POST ${LAB}/deleted_nodes/{node_id}/restore`]: reference('Node'),
    [`POST ${LAB}/templates/{template_id}`]: reference('Node'),
    [`GET ${LAB}/nodes/{node_id}/mac_table`]: listOf(reference('MacTableRow')),
    [`GET ${LAB}/nodes/{node_id}/addresses`]: listOf(text),
    [`GET ${LAB}/links/{link_id}/available_filters`]: listOf(reference('Filter')),
    [`GET ${LAB}/links/{link_id}/iface`]: record({ node_id: id, type: text }),
    [`GET ${LAB}/links/{link_id}/statistics`]: reference('LinkStatistics'),
    'GET /v2/impairments/presets': listOf(reference('Preset')),
    'GET /v2/default_symbols': mapOf(mapOf(text)),
    'GET /v2/symbols/{symbol_id:.+}/dimensions': reference('Size'),
    'GET /v2/compute/node_types/hindrances': listOf(reference('UnavailableKind')),
    'GET /v2/compute/statistics': reference('Load'),
    'GET /v2/compute/network/ports': reference('Ports'),
    'GET /v2/compute/projects': listOf(reference('ComputeProject')),
    'POST /v2/compute/projects': reference('ComputeProject'),
    'GET /v2/compute/projects/{project_id}': reference('ComputeProject'),
    'PUT /v2/compute/projects/{project_id}': reference('ComputeProject'),
    'GET /v2/compute/projects/{project_id}/files': listOf(reference('ComputeFile')),
    'POST /v2/compute/projects/{project_id}/ports/udp': record({ udp_port: integer }),
    [`POST ${KIND}`]: computeNode,
    [`GET ${KIND}/{node_id}`]: computeNode,
    [`PUT ${KIND}/{node_id}`]: computeNode,
    [`POST ${KIND}/{node_id}/duplicate`]: computeNode,
    [`GET ${KIND}/{node_id}/mac_table`]: listOf(reference('MacTableRow')),
    [`GET ${KIND}/{node_id}/addresses`]: listOf(text),
    [`GET ${KIND}/{node_id}/disk_use`]: reference('DiskUse'),
    [`GET ${PORT}/statistics`]: reference('PortStatistics'),
    [`GET ${PORT}/schedule`]: reference('Schedule'),
    [`POST ${PORT}/schedule`]: reference('Schedule'),
    [`POST ${PORT}/start_capture`]: record({ pcap_file_path: text }),
    'POST /v2/tickets': record({ path: text, ticket: text, expires_in: integer }),
  },
  nouns: {
    ...{ accounts: 'Account', tokens: 'Token', groups: 'Group', audit: 'AuditLine', 'project-sharing': 'Share' },
    ...{ operations: 'Operation', appliances: 'Appliance', templates: 'Template', symbols: 'Symbol' },
    ...{ projects: 'Project', 'project-figures': 'LabFigures', 'project-changes': 'LabChange' },
    ...{ journal: 'JournalEntry', nodes: 'Node', deleted_nodes: 'DeletedNode', links: 'Link', drawings: 'Drawing' },
    ...{ snapshots: 'Snapshot', captures: 'CaptureFile', computes: 'Compute', statistics: 'Statistics' },
    ...{ engines: 'Engine', interfaces: 'HostInterface', images: 'Image', uploads: 'Upload' },
  },
  single: {
    ...{ version: 'Version', account: 'OwnAccount', sharing: 'Sharing', schedule: 'Schedule', disk_use: 'DiskUse' },
    ...{
      placement: 'Placement',
      cluster: 'Cluster',
      capabilities: 'Capabilities',
      iou_license: 'IouLicence',
      gns3vm: 'VirtualMachine',
    },
  },
  // What other servers answer, and what has no members of its own.
  unknown: /\{action:|auto_idlepc|drain$|\{kind\}/,
  nameOf: (name) => name.replace(/^(\w+ \/v2\/compute\/projects\/\{project_id\})\/\w+\/nodes/, '$1/{kind}/nodes'),
};
