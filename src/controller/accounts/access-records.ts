// Records of groups, roles, entries and pools, with those built in, and the rules that follow from them at one moment.
import { createHash } from 'node:crypto';
import * as v from 'valibot';
import { BUILT_IN_GROUPS, BUILT_IN_ROLES, PRIVILEGES } from '../../api/privileges.ts';
import { type Failure, notFound } from '../../failures.ts';
import type { DocumentKind } from '../../store/documents.ts';
import { mayChangeLab, type Rule, type Rules } from './entries.ts';

const Times = { created: v.string(), updated: v.string() };

const Group = v.object({ name: v.string(), members: v.array(v.string()), ...Times });
const RoleRecord = v.object({
  name: v.string(),
  description: v.nullable(v.string()),
  privileges: v.array(v.picklist([...PRIVILEGES.keys()])),
  ...Times,
});
const Entry = v.object({
  path: v.string(),
  type: v.picklist(['user', 'group']),
  /** Id of the account or group. */
  subject: v.string(),
  role: v.string(),
  propagate: v.boolean(),
  allowed: v.boolean(),
  ...Times,
});
const Pool = v.object({
  name: v.string(),
  /** By id, with the names that the labs had when they were put in. */
  labs: v.record(v.string(), v.object({ name: v.string(), ...Times })),
  ...Times,
});

export type Group = v.InferOutput<typeof Group>;
export type AccessRole = v.InferOutput<typeof RoleRecord>;
export type Entry = v.InferOutput<typeof Entry>;
export type Pool = v.InferOutput<typeof Pool>;
/** What a client says of an entry. */
export type EntryWords = Omit<Entry, 'created' | 'updated'>;

export interface Bodies {
  groups: Group;
  'access-roles': AccessRole;
  'access-entries': Entry;
  pools: Pool;
}
export type Kind = keyof Bodies & DocumentKind;
export type Records = { readonly [K in Kind]: ReadonlyMap<string, Bodies[K]> };

export const SCHEMAS = { groups: Group, 'access-roles': RoleRecord, 'access-entries': Entry, pools: Pool } as const;

/** Enough for a school; requests stay fast. */
export const MOST = { groups: 1_000, 'access-roles': 200, 'access-entries': 10_000, pools: 1_000 } as const;

export const BUILT_IN_SINCE = '2026-11-01T00:00:00.000Z';

/** Ids of built-in records are the same on all servers. */
export function builtInId(kind: string, name: string): string {
  const hex = createHash('sha256').update(`${kind} ${name}`).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

const since = { created: BUILT_IN_SINCE, updated: BUILT_IN_SINCE };

export const BUILT_IN = {
  groups: new Map<string, Group>(
    BUILT_IN_GROUPS.map((name) => [builtInId('group', name), { name, members: [], ...since }]),
  ),
  'access-roles': new Map<string, AccessRole>(
    Object.entries(BUILT_IN_ROLES).map(([name, { description, privileges }]) => [
      builtInId('role', name),
      { name, description, privileges: [...privileges], ...since },
    ]),
  ),
};

export const isBuiltIn = (id: string): boolean => BUILT_IN.groups.has(id) || BUILT_IN['access-roles'].has(id);

export const NOUNS: Readonly<Record<Kind, { one: string; id: string }>> = {
  groups: { one: 'group', id: 'user_group_id' },
  'access-roles': { one: 'role', id: 'role_id' },
  'access-entries': { one: 'entry of the access list', id: 'ace_id' },
  pools: { one: 'pool', id: 'resource_pool_id' },
};

export function missing(kind: Kind, id: string): Failure {
  return notFound(`${NOUNS[kind].id}: there is no ${NOUNS[kind].one} ${id}.`);
}

/** The rules of each account and group, and the pools of each lab, at one moment. */
export class Index {
  readonly #byAccount = new Map<string, Rule[]>();
  readonly #byGroup = new Map<string, Rule[]>();
  readonly #groupsOf = new Map<string, string[]>();
  readonly #poolsOf = new Map<string, string[]>();
  readonly #rules: Rule[] = [];

  constructor(records: Records) {
    for (const { type, subject, role, path, propagate, allowed } of records['access-entries'].values()) {
      const privileges = records['access-roles'].get(role)?.privileges;
      if (privileges === undefined) continue;
      const rule = { path, propagate, allowed, privileges: new Set(privileges) };
      this.#rules.push(rule);
      append(type === 'user' ? this.#byAccount : this.#byGroup, subject, rule);
    }
    for (const [id, { members }] of records.groups) for (const member of members) append(this.#groupsOf, member, id);
    for (const [id, { labs }] of records.pools) for (const lab of Object.keys(labs)) append(this.#poolsOf, lab, id);
  }

  get isEmpty(): boolean {
    return this.#rules.length === 0;
  }

  groupsOf(account: string): readonly string[] {
    return this.#groupsOf.get(account) ?? [];
  }

  rulesOf(account: string): Rules {
    const groups = this.groupsOf(account);
    return {
      own: this.#byAccount.get(account) ?? [],
      groups: groups.flatMap((group) => this.#byGroup.get(group) ?? []),
    };
  }

  readonly poolsOf = (lab: string): readonly string[] => this.#poolsOf.get(lab) ?? [];

  mayChange(lab: string): boolean {
    return this.#rules.some((rule) => mayChangeLab(rule, lab, this.poolsOf(lab)));
  }
}

function append<T>(map: Map<string, T[]>, key: string, value: T): void {
  const list = map.get(key);
  if (list) list.push(value);
  else map.set(key, [value]);
}
