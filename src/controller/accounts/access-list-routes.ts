// Groups, roles, privileges, the access list and pools over HTTP, as release 3.0.6 has them.

import type * as v from 'valibot';
import { PRIVILEGES, type Privilege } from '../../api/privileges.ts';
import { ACCESS_ROUTES, type EntryBody } from '../../api/routes/access.ts';
import { conflict, notFound } from '../../failures.ts';
import type { Identity } from '../../http/access/identity.ts';
import type { HttpRoute } from '../../http/app/route.ts';
import { v3RoutesOf } from '../../http/v3/form.ts';
import type { Projects } from '../projects/projects.ts';
import type { Templates } from '../templates/templates.ts';
import type { AccessList } from './access-list.ts';
import type { EntryWords } from './access-records.ts';
import { checkedEntryPath } from './entry-paths.ts';
import type { LastUses } from './last-uses.ts';
import type { AccountDirectory } from './routes.ts';
import { noProject, type Sharing } from './sharing.ts';
import { peopleOf } from './user-routes.ts';
import {
  accountIdOf,
  entryJson,
  groupJson,
  PRIVILEGE_IDS,
  poolJson,
  privilegesJson,
  resourcesJson,
  roleJson,
  userIdOf,
  userJson,
} from './v3-schema.ts';

const { route } = v3RoutesOf(ACCESS_ROUTES, { conflict: 400 });

export interface AccessListRouteParts extends AccountDirectory {
  entries: AccessList;
  sharing: Sharing;
  projects: Projects;
  templates: Templates;
  logins: LastUses;
}

export function accessListRoutes(parts: AccessListRouteParts): HttpRoute[] {
  return [...groupRoutes(parts), ...roleRoutes(parts), ...entryRoutes(parts), ...poolRoutes(parts)];
}

function groupRoutes(parts: AccessListRouteParts): HttpRoute[] {
  const { entries, logins } = parts;
  return [
    route('GET /v3/access/groups', () => entries.list('groups').map(groupJson)),

    route('POST /v3/access/groups', async ({ body }) => groupJson(await entries.addGroup(body.name))),

    route('GET /v3/access/groups/{user_group_id}', ({ params }) =>
      groupJson(entries.get('groups', params.user_group_id)),
    ),

    route('PUT /v3/access/groups/{user_group_id}', async ({ params, body }) =>
      groupJson(await entries.renameGroup(params.user_group_id, body.name ?? undefined)),
    ),

    route('DELETE /v3/access/groups/{user_group_id}', ({ params }) => entries.remove('groups', params.user_group_id)),

    route('GET /v3/access/groups/{user_group_id}/members', async ({ params }) => {
      const members = entries.find('groups', params.user_group_id)?.members ?? [];
      const people = await peopleOf(parts);
      return people.filter(({ id }) => members.includes(id)).map((one) => userJson(one, logins.of(one.id)));
    }),

    route('PUT /v3/access/groups/{user_group_id}/members/{user_id}', async ({ params }) => {
      entries.get('groups', params.user_group_id);
      await entries.addMember(params.user_group_id, await accountOf(parts, params.user_id));
    }),

    route('DELETE /v3/access/groups/{user_group_id}/members/{user_id}', async ({ params }) => {
      await entries.removeMember(params.user_group_id, accountIdOf(params.user_id));
    }),
  ];
}

/** @throws Failure `not-found` */
async function accountOf(parts: AccountDirectory, userId: string): Promise<string> {
  const id = accountIdOf(userId);
  if ((await peopleOf(parts)).some((one) => one.id === id)) return id;
  throw notFound(`user_id: there is no user ${userId}.`);
}

function roleRoutes({ entries }: AccessListRouteParts): HttpRoute[] {
  const privilegeOf = (id: string): Privilege => {
    const found = PRIVILEGE_IDS.get(id);
    if (found) return found;
    throw notFound(`privilege_id: there is no privilege ${id}.`);
  };
  return [
    route('GET /v3/access/privileges', () => privilegesJson([...PRIVILEGES.keys()])),

    route('GET /v3/access/roles', () => entries.list('access-roles').map(roleJson)),

    route('POST /v3/access/roles', async ({ body: { name, description } }) =>
      roleJson(await entries.addRole(name, description ?? null)),
    ),

    route('GET /v3/access/roles/{role_id}', ({ params }) => roleJson(entries.get('access-roles', params.role_id))),

    route('PUT /v3/access/roles/{role_id}', async ({ params, body: { name, description } }) =>
      roleJson(await entries.updateRole(params.role_id, { name: name ?? undefined, description })),
    ),

    route('DELETE /v3/access/roles/{role_id}', ({ params }) => entries.remove('access-roles', params.role_id)),

    route('GET /v3/access/roles/{role_id}/privileges', ({ params }) =>
      privilegesJson(entries.find('access-roles', params.role_id)?.privileges ?? []),
    ),

    route('PUT /v3/access/roles/{role_id}/privileges/{privilege_id}', async ({ params }) => {
      await entries.addPrivilege(params.role_id, privilegeOf(params.privilege_id));
    }),

    route('DELETE /v3/access/roles/{role_id}/privileges/{privilege_id}', async ({ params }) => {
      await entries.removePrivilege(params.role_id, privilegeOf(params.privilege_id));
    }),
  ];
}

interface Endpoint {
  endpoint: string;
  name: string;
  endpoint_type: string;
}

