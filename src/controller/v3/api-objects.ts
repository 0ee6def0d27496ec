// The answers of release 3.0.6 for the OpenAPI document. Loaded only for the document.
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

const time: Node = { type: 'string', description: 'ISO 8601 without zone, UTC, whole seconds' };

const TIMES = { created_at: time, updated_at: time };

const OBJECTS: AnswerTable['objects'] = {
  Token: { members: { access_token: text, token_type: { const: 'bearer' } } },
  Version: {
    members: { version: text, controller_host: orNull(text), local: truth },
    optional: ['controller_host', 'local'],
  },
  User: {
    of: 'POST /v3/access/users',
    without: ['password'],
    members: {
      ...{ user_id: id, username: text, is_active: truth, is_superadmin: truth },
      ...{ email: orNull(text), full_name: orNull(text), last_login: orNull(time), ...TIMES },
    },
  },
  Group: { members: { user_group_id: id, name: text, is_builtin: truth, ...TIMES } },
  Privilege: { members: { privilege_id: id, name: text, description: text, ...TIMES } },
  Role: {
    members: {
      ...{ role_id: id, name: text, description: orNull(text), is_builtin: truth, ...TIMES },
      privileges: listOf({ $ref: '#/components/schemas/Privilege' }),
    },
  },
  Entry: {
    of: 'POST /v3/access/acl',
    members: { ace_id: id, propagate: truth, allowed: truth, user_id: orNull(id), group_id: orNull(id), ...TIMES },
  },
  Endpoint: { members: { endpoint: text, name: text, endpoint_type: text } },
  Pool: { members: { resource_pool_id: id, name: text, ...TIMES } },
  Resource: { members: { resource_id: id, resource_type: { const: 'project' }, name: text, ...TIMES } },
  Image: {
    members: {
      ...{ filename: text, path: text, image_type: oneOf('qemu', 'ios', 'iou'), image_size: integer },
      ...{ checksum: text, checksum_algorithm: { const: 'md5' }, ...TIMES },
    },
  },
  Appliance: { members: { appliance_id: id, name: text, category: text, builtin: truth } },
  Project: {
    of: 'POST /v3/projects',
    members: {
      project_id: id,
      name: text,
      status: oneOf('opened', 'closed'),
      path: orNull(text),
      filename: orNull(text),
    },
  },
  Figures: { members: { nodes: integer, links: integer, drawings: integer, snapshots: integer } },
  Node: {
    of: 'POST /v3/projects/{project_id}/nodes',
    members: {
      ...{
        node_id: id,
        name: text,
        node_type: text,
        properties: object,
        status: oneOf('started', 'stopped', 'suspended'),
      },
      ...{
        project_id: id,
        ports: listOf(object),
        console: orNull(integer),
        aux: orNull(integer),
        aux_type: orNull(text),
      },
      label: { $ref: '#/components/schemas/Label' },
    },
    // Lists of closed labs have what is stored.
    optional: ['project_id', 'status', 'ports'],
  },
  Label: {
    members: {
      text: orNull(text),
      x: orNull(integer),
      y: orNull(integer),
      rotation: orNull(integer),
      style: orNull(text),
    },
  },
  Link: {
    of: 'POST /v3/projects/{project_id}/links',
    members: {
      ...{ link_id: id, project_id: id, link_type: orNull(text), link_style: object, suspend: truth },
      nodes: listOf({
        type: 'object',
        properties: {
          ...{ node_id: id, adapter_number: integer, port_number: integer },
          label: { $ref: '#/components/schemas/Label' },
        },
        required: ['node_id', 'adapter_number', 'port_number'],
      }),
    },
    optional: ['project_id', 'link_type'],
  },
  Interface: {
    members: { node_id: id, type: text, lport: integer, rhost: text, rport: integer, interface: text },
    optional: ['lport', 'rhost', 'rport', 'interface'],
  },
  Filter: { members: { type: text, name: text, description: text, parameters: listOf(object) } },
  Drawing: {
    of: 'POST /v3/projects/{project_id}/drawings',
    members: { drawing_id: id, project_id: id, svg: text },
    optional: ['project_id'],
  },
  Snapshot: { members: { snapshot_id: id, project_id: id, name: text, created_at: number } },
  Symbol: { members: { symbol_id: text, filename: text, theme: text, builtin: truth } },
  Size: { members: { width: integer, height: integer } },
  Template: {
    members: {
      ...{ template_id: id, name: text, category: text, default_name_format: text, symbol: text, template_type: text },
      ...{ compute_id: orNull(text), builtin: truth, version: orNull(text), usage: text, ...TIMES },
    },
    // Built-in templates have none.
    optional: ['version', 'usage', 'created_at', 'updated_at'],
  },
  Compute: {
    of: 'POST /v3/computes',
    members: { compute_id: text, name: text, password: text, ...TIMES },
  },
  IouLicence: { members: { iourc_content: text, license_check: truth } },
  VirtualMachine: { of: 'PUT /v3/gns3vm', members: {} },
  Engine: { members: { engine_id: text, name: text } },
  Statistics: { members: { compute_id: text, compute_name: text, statistics: object } },
};

const ANSWERS: AnswerTable['answers'] = {
  'POST /v3/appliances/{appliance_id}/version': reference('Appliance'),
  'POST /v3/access/users/authenticate': reference('Token'),
  'POST /v3/access/users/login': reference('Token'),
  'GET /v3/access/users/me': reference('User'),
  'GET /v3/access/acl/endpoints': listOf(reference('Endpoint')),
  'GET /v3/projects/{project_id}/stats': reference('Figures'),
  'GET /v3/projects/{project_id}/locked': truth,
  'POST /v3/projects/{project_id}/templates/{template_id}': reference('Node'),
  'POST /v3/projects/{project_id}/snapshots/{snapshot_id}/restore': reference('Project'),
  'GET /v3/projects/{project_id}/nodes/{node_id}/dynamips/auto_idlepc': object,
  'GET /v3/projects/{project_id}/nodes/{node_id}/dynamips/idlepc_proposals': listOf(text),
  'GET /v3/projects/{project_id}/links/{link_id}/available_filters': listOf(reference('Filter')),
  'GET /v3/projects/{project_id}/links/{link_id}/iface': reference('Interface'),
  'POST /v3/projects/{project_id}/nodes/{node_id}/files/{path:.+}': { type: 'null' },
  'GET /v3/symbols/default_symbols': mapOf(mapOf(text)),
  'GET /v3/symbols/{symbol_id:.+}/dimensions': reference('Size'),
  'POST /v3/computes/{compute_id}/dynamips/auto_idlepc': object,
};

export const V3_ANSWERS: AnswerTable = {
  objects: OBJECTS,
  answers: ANSWERS,
  nouns: {
    ...{ users: 'User', groups: 'Group', members: 'User', roles: 'Role', privileges: 'Privilege', acl: 'Entry' },
    ...{ pools: 'Pool', resources: 'Resource', images: 'Image', appliances: 'Appliance', templates: 'Template' },
    ...{ projects: 'Project', nodes: 'Node', links: 'Link', drawings: 'Drawing', snapshots: 'Snapshot' },
    ...{ symbols: 'Symbol', computes: 'Compute', engines: 'Engine', statistics: 'Statistics' },
  },
  single: { version: 'Version', iou_license: 'IouLicence', gns3vm: 'VirtualMachine' },
  unknown: /\{(?:emulator|engine)\}|\/notifications$/,
};
