import type { Role } from '../../api/accounts.ts';
import { PRIVILEGES, type Privilege } from '../../api/privileges.ts';
import { HOST_ACCOUNT } from '../../http/access/authentication.ts';
import type { StoredAccount } from '../../store/accounts.ts';
import {
  type AccessRole,
  BUILT_IN_SINCE,
  builtInId,
  type Entry,
  type Group,
  isBuiltIn,
  type Pool,
} from './access-records.ts';

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