function entryRoutes(parts: AccessListRouteParts): HttpRoute[] {
  const { entries, sharing, projects, templates } = parts;
  const wordsOf = async (body: v.InferOutput<typeof EntryBody>): Promise<EntryWords> => {
    const { ace_type: type, role_id: role, propagate, allowed } = body;
    const path = checkedEntryPath(body.path);
    const member = `${type}_id` as const;
    const given = body[member];
    if (given == null) throw conflict(`${member}: an entry for a ${type} needs it.`);
    const subject = type === 'user' ? await accountOf(parts, given) : given;
    return { type, subject, path, role, propagate: propagate ?? true, allowed: allowed ?? true };
  };
  /** Without the entries for accounts that were removed meanwhile. */
  const known = async (): Promise<AccessList> => {
    await entries.forgetAccounts(new Set((await peopleOf(parts)).map(({ id }) => id)));
    return entries;
  };

  /** The places for entries, as far as the client may see them. */
  const endpoints = async (identity: Identity | undefined): Promise<Endpoint[]> => {
    const labs = projects.list().filter(({ id }) => sharing.sees(identity, id));
    const list = (endpoint_type: string, path: string, items: Iterable<{ id: string; name: string }>): Endpoint[] =>
      [...items].map(({ id, name }) => ({ endpoint: `${path}/${id}`, name, endpoint_type }));
    const whole = (endpoint_type: string, endpoint: string, name: string): Endpoint => ({
      endpoint,
      name,
      endpoint_type,
    });
    return [
      whole('root', '/', 'Everything'),
      whole('project', '/projects', 'All labs'),
      ...labs.flatMap((lab) => {
        const path = `/projects/${lab.id}`;
        const { name } = lab.record;
        const links = [...lab.links.values()].map(({ id }) => ({ id, name: id }));
        return [
          whole('project', path, name),
          whole('node', `${path}/nodes`, `All nodes of ${name}`),
          ...list('node', `${path}/nodes`, lab.nodes.values()),
          whole('link', `${path}/links`, `All links of ${name}`),
          ...list('link', `${path}/links`, links),
        ];
      }),
      whole('user', '/access/users', 'All users'),
      ...list(
        'user',
        '/access/users',
        (await peopleOf(parts)).map(({ id, name }) => ({ id: userIdOf(id), name })),
      ),
      whole('group', '/access/groups', 'All groups'),
      ...list('group', '/access/groups', entries.list('groups')),
      whole('role', '/access/roles', 'All roles'),
      ...list('role', '/access/roles', entries.list('access-roles')),
      whole('image', '/images', 'All images'),
      whole('template', '/templates', 'All templates'),
      ...list(
        'template',
        '/templates',
        templates.list().map(({ template_id: id, name }) => ({ id, name })),
      ),
      whole('pool', '/pools', 'All pools'),
      ...list('pool', '/pools', entries.list('pools')),
    ];
  };

  return [
    route('GET /v3/access/acl/endpoints', ({ client }) => endpoints(client.identity)),

    route('GET /v3/access/acl', async () => (await known()).list('access-entries').map(entryJson)),

    route('POST /v3/access/acl', async ({ body }) => entryJson(await entries.addEntry(await wordsOf(body)))),

    route('GET /v3/access/acl/{ace_id}', async ({ params }) =>
      entryJson((await known()).get('access-entries', params.ace_id)),
    ),

    route('PUT /v3/access/acl/{ace_id}', async ({ params, body }) => {
      entries.get('access-entries', params.ace_id);
      return entryJson(await entries.updateEntry(params.ace_id, await wordsOf(body)));
    }),

    route('DELETE /v3/access/acl/{ace_id}', ({ params }) => entries.remove('access-entries', params.ace_id)),
  ];
}

function poolRoutes({ entries, sharing, projects }: AccessListRouteParts): HttpRoute[] {
  /** @throws Failure `not-found` for a lab that the client may not change: entries for the pool would open it */
  const labOf = (identity: Identity | undefined, id: string): { id: string; name: string } => {
    const project = projects.find(id);
    if (project === undefined || (identity !== undefined && !sharing.changes(identity, id))) throw noProject(id);
    return { id, name: project.record.name };
  };
  /** Entries for all labs do not reach one in a pool: taken out, it could be opened to the client. A lab that is gone can be. */
  const mayTakeOut = (identity: Identity | undefined, id: string): void => {
    if (projects.find(id)) labOf(identity, id);
  };
  return [
    route('GET /v3/pools', () => entries.list('pools').map(poolJson)),

    route('POST /v3/pools', async ({ body }) => poolJson(await entries.addPool(body.name))),

    route('GET /v3/pools/{resource_pool_id}', ({ params }) => poolJson(entries.get('pools', params.resource_pool_id))),

    route('PUT /v3/pools/{resource_pool_id}', async ({ params, body }) =>
      poolJson(await entries.renamePool(params.resource_pool_id, body.name)),
    ),

    route('DELETE /v3/pools/{resource_pool_id}', async ({ params, client }) => {
      for (const lab of Object.keys(entries.get('pools', params.resource_pool_id).labs))
        mayTakeOut(client.identity, lab);
      await entries.remove('pools', params.resource_pool_id);
    }),

    route('GET /v3/pools/{resource_pool_id}/resources', ({ params }) => {
      const pool = entries.find('pools', params.resource_pool_id);
      return pool === undefined ? [] : resourcesJson(pool);
    }),

    route('PUT /v3/pools/{resource_pool_id}/resources/{resource_id}', async ({ params, client }) => {
      entries.get('pools', params.resource_pool_id);
      await entries.addLab(params.resource_pool_id, labOf(client.identity, params.resource_id));
    }),

    route('DELETE /v3/pools/{resource_pool_id}/resources/{resource_id}', async ({ params, client }) => {
      entries.get('pools', params.resource_pool_id);
      mayTakeOut(client.identity, params.resource_id);
      await entries.removeLab(params.resource_pool_id, params.resource_id);
    }),
  ];
}
