// Users, groups, roles, the access list and pools as release 3.0.6 has them: the bodies and the routes.
import * as v from 'valibot';
import { answers, type RouteDefinitions } from './definition.ts';

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

export const Credentials = v.object({ username: v.string(), password: v.string() });

export const LoginForm = v.object({
  ...Credentials.entries,
  grant_type: v.optional(v.literal('password', 'Expected "password"')),
});

// biome-ignore format: a table
export const ACCESS_ROUTES = {
  'POST /v3/access/users/authenticate':
    { access: 'read', open: true, unaudited: true, body: Credentials, answer: answers<object>(),
      summary: 'Log in with a name and a password', errors: [401, 429] },
  'POST /v3/access/users/login':
    { access: 'read', open: true, unaudited: true, body: LoginForm, answer: answers<object>(),
      summary: 'Log in by a form', errors: [401, 429] },
  'GET /v3/access/users/me': { access: 'read', answer: answers<object>(), summary: 'Read the user who is logged in' },
  'PUT /v3/access/users/me':
    { keeps: 'accounts', access: 'read', body: OwnUserUpdate, answer: answers<object>(),
      summary: 'Change address, name or password of the user who is logged in' },
  'GET /v3/access/users': { privilege: 'User.Audit', answer: answers<object>(), summary: 'List users' },
  'POST /v3/access/users':
    { keeps: 'accounts', privilege: 'User.Allocate', body: UserCreate, status: 201, answer: answers<object>(),
      summary: 'Create a user, who has no rights before an entry of the access list grants some' },
  'GET /v3/access/users/{user_id}': { privilege: 'User.Audit', answer: answers<object>(), summary: 'Read a user' },
  'PUT /v3/access/users/{user_id}':
    { keeps: 'accounts', privilege: 'User.Modify', body: UserUpdate, answer: answers<object>(), summary: 'Update a user' },
  'DELETE /v3/access/users/{user_id}': { keeps: 'accounts', privilege: 'User.Allocate', status: 204, summary: 'Delete a user' },
  'GET /v3/access/users/{user_id}/groups':
    { privilege: 'Group.Audit', answer: answers<object>(), summary: 'List the groups of a user' },
  'GET /v3/access/groups': { privilege: 'Group.Audit', answer: answers<object>(), summary: 'List groups' },
  'POST /v3/access/groups':
    { privilege: 'Group.Allocate', body: GroupCreate, status: 201, answer: answers<object>(),
      summary: 'Create a group' },
  'GET /v3/access/groups/{user_group_id}':
    { privilege: 'Group.Audit', answer: answers<object>(), summary: 'Read a group' },
  'PUT /v3/access/groups/{user_group_id}':
    { privilege: 'Group.Modify', body: GroupUpdate, answer: answers<object>(), summary: 'Rename a group' },
  'DELETE /v3/access/groups/{user_group_id}': { privilege: 'Group.Allocate', status: 204, summary: 'Delete a group' },
  'GET /v3/access/groups/{user_group_id}/members':
    { privilege: 'Group.Audit', answer: answers<object>(), summary: 'List the users of a group' },
  'PUT /v3/access/groups/{user_group_id}/members/{user_id}':
    { privilege: 'Group.Modify', status: 204, summary: 'Add a user to a group' },
  'DELETE /v3/access/groups/{user_group_id}/members/{user_id}':
    { privilege: 'Group.Modify', status: 204, summary: 'Remove a user from a group' },
  'GET /v3/access/privileges': { access: 'read', answer: answers<object>(), summary: 'List privileges' },
  'GET /v3/access/roles': { privilege: 'Role.Audit', answer: answers<object>(), summary: 'List roles' },
  'POST /v3/access/roles':
    { privilege: 'Role.Allocate', body: RoleCreate, status: 201, answer: answers<object>(), summary: 'Create a role' },
  'GET /v3/access/roles/{role_id}': { privilege: 'Role.Audit', answer: answers<object>(), summary: 'Read a role' },
  'PUT /v3/access/roles/{role_id}':
    { privilege: 'Role.Modify', body: RoleUpdate, answer: answers<object>(), summary: 'Update a role' },
  'DELETE /v3/access/roles/{role_id}':
    { privilege: 'Role.Allocate', status: 204, summary: 'Delete a role and its entries of the access list' },
  'GET /v3/access/roles/{role_id}/privileges':
    { privilege: 'Role.Audit', answer: answers<object>(), summary: 'List the privileges of a role' },
  'PUT /v3/access/roles/{role_id}/privileges/{privilege_id}':
    { privilege: 'Role.Modify', status: 204, summary: 'Add a privilege to a role' },
  'DELETE /v3/access/roles/{role_id}/privileges/{privilege_id}':
    { privilege: 'Role.Modify', status: 204, summary: 'Remove a privilege from a role' },
  'GET /v3/access/acl/endpoints':
    { privilege: 'ACE.Audit', status: 201, answer: answers<object>(), summary: 'List the paths that entries can name' },
  'GET /v3/access/acl':
    { privilege: 'ACE.Audit', answer: answers<object>(), summary: 'List the entries of the access list' },
  'POST /v3/access/acl':
    { privilege: 'ACE.Allocate', body: EntryBody, status: 201, answer: answers<object>(),
      summary: 'Create an entry of the access list', errors: [404] },
  'GET /v3/access/acl/{ace_id}':
    { privilege: 'ACE.Audit', answer: answers<object>(), summary: 'Read an entry of the access list' },
  'PUT /v3/access/acl/{ace_id}':
    { privilege: 'ACE.Modify', body: EntryBody, answer: answers<object>(),
      summary: 'Update an entry of the access list' },
  'DELETE /v3/access/acl/{ace_id}':
    { privilege: 'ACE.Allocate', status: 204, summary: 'Delete an entry of the access list' },
  'GET /v3/pools': { privilege: 'Pool.Audit', answer: answers<object>(), summary: 'List pools of labs' },
  'POST /v3/pools':
    { privilege: 'Pool.Allocate', body: PoolWords, status: 201, answer: answers<object>(),
      summary: 'Create a pool of labs' },
  'GET /v3/pools/{resource_pool_id}': { privilege: 'Pool.Audit', answer: answers<object>(), summary: 'Read a pool' },
  'PUT /v3/pools/{resource_pool_id}':
    { privilege: 'Pool.Modify', body: PoolWords, answer: answers<object>(), summary: 'Rename a pool' },
  'DELETE /v3/pools/{resource_pool_id}': { privilege: 'Pool.Allocate', status: 204, summary: 'Delete a pool' },
  'GET /v3/pools/{resource_pool_id}/resources':
    { privilege: 'Pool.Audit', answer: answers<object>(), summary: 'List the labs of a pool' },
  'PUT /v3/pools/{resource_pool_id}/resources/{resource_id}':
    { privilege: 'Pool.Modify', status: 204, summary: 'Add a lab to a pool' },
  'DELETE /v3/pools/{resource_pool_id}/resources/{resource_id}':
    { privilege: 'Pool.Modify', status: 204, summary: 'Remove a lab from all pools' },
} as const satisfies RouteDefinitions;
