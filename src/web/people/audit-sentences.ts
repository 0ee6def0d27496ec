// A line of the audit trail as a sentence: what somebody has asked for, with the names that the trail knows.
import { WORDS } from '../words.ts';
import { AUDIT_WORDS } from './audit-words.ts';

const words = WORDS.people;

export interface AuditLine {
  time: string;
  account: string;
  token?: string;
  address: string;
  action: string;
  objects: Readonly<Record<string, string>>;
  /** 0: a command on the host that succeeded. */
  status: number;
  request?: string;
  /** Refused requests that the line stands for. */
  refused?: number;
  /** Lines before it that the disk did not take; there is nothing else then. */
  lost?: number;
}

/** Letters of an identifier in a sentence; the details have the whole. */
const SHORT = 8;
/** What a name in an answer is of, if there is more than one identifier. */
const NAMED = ['node_id', 'snapshot_id', 'token_id', 'template_id', 'compute_id'] as const;
/** What a line is about, if nothing has a name. */
const MEMBERS = [
  ...NAMED,
  'link_id',
  'drawing_id',
  'path',
  'symbol_id',
  'action',
  'appliance_id',
  'upload_id',
] as const;

/** Names by identifier, as the lines tell them; the newest of each. A thing that was deleted since has its name here, too. */
export function namesIn(lines: readonly AuditLine[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const { action, objects = {} } of lines) {
    const { project_id: lab, project, name } = objects;
    if (lab !== undefined && project !== undefined) names.set(lab, project);
    // The identifier of a copy is not in its line, but that of its model.
    if (name === undefined || /\/duplicate$/.test(action)) continue;
    const member = NAMED.find((one) => objects[one] !== undefined);
    const id = member === undefined ? lab : objects[member];
    if (id !== undefined) names.set(id, name);
  }
  return names;
}

/** What was asked for; of a route without words its own words. */
export function deedOf({ action, objects = {} }: AuditLine, names: ReadonlyMap<string, string>): string {
  if (action.startsWith('labwired ')) return words.command(action, objects['account'] ?? '');
  const deed = AUDIT_WORDS[action.replace(' /v2/', ' ')];
  const { project_id: lab = '', project, name, filename } = objects;
  if (!deed) return [action, ...Object.values(objects)].join(' ');
  const member = MEMBERS.find((one) => objects[one] !== undefined);
  const id = member === undefined ? undefined : objects[member];
  const thing = name ?? filename ?? (id === undefined ? undefined : (names.get(id) ?? shortened(member!, id)));
  return deed(
    thing ?? '',
    project ?? (lab === '' ? (name ?? '') : (names.get(lab) ?? shortened('project_id', lab))),
  ).trim();
}

function shortened(member: string, id: string): string {
  return member.endsWith('_id') && /^[0-9a-f]{8}-/.test(id) ? id.slice(0, SHORT) : id;
}
