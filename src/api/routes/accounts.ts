// Accounts, tokens, groups, lab sharing and the audit trail: the bodies and the routes.
import * as v from 'valibot';
import { ACCESSES, ROLES, TOKEN_ROLES } from '../accounts.ts';
import { AuditLine } from '../objects.ts';
import { Name, named, Text, Timestamp, Uuid } from '../vocabulary.ts';
import { GroupName } from './access.ts';
import { answers, type RouteDefinitions } from './definition.ts';

export const AccountCreate = v.strictObject({ name: Text, role: v.picklist(ROLES), password: Text });

export const AccountUpdate = v.strictObject({ role: v.optional(v.picklist(ROLES)), password: v.optional(Text) });

export const OwnPassword = v.strictObject({ password: Text });

const MOST_DAYS = 3_650;

export const TokenCreate = v.strictObject({
  name: v.pipe(Name, v.maxLength(64)),
  role: v.optional(v.nullable(v.picklist(TOKEN_ROLES)), null),
  days: v.optional(v.nullable(v.pipe(v.number(), v.minValue(0), v.maxValue(MOST_DAYS))), 90),
  account: v.optional(Text),
});

export const SharingUpdate = v.strictObject({
  owner: v.optional(v.nullable(Text)),
  everybody: v.optional(v.picklist(ACCESSES)),
  /** The whole list. */
  accounts: v.optional(v.record(Text, v.picklist(['watch', 'change']))),
  /** Only these accounts, after `accounts`; `none` removes one. */
  update: v.optional(v.record(Text, v.picklist(ACCESSES))),
  /** Only these groups; `none` removes one. */
  groups: v.optional(v.record(Text, v.picklist(ACCESSES))),
});

export const GroupCreation = v.strictObject({ name: GroupName, accounts: v.optional(v.array(Text), []) });

export const GroupChange = v.strictObject({
  name: v.optional(GroupName),
  add: v.optional(v.array(Text), []),
  remove: v.optional(v.array(Text), []),
});

export const AccountObject = v.object({
  /** Whether this server requires a login. */
  login: v.boolean(),
  /** Whether there are other accounts. */
  others: v.boolean(),
  name: v.nullable(v.string()),
  role: v.picklist(ROLES),
});
export type AccountObject = v.InferOutput<typeof AccountObject>;

export const SharingObject = named('Sharing', {
  /** Null if the lab has no owner. */
  owner: v.nullable(v.string()),
  everybody: v.picklist(ACCESSES),
  accounts: v.record(v.string(), v.picklist(ACCESSES)),
  groups: v.record(v.string(), v.picklist(ACCESSES)),
  /** Of the client. */
  access: v.picklist(ACCESSES),
  may_share: v.boolean(),
});
export type SharingObject = v.InferOutput<typeof SharingObject>;

/** How a lab is shared with the logged-in account. */
export const Share = named('Share', {
  project_id: Uuid,
  /** Null if the lab has no owner. */
  owner: v.nullable(v.string()),
  access: v.picklist(ACCESSES),
  may_share: v.boolean(),
});
export type Share = v.InferOutput<typeof Share>;

/** As in the list of accounts. */
export const Account = named('Account', {
  name: v.string(),
  role: v.picklist(ROLES),
  /** Null for an account kept by the host, which has its password. */
  created: v.nullable(Timestamp),
});
export type Account = v.InferOutput<typeof Account>;

export const TokenObject = named('Token', {
  token_id: Uuid,
  name: v.string(),
  role: v.nullable(v.picklist(TOKEN_ROLES)),
  /** ISO 8601. */
  created: Timestamp,
  /** ISO 8601; null: for ever. */
  expires: v.nullable(Timestamp),
  last_used: v.nullable(Timestamp),
});
export type TokenObject = v.InferOutput<typeof TokenObject>;

