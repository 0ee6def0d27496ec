// Turns a line of the audit trail into a sentence with names from the trail.
import type { AuditLine } from '../../api/objects.ts';
import { WORDS } from '../words.ts';
import { AUDIT_WORDS } from './audit-words.ts';

const words = WORDS.people;

/** Letters of an id in a sentence; the details show all of it. */
const SHORT = 8;
/** Which id a name in an answer belongs to, if there are several. */
const NAMED = [
  ...['node_id', 'snapshot_id', 'token_id', 'template_id', 'compute_id'],
  ...['user_id', 'user_group_id', 'role_id', 'resource_pool_id'],
] as const;
/** Members that describe the request if nothing has a name. */
const MEMBERS = [
  ...NAMED,
  'link_id',
  'drawing_id',
  'path',
  'ace_id',
  'symbol_id',
  'action',
  'appliance_id',
  'upload_id',
] as const;

/** Names by id, the newest of each; deleted objects keep theirs. */
export function namesIn(lines: readonly AuditLine[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const { action, objects = {} } of lines) {
    const { project_id: lab, project, username, name = username } = objects;
    if (lab !== undefined && project !== undefined) names.set(lab, project);
    // The line of a copy has the id of its original.
    if (name === undefined || /\/duplicate$/.test(action)) continue;
    const member = NAMED.find((one) => objects[one] !== undefined);
    const id = member === undefined ? lab : objects[member];
    if (id !== undefined) names.set(id, name);
  }
  return names;
}

/** The request as a sentence; a route without text as it is. */
export function deedOf({ action, objects = {} }: AuditLine, names: ReadonlyMap<string, string>): string {
  if (action.startsWith('labwired ')) return words.command(action, objects['account'] ?? '');
  const deed = AUDIT_WORDS[action.replace(/ \/v[23]\//, ' ')];
  const { project_id: lab = '', project, username, name = username, filename } = objects;
  if (!deed) return [action, ...Object.values(objects)].join(' ');
  const member = MEMBERS.find((one) => objects[one] !== undefined);
  const id = member === undefined ? undefined : objects[member];
  const thing = name ?? filename ?? (id === undefined ? undefined : (names.get(id) ?? shortened(member!, id)));
  const ofLab = project ?? (lab === '' ? name : (names.get(lab) ?? shortened('project_id', lab)));
  return deed.replace(/\{(thing|lab)\}/g, (_, place) => (place === 'lab' ? ofLab : thing) ?? '').trim();
}

function shortened(member: string, id: string): string {
  return member.endsWith('_id') && /^[0-9a-f]{8}-/.test(id) ? id.slice(0, SHORT) : id;
}
