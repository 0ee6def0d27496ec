// Nodes: the bodies and the routes.
import * as v from 'valibot';
import { DeletedNode } from '../deleted-nodes.ts';
import type { LinkObject, NodeObject } from '../objects.ts';
import { START_MEMBERS, TopologyNode } from '../topology.ts';
import { Integer, Name, Text } from '../vocabulary.ts';
import { DiskUse, MacTableRow } from './compute-nodes.ts';
import { answers, type RouteDefinitions, WINDOW_QUERY } from './definition.ts';

/** The members of a node in a topology file, and its start; the domain code decides which ones a request may set. */
export const NodeCreate = v.strictObject({ ...TopologyNode.entries, ...START_MEMBERS, name: Name });
export type NodeCreate = v.InferOutput<typeof NodeCreate>;

/**
 * A client may send a node back unchanged. Old labs have names that are no longer valid, so names are checked only when
 * they change.
 */
export const NodeUpdate = v.strictObject({
  ...v.partial(NodeCreate).entries,
  name: v.optional(Text),
  halt_reason: v.optional(v.nullable(v.string())),
  lost_reason: v.optional(v.string()),
});
export type NodeUpdate = v.InferOutput<typeof NodeUpdate>;

export const NodeDuplicate = v.strictObject({ x: Integer, y: Integer, z: v.optional(Integer, 0) });
export type NodeDuplicate = v.InferOutput<typeof NodeDuplicate>;