export const GroupObject = named('Group', {
  name: v.string(),
  built_in: v.boolean(),
  accounts: v.array(v.string()),
});
export type GroupObject = v.InferOutput<typeof GroupObject>;

// biome-ignore format: a table
export const ACCOUNT_ROUTES = {
  'GET /v2/account':
    { access: 'read', answer: answers(named('OwnAccount', { ...AccountObject.entries, token: v.nullable(v.string()) })), summary: 'Who is logged in, and as what (an extension)' },
  'PUT /v2/account/password':
    { keeps: 'accounts', access: 'read', body: OwnPassword, status: 204, summary: 'Change the password of who is logged in (an extension)',
      errors: [403, 409] },
  'GET /v2/account/tokens':
    { access: 'read', answer: answers(v.array(TokenObject)), summary: 'List the tokens of who is logged in (an extension)',
      errors: [403, 404, 409], query: { account: 'Those of this account; admins' } },
  'POST /v2/account/tokens':
    { keeps: 'accounts', access: 'read', body: TokenCreate, status: 201, answer: answers(named('NewToken', { ...TokenObject.entries, token: v.string() })),
      summary: 'Create a token for a program; its text is answered this once (an extension)', errors: [403, 404, 409] },
  'DELETE /v2/account/tokens/{token_id}':
    { keeps: 'accounts', access: 'read', status: 204, summary: 'Revoke a token (an extension)', errors: [404, 409] },
  'GET /v2/accounts':
    { access: 'read', privilege: 'User.Audit', entryPath: '/access/users', answer: answers(v.array(Account)),
      summary: 'List accounts (an extension)' },
  'POST /v2/accounts':
    { keeps: 'accounts', body: AccountCreate, status: 201, answer: answers(Account), summary: 'Create an account (an extension; admins)',
      errors: [403, 409] },
  'PUT /v2/accounts/{name}':
    { keeps: 'accounts', body: AccountUpdate, answer: answers(Account),
      summary: 'Change role or password of an account (an extension; admins)', errors: [403, 404, 409] },
  'DELETE /v2/accounts/{name}':
    { keeps: 'accounts', status: 204, summary: 'Delete an account (an extension; admins)', errors: [403, 404, 409] },
  'GET /v2/project-sharing':
    { access: 'read', answer: answers(v.array(Share)),
      summary: 'The owner of each lab, and what the client may do with it (an extension)' },
  'GET /v2/projects/{project_id}/sharing':
    { access: 'watch', privilege: 'Project.Audit', answer: answers(SharingObject),
      summary: 'The owner of a project, and the accounts with which it is shared (an extension)', errors: [404] },
  'PUT /v2/projects/{project_id}/sharing':
    { access: 'change', body: SharingUpdate, answer: answers(SharingObject),
      summary: 'Share a project, or give it to another account (an extension; its owner and admins)',
      errors: [403, 404, 409] },
  'GET /v2/audit':
    { answer: answers(v.array(AuditLine)), summary: 'Last lines of the audit trail (an extension; admins)', errors: [403],
      query: { last: 'How many lines, 200 unless given', account: 'Only what this account did', project: 'Only what was done to the lab of this name or id' } },
  'GET /v2/groups':
    { access: 'read', privilege: 'Group.Audit', entryPath: '/access/groups', answer: answers(v.array(GroupObject)),
      summary: 'List groups of accounts (an extension)' },
  'POST /v2/groups':
    { body: GroupCreation, status: 201, answer: answers(GroupObject),
      summary: 'Create a group of accounts (an extension; admins)', errors: [403, 409] },
  'PUT /v2/groups/{name}':
    { body: GroupChange, answer: answers(GroupObject),
      summary: 'Rename a group, add and remove accounts (an extension; admins)', errors: [403, 404, 409] },
  'DELETE /v2/groups/{name}':
    { status: 204, summary: 'Delete a group (an extension; admins)', errors: [403, 404, 409] },
} as const satisfies RouteDefinitions;
