// Projects and their archives: the bodies and the routes.
import * as v from 'valibot';
import type { ProjectObject } from '../objects.ts';
import { PROJECT_SETTINGS } from '../topology.ts';
import { Integer, Name, NodeStatus, named, Text, Timestamp, Uuid } from '../vocabulary.ts';
import { answers, type RouteDefinitions } from './definition.ts';

export const ProjectCreate = v.strictObject({
  ...PROJECT_SETTINGS,
  name: v.nullable(Name),
  path: v.optional(v.nullable(Text)),
  project_id: v.optional(v.nullable(Uuid)),
});
export type ProjectCreate = v.InferOutput<typeof ProjectCreate>;

/**
 * A client may send a project back unchanged. Old labs have names that are no longer valid, so names are checked only
 * when they change.
 */
export const ProjectUpdate = v.strictObject({
  ...PROJECT_SETTINGS,
  name: v.optional(v.nullable(Text)),
  path: v.optional(v.nullable(v.string())),
});
export type ProjectUpdate = v.InferOutput<typeof ProjectUpdate>;

export const ProjectLoad = v.strictObject({
  path: v.pipe(
    Text,
    v.check((path) => !path.includes('\0'), 'a path without NUL'),
  ),
});

export const Notes = v.strictObject({ text: v.string() });
export type Notes = v.InferOutput<typeof Notes>;

/**
 * `ProjectDuplicate` of the API; settings are accepted and ignored. Copies get new MAC addresses by default, as both
 * labs may be connected.
 */
export const ProjectDuplicate = v.strictObject({
  ...PROJECT_SETTINGS,
  name: v.nullable(Name),
  path: v.optional(v.nullable(Text)),
  project_id: v.optional(v.nullable(Uuid)),
  reset_mac_addresses: v.optional(v.boolean(), true),
});

export const JournalEntry = named('JournalEntry', {
  /** The time in RFC 3339 with milliseconds, UTC. */
  at: Timestamp,
  /** Set for a message. */
  level: v.nullable(v.picklist(['error', 'warning', 'info'])),
  message: v.nullable(v.string()),
  /** Set for a status change. */
  node_id: v.nullable(Uuid),
  status: v.nullable(NodeStatus),
});
export type JournalEntry = v.InferOutput<typeof JournalEntry>;

export const LabFigures = named('LabFigures', {
  project_id: Uuid,
  nodes: Integer,
  running: Integer,
  /** Until a lab with `auto_close` closes because its last listener has left; null while it has listeners, or had none yet. */
  closes_in_seconds: v.nullable(v.number()),
});
export type LabFigures = v.InferOutput<typeof LabFigures>;

