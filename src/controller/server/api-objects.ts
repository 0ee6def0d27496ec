// Answers of release 2.2.57 that follow from the bodies of their routes or have no schema in src/api yet. Loaded only for the OpenAPI document.
import { NodeStatus } from '../../api/vocabulary.ts';
import {
  type AnswerTable,
  id,
  integer,
  listOf,
  object,
  oneOf,
  orNull,
  reference,
  text,
  truth,
} from '../../http/openapi/answers.ts';
import type { Node } from '../../http/openapi/dialect.ts';

const status = oneOf(...NodeStatus.options);
const record = (members: Record<string, Node>, optional: readonly string[] = []): Node => ({
  type: 'object',
  properties: members,
  required: Object.keys(members).filter((name) => !optional.includes(name)),
});

const OBJECTS: AnswerTable['objects'] = {
  Appliance: { members: { name: text, category: text, builtin: truth } },
  Project: {
    of: 'POST /v2/projects',
    members: {
      ...{ project_id: id, name: text, status: oneOf('opened', 'closed'), path: orNull(text), filename: orNull(text) },
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
  Label: {
    members: { text, x: orNull(integer), y: orNull(integer), rotation: integer, style: orNull(text) },
    optional: ['x', 'y', 'rotation', 'style'],
  },
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
  Drawing: {
    of: 'POST /v2/projects/{project_id}/drawings',
    members: { drawing_id: id, project_id: id, svg: text },
    optional: ['project_id'],
  },
  Template: {
    members: {
      ...{ template_id: id, template_type: text, name: text, category: text, default_name_format: text },
      ...{ symbol: text, builtin: truth, compute_id: orNull(text) },
    },
  },
  ComputeNode: { members: { node_id: id, project_id: id, name: text, status } },
  Image: { members: { filename: text, path: text, md5sum: orNull(text), filesize: integer } },
  IouLicence: { members: { iourc_content: text, license_check: truth } },
  VirtualMachine: { of: 'PUT /v2/gns3vm', members: {} },
  Engine: { members: { engine_id: text, name: text, description: text } },
};

const LAB = '/v2/projects/{project_id}';
const KIND = '/v2/compute/projects/{project_id}/{kind}/nodes';
const computeNode = reference('ComputeNode');

export const V2_ANSWERS: AnswerTable = {
  objects: OBJECTS,
  answers: {
    'GET /v2/gns3vm/engines/{engine}/vms': listOf(object),
    [`POST ${LAB}/snapshots/{snapshot_id}/restore`]: reference('Project'),
    [`POST ${LAB}/deleted_nodes/{node_id}/restore`]: reference('Node'),
    [`POST ${LAB}/templates/{template_id}`]: reference('Node'),
    [`POST ${KIND}`]: computeNode,
    [`GET ${KIND}/{node_id}`]: computeNode,
    [`PUT ${KIND}/{node_id}`]: computeNode,
    [`POST ${KIND}/{node_id}/duplicate`]: computeNode,
  },
  nouns: {
    ...{ appliances: 'Appliance', templates: 'Template', projects: 'Project', nodes: 'Node', links: 'Link' },
    ...{ drawings: 'Drawing', engines: 'Engine', images: 'Image' },
  },
  single: { iou_license: 'IouLicence', gns3vm: 'VirtualMachine' },
  // What other servers answer, and what has no members of its own.
  unknown: /auto_idlepc|\{kind\}/,
  nameOf: (name) => name.replace(/^(\w+ \/v2\/compute\/projects\/\{project_id\})\/\w+\/nodes/, '$1/{kind}/nodes'),
};
