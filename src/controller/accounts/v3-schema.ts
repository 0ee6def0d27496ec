// Bodies and objects of users, groups, roles, access list and pools, as release 3.0.6 has them. Unknown members are ignored.
import * as v from 'valibot';
import { PRIVILEGES, type Privilege } from '../../api/privileges.ts';
import { HOST_ACCOUNT } from '../../http/access/authentication.ts';
import type { StoredAccount } from '../../store/accounts.ts';
import type { Role } from '../../store/roles.ts';
import {
  type AccessRole,
  BUILT_IN_SINCE,
  builtInId,
  type Entry,
  type Group,
  isBuiltIn,
  type Pool,
} from './access-records.ts';

const Id = v.pipe(v.string(), v.uuid());

const YES = new Set<unknown>([true, 1, '1', 'true', 't', 'yes', 'y', 'on']);
const NO = new Set<unknown>([false, 0, '0', 'false', 'f', 'no', 'n', 'off']);
/** Truth values as the release reads them. */
const Truth = v.pipe(
  v.union([v.boolean(), v.number(), v.string()]),
  v.transform((given) => (typeof given === 'string' ? given.toLowerCase() : given)),
  v.check((given) => YES.has(given) || NO.has(given), 'Expected true or false'),
  v.transform((given) => YES.has(given)),
);

/** Of users and groups. */
export const GroupName = v.pipe(
  v.string(),
  v.minLength(3, 'Expected at least 3 characters'),
  v.regex(/[a-zA-Z0-9_-]$/, 'Expected a letter, digit, "_" or "-" at the end'),
);
const Password = v.pipe(
  v.string(),
  v.minLength(8, 'Expected at least 8 characters'),
  v.maxLength(100, 'Expected at most 100 characters'),
);
const Email = v.pipe(v.string(), v.email('Expected an e-mail address'));

const personal = {
  email: v.nullish(Email),
  full_name: v.nullish(v.string()),
};

export const UserCreate = v.object({
  username: GroupName,
  password: Password,
  ...personal,
  is_active: v.optional(Truth, true),
});
export const UserUpdate = v.object({
  username: v.nullish(GroupName),
  password: v.nullish(Password),
  ...personal,
  is_active: v.optional(Truth),
});
export const OwnUserUpdate = v.object({ password: v.nullish(Password), ...personal });

export const GroupCreate = v.object({ name: GroupName });
export const GroupUpdate = v.object({ name: v.nullish(GroupName) });

const RoleName = v.pipe(v.string(), v.nonEmpty());
export const RoleCreate = v.object({ name: RoleName, description: v.nullish(v.string()) });
export const RoleUpdate = v.object({ name: v.nullish(RoleName), description: v.nullish(v.string()) });

export const PoolWords = v.object({ name: v.pipe(v.string(), v.nonEmpty()) });

export const EntryBody = v.object({
  ace_type: v.picklist(['user', 'group']),
  path: v.string(),
  role_id: Id,
  user_id: v.nullish(Id),
  group_id: v.nullish(Id),
  propagate: v.nullish(Truth, true),
  allowed: v.nullish(Truth, true),
});

/** The id of the account that the configuration or `account.json` has, which is no UUID in the files. */
const HOST_USER = builtInId('user', HOST_ACCOUNT);

export const userIdOf = (account: string): string => (account === HOST_ACCOUNT ? HOST_USER : account);
export const accountIdOf = (userId: string): string => (userId === HOST_USER ? HOST_ACCOUNT : userId);

/** An account as far as the API shows it. */
export interface Person extends Partial<Pick<StoredAccount, 'updated' | 'email' | 'full_name' | 'locked'>> {
  id: string;
  name: string;
  role: Role;
  /** Missing for the account of the host. */
  created?: string;
}

/** ISO 8601 without zone, in whole seconds. */
const timeJson = (time: string): string => time.slice(0, 19);

const timesJson = ({ created, updated }: { created: string; updated: string }) => ({
  created_at: timeJson(created),
  updated_at: timeJson(updated),
});

export function userJson(person: Person, lastLogin: string | undefined): object {
  const { id, name, role, email = null, full_name = null, locked = false, created = BUILT_IN_SINCE } = person;
  return {
    username: name,
    is_active: !locked,
    email,
    full_name,
    ...timesJson({ created, updated: person.updated ?? created }),
    user_id: userIdOf(id),
    last_login: lastLogin === undefined ? null : timeJson(lastLogin),
    is_superadmin: role === 'admin',
  };
}

export function groupJson(group: Group & { id: string }): object {
  return { name: group.name, ...timesJson(group), user_group_id: group.id, is_builtin: isBuiltIn(group.id) };
}

/** By id. */
export const PRIVILEGE_IDS: ReadonlyMap<string, Privilege> = new Map(
  [...PRIVILEGES.keys()].map((name) => [builtInId('privilege', name), name]),
);

export function privilegeJson(name: Privilege): object {
  const times = timesJson({ created: BUILT_IN_SINCE, updated: BUILT_IN_SINCE });
  return { name, description: PRIVILEGES.get(name), ...times, privilege_id: builtInId('privilege', name) };
}

export const privilegesJson = (names: readonly Privilege[]): object[] => [...names].sort().map(privilegeJson);

export function roleJson(role: AccessRole & { id: string }): object {
  const { id, name, description, privileges } = role;
  return {
    name,
    description,
    ...timesJson(role),
    role_id: id,
    is_builtin: isBuiltIn(id),
    privileges: privilegesJson(privileges),
  };
}

export function entryJson(entry: Entry & { id: string }): object {
  const { type, path, propagate, allowed, subject, role, id } = entry;
  return {
    ace_type: type,
    path,
    propagate,
    allowed,
    user_id: type === 'user' ? userIdOf(subject) : null,
    group_id: type === 'group' ? subject : null,
    role_id: role,
    ...timesJson(entry),
    ace_id: id,
  };
}

export function poolJson(pool: Pool & { id: string }): object {
  return { name: pool.name, ...timesJson(pool), resource_pool_id: pool.id };
}

export function resourcesJson({ labs }: Pool): object[] {
  return Object.entries(labs).map(([id, lab]) => ({
    resource_id: id,
    resource_type: 'project',
    name: lab.name,
    ...timesJson(lab),
  }));
}