// biome-ignore format: a table
export const PROJECT_ROUTES = {
  'GET /v2/projects': { access: 'read', answer: answers<ProjectObject[]>(), summary: 'List projects' },
  'POST /v2/projects':
    { access: 'use', privilege: 'Project.Allocate', body: ProjectCreate, status: 201, answer: answers<ProjectObject>(),
      summary: 'Create a project' },
  'POST /v2/projects/load':
    { body: ProjectLoad, status: 201, answer: answers<ProjectObject>(),
      summary: 'Open a project by the path of its file (local mode only)', errors: [404] },
  'GET /v2/projects/{project_id}':
    { access: 'watch', privilege: 'Project.Audit', answer: answers<ProjectObject>(), summary: 'Read a project' },
  'PUT /v2/projects/{project_id}':
    { access: 'change', privilege: 'Project.Modify', body: ProjectUpdate, answer: answers<ProjectObject>(),
      summary: 'Update a project' },
  'DELETE /v2/projects/{project_id}':
    { keeps: 'project', access: 'change', privilege: 'Project.Allocate', status: 204, summary: 'Delete a project and its files' },
  'GET /v2/projects/{project_id}/stats':
    { access: 'watch', privilege: 'Project.Audit',
      answer: answers(named('Figures', { nodes: Integer, links: Integer, drawings: Integer, snapshots: Integer })),
      summary: 'Count what is in a project' },
  'GET /v2/project-figures':
    { access: 'read', answer: answers(v.array(LabFigures)),
      summary: 'Nodes of each open project, how many run, and when `auto_close` closes it (an extension)' },
  'GET /v2/project-changes':
    { access: 'read', answer: answers(v.array(named('LabChange', { project_id: Uuid, changed_at: v.nullable(Timestamp) }))),
      summary: 'When each project was changed last (an extension)' },
  'GET /v2/projects/{project_id}/thumbnail':
    { access: 'watch', privilege: 'Project.Audit', raw: true,
      summary: 'A small picture of the map of a lab, open or closed (an extension)', errors: [404, 409],
      answerType: 'image/svg+xml' },
  'GET /v2/projects/{project_id}/notes':
    { access: 'watch', privilege: 'Project.Audit', answer: answers(Notes),
      summary: 'Read the notes of a lab, the text of its README.txt (an extension)' },
  'PUT /v2/projects/{project_id}/notes':
    { keeps: 'project', access: 'change', privilege: 'Project.Modify', body: Notes, status: 204,
      summary: 'Write the notes of a lab (an extension)' },
  'GET /v2/projects/{project_id}/journal':
    { access: 'watch', privilege: 'Project.Audit', answer: answers(v.array(JournalEntry)),
      summary: 'Read the journal of a lab: its last 500 messages and changes of state (an extension)',
      query: { node_id: 'Only what is about this node' } },
  'GET /v2/projects/{project_id}/journal/stream':
    { access: 'watch', privilege: 'Project.Audit',
      summary: 'The same, and then each entry as it is made, a line of JSON each (an extension)',
      query: { node_id: 'Only what is about this node' }, answerType: 'application/json' },
  'POST /v2/projects/{project_id}/open':
    { access: 'change', privilege: 'Project.Allocate', status: 201, answer: answers<ProjectObject>(),
      summary: 'Open a project' },
  'POST /v2/projects/{project_id}/close':
    { access: 'change', privilege: 'Project.Allocate', status: 204, summary: 'Close a project', errors: [413] },
  'GET /v2/projects/{project_id}/files/{path:.+}':
    { access: 'watch', privilege: 'Project.Audit', raw: true, summary: 'Get a file from a project' },
  'POST /v2/projects/{project_id}/files/{path:.+}':
    { keeps: 'project', access: 'change', privilege: 'Project.Modify', raw: true, status: 201, summary: 'Write a file to a project',
      errors: [408, 507], answerType: '' },
  'GET /v2/projects/{project_id}/notifications':
    { access: 'watch', privilege: 'Project.Audit', summary: 'Notification stream of a project, a line per event',
      answerType: 'application/json' },
  'GET /v2/projects/{project_id}/notifications/ws':
    { access: 'watch', privilege: 'Project.Audit', socket: true, summary: 'Notification stream of a project' },
  'GET /v2/projects/{project_id}/export':
    { access: 'watch', privilege: 'Project.Audit', raw: true, summary: 'Export a project as an archive',
      errors: [400, 409],
      query: { compression: 'zip (default) or none', include_images: 'yes: with the images of its nodes', include_snapshots: 'yes: with its snapshots', reset_mac_addresses: 'yes: without MAC addresses, so that the copy gets its own', keep_compute_ids: 'yes: with the computes of its nodes', check: 'yes: answers 204 without an archive, or the error that an export would have (an extension)' },
      answerType: 'application/gns3project' },
  'POST /v2/projects/{project_id}/import':
    { keeps: 'project', access: 'use', privilege: 'Project.Allocate', raw: true, status: 201, answer: answers<ProjectObject>(),
      summary: 'Import a project from an archive', errors: [400, 408, 413, 507],
      query: { name: 'Name of the project', path: 'Directory of the project (local mode only)', reset_mac_addresses: 'yes: without the MAC addresses of the archive, so that nodes get new ones (an extension)' },
      answerType: 'application/json' },
  'POST /v2/projects/{project_id}/duplicate':
    { keeps: 'project', access: 'watch', privilege: 'Project.Audit', body: ProjectDuplicate, status: 201,
      answer: answers<ProjectObject>(), summary: 'Duplicate a project', errors: [507] },
} as const satisfies RouteDefinitions;