// biome-ignore format: a table
export const NODE_ROUTES = {
  'GET /v2/projects/{project_id}/nodes':
    { access: 'watch', privilege: 'Node.Audit', answer: answers<NodeObject[]>(), summary: 'List nodes of a project' },
  'POST /v2/projects/{project_id}/nodes':
    { access: 'change', privilege: 'Node.Allocate', body: NodeCreate, settings: true, status: 201, answer: answers<NodeObject>(),
      summary: 'Create a node' },
  'POST /v2/projects/{project_id}/nodes/start':
    { access: 'change', privilege: 'Node.PowerMgmt', status: 204, summary: 'Start all nodes of a project' },
  'POST /v2/projects/{project_id}/nodes/stop':
    { access: 'change', privilege: 'Node.PowerMgmt', status: 204, summary: 'Stop all nodes of a project' },
  'POST /v2/projects/{project_id}/nodes/suspend':
    { access: 'change', privilege: 'Node.PowerMgmt', status: 204, summary: 'Suspend all nodes of a project' },
  'POST /v2/projects/{project_id}/nodes/reload':
    { access: 'change', privilege: 'Node.PowerMgmt', status: 204, summary: 'Reload all nodes of a project' },
  'POST /v2/projects/{project_id}/nodes/console/reset':
    { access: 'change', privilege: 'Node.Console', status: 204,
      summary: 'Reset the consoles of all nodes of a project' },
  'GET /v2/projects/{project_id}/nodes/{node_id}':
    { access: 'watch', privilege: 'Node.Audit', answer: answers<NodeObject>(),
      summary: 'Read a node' },
  'PUT /v2/projects/{project_id}/nodes/{node_id}':
    { access: 'change', privilege: 'Node.Modify', body: NodeUpdate, settings: true, answer: answers<NodeObject>(),
      summary: 'Update a node, or move it to another host' },
  'DELETE /v2/projects/{project_id}/nodes/{node_id}':
    { access: 'change', privilege: 'Node.Allocate', status: 204, summary: 'Delete a node',
      query: { keep: 'yes: keeps it for an hour, and answers 200 with `until` if its files are kept (an extension)' } },
  'GET /v2/projects/{project_id}/deleted_nodes':
    { access: 'watch', privilege: 'Node.Audit', answer: answers(v.array(DeletedNode)),
      summary: 'List deleted nodes that are kept (an extension)' },
  'POST /v2/projects/{project_id}/deleted_nodes/{node_id}/restore':
    { access: 'change', privilege: 'Node.Allocate', status: 201, answer: answers<NodeObject>(),
      summary: 'Restore a deleted node with its files and links (an extension)' },
  'POST /v2/projects/{project_id}/nodes/{node_id}/duplicate':
    { access: 'change', privilege: 'Node.Allocate', body: NodeDuplicate, status: 201, answer: answers<NodeObject>(),
      summary: 'Duplicate a node' },
  'POST /v2/projects/{project_id}/nodes/{node_id}/start':
    { access: 'change', privilege: 'Node.PowerMgmt', answer: answers<NodeObject>(), summary: 'Start a node',
      errors: [408] },
  'POST /v2/projects/{project_id}/nodes/{node_id}/stop':
    { access: 'change', privilege: 'Node.PowerMgmt', answer: answers<NodeObject>(), summary: 'Stop a node',
      errors: [408] },
  'POST /v2/projects/{project_id}/nodes/{node_id}/suspend':
    { access: 'change', privilege: 'Node.PowerMgmt', answer: answers<NodeObject>(), summary: 'Suspend a node',
      errors: [408] },
  'POST /v2/projects/{project_id}/nodes/{node_id}/reload':
    { access: 'change', privilege: 'Node.PowerMgmt', answer: answers<NodeObject>(), summary: 'Reload a node',
      errors: [408] },
  'GET /v2/projects/{project_id}/nodes/{node_id}/links':
    { access: 'watch', privilege: 'Link.Audit', answer: answers<LinkObject[]>(), summary: 'List links of a node' },
  'GET /v2/projects/{project_id}/nodes/{node_id}/mac_table':
    { access: 'watch', privilege: 'Node.Audit', answer: answers<object>(v.array(MacTableRow)),
      summary: 'List the MAC addresses that an Ethernet switch has learned', errors: [409] },
  'DELETE /v2/projects/{project_id}/nodes/{node_id}/mac_table':
    { access: 'change', privilege: 'Node.Modify', status: 204,
      summary: 'Have an Ethernet switch forget its MAC addresses', answerType: '' },
  'GET /v2/projects/{project_id}/nodes/{node_id}/addresses':
    { access: 'watch', privilege: 'Node.Audit', answer: answers(v.array(v.string())),
      summary: 'Addresses that a running node has now, as far as its host knows them (an extension)' },
  'GET /v2/projects/{project_id}/nodes/{node_id}/disk_use':
    { access: 'watch', privilege: 'Node.Audit', answer: answers<object>(DiskUse), summary: "Disk space of a node's files" },
  'POST /v2/projects/{project_id}/nodes/{node_id}/console/reset':
    { access: 'change', privilege: 'Node.Console', status: 204, summary: 'Reset the console of a node' },
  'GET /v2/projects/{project_id}/nodes/{node_id}/console/ws':
    { access: 'type', privilege: 'Node.Console', socket: true, summary: 'Console of a node', query: WINDOW_QUERY },
  'GET /v2/projects/{project_id}/nodes/{node_id}/aux/ws':
    { access: 'type', privilege: 'Node.Console', socket: true, summary: 'Auxiliary console of a node (an extension)',
      query: WINDOW_QUERY },
  'GET /v2/projects/{project_id}/nodes/{node_id}/console/vnc':
    { access: 'type', privilege: 'Node.Console', socket: true,
      summary: 'VNC display of a node, in binary messages (an extension)' },
  'GET /v2/projects/{project_id}/nodes/{node_id}/files/{path:.+}':
    { access: 'watch', privilege: 'Node.Audit', raw: true, summary: 'Get a file of a node', errors: [409] },
  'POST /v2/projects/{project_id}/nodes/{node_id}/files/{path:.+}':
    { access: 'change', privilege: 'Node.Modify', raw: true, status: 201, summary: 'Write a file of a node',
      errors: [408, 507], answerType: '' },
  'GET /v2/projects/{project_id}/locked':
    { access: 'watch', privilege: 'Project.Audit', answer: answers(v.boolean()),
      summary: 'Whether all nodes and drawings are locked (an extension)' },
  'POST /v2/projects/{project_id}/lock':
    { access: 'change', privilege: 'Project.Modify', status: 204,
      summary: 'Lock all nodes and drawings (an extension)' },
  'POST /v2/projects/{project_id}/unlock':
    { access: 'change', privilege: 'Project.Modify', status: 204,
      summary: 'Unlock all nodes and drawings (an extension)' },
  'POST /v2/projects/{project_id}/nodes/{node_id}/isolate':
    { access: 'change', privilege: 'Link.Modify', status: 204, summary: 'Suspend all links of a node (an extension)' },
  'POST /v2/projects/{project_id}/nodes/{node_id}/unisolate':
    { access: 'change', privilege: 'Link.Modify', status: 204,
      summary: 'End the suspension of all links of a node (an extension)' },
} as const satisfies RouteDefinitions;
