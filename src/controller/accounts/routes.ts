import type { Access } from '../../api/accounts.ts';
import { ACCOUNT_ROUTES, type Account, type SharingObject, type TokenObject } from '../../api/routes/accounts.ts';
import { conflict, forbidden, invalid, notFound } from '../../failures.ts';
import { type Authentication, HOST_ACCOUNT, isOfThisHost } from '../../http/access/authentication.ts';
import type { Identity } from '../../http/access/identity.ts';
import type { Admissions } from '../../http/access/open-connections.ts';
import { type Route, type RouteRequest, routesOf } from '../../http/app/route.ts';
import type { AccountsContent, AccountsFile, Confirm, StoredAccount, StoredToken } from '../../store/accounts.ts';
import type { AuditFile } from '../../store/audit.ts';
import type { Documents } from '../../store/documents.ts';
import { normalName } from '../../store/roles.ts';
import type { Projects } from '../projects/projects.ts';
import { type AccessList, writesImages } from './access-list.ts';
import type { LastUses } from './last-uses.ts';
import { isChangedBy, type LabSharing, type Sharing, usersOf } from './sharing.ts';

const { route } = routesOf(ACCOUNT_ROUTES);

const DAY_MS = 86_400_000;

/** The stores of accounts and the audit trail. */
export interface AccountDirectory {
  file: AccountsFile;
  /** Name of the account from the configuration or `account.json`; undefined without one. */
  hostName(): Promise<string | undefined>;
  audit: AuditFile;
  admissions: Admissions;
  authentication: Authentication;
}

export interface AccountRouteParts extends AccountDirectory {
  sharing: Sharing;
  entries: AccessList;
  projects: Projects;
  documents: Documents;
  uses: LastUses;
  /** Called when an account has been created. */
  becomesShared: () => Promise<void>;
}

type Asked = Pick<RouteRequest, 'client'>;

const NO_ACCOUNTS =
  'This server has no accounts yet. Create the first one on its host: labwired user add NAME --role admin';
/** The number of audit lines in an answer. */
const LINES = { usual: 200, most: 10_000 };

export function accountRoutes(parts: AccountRouteParts): Route[] {
  const { file, audit, admissions, sharing, projects, uses } = parts;
  const names = async (): Promise<Map<string, string>> => {
    const host = await parts.hostName();
    const all = (await file.read()).accounts.map(({ id, name }) => [id, name] as const);
    return new Map([...(host === undefined ? [] : [[HOST_ACCOUNT, host] as const]), ...all]);
  };
  /** Hashing a password takes long enough for the account of the request to be removed or locked meanwhile. */
  const confirming =
    ({ tag }: Identity): Confirm =>
    async (after, before) => {
      await admissions.confirm({ tag });
      for (const { id, nodes } of projects.list()) {
        const writing = [...nodes.values()].find((node) => node.isWritingImages);
        const isChanged = ({ accounts }: AccountsContent): boolean =>
          isChangedBy(usersOf(accounts), sharing.get(id), parts.entries);
        if (writing && isChanged(after) && !isChanged(before) && !parts.entries.mayChange(id))
          throw writesImages(writing.name);
      }
    };
  const others = async (): Promise<string[]> => [await parts.hostName()].filter((name) => name !== undefined);
  const hasHost = async (): Promise<boolean> => (await parts.hostName()) !== undefined;
  /** Id of the account with this name. @throws Failure `not-found` */
  const accountNamed = async (name: string): Promise<string> => {
    const found = [...(await names())].find(([, known]) => known === normalName(name));
    if (found) return found[0];
    throw notFound(`account: there is no account ${JSON.stringify(name)}.`);
  };
  /**
   * The account whose tokens are meant.
   * @throws Failure `conflict` for a client without an account that names none
   */
  const ownAccount = async ({ id }: Identity): Promise<string> => {
    if (id !== HOST_ACCOUNT || (await hasHost())) return id;
    throw conflict('account: a token speaks for an account: log in with one, or name one.');
  };
  const sharingJson = async (projectId: string, identity: Identity | undefined): Promise<SharingObject> => {
    const { owner, everybody, accounts, groups = {} } = sharing.get(projectId);
    const known = await names();
    const shared = Object.entries(accounts).flatMap(([id, access]) =>
      known.has(id) ? [[known.get(id)!, access]] : [],
    );
    return {
      owner: owner === null ? null : (known.get(owner) ?? null),
      everybody,
      accounts: Object.fromEntries(shared),
      groups: Object.fromEntries(
        parts.entries.list('groups').flatMap(({ id, name }) => (groups[id] ? [[name, groups[id]]] : [])),
      ),
      access: sharing.summaryOf(identity, projectId),
      may_share: mayShare(identity, sharing.get(projectId)),
    };
  };

  return [
    route('GET /v2/account', ({ client: { identity } }) =>
      identity === undefined
        ? { login: false, others: false, name: null, role: 'admin', token: null }
        : {
            login: true,
            others: !identity.alone,
            name: identity.name,
            role: identity.role,
            token: identity.token?.name ?? null,
          },
    ),

    route('PUT /v2/account/password', async ({ client, body: { password } }) => {
      const identity = person(client);
      if (identity.id === HOST_ACCOUNT)
        throw conflict(`The password of "${identity.name}" is changed on the host: labwired password.`);
      await file.update(identity.name, { password }, await parts.hostName(), confirming(identity));
      await admissions.check();
    }),

    route('GET /v2/account/tokens', async ({ client, query: { account } }) => {
      const identity = loggedIn(client);
      if (account !== undefined && identity.role !== 'admin')
        throw forbidden('account: only admins see the tokens of others.');
      const id = account === undefined ? await ownAccount(identity) : await accountNamed(account);
      // A token with a lower role than its account sees only itself.
      const { token, role } = identity;
      const only = token && token.ofRole !== role ? token.id : undefined;
      return (await file.read()).tokens
        .filter((one) => one.account === id && (only === undefined || one.id === only))
        .map((token) => tokenJson(token, uses.of(token.id)));
    }),

    route('POST /v2/account/tokens', async ({ client, body: { name, role, days, account } }) => {
      const identity = person(client);
      if (account !== undefined && !isOfThisHost(identity))
        throw forbidden('account: each makes tokens for their own; for others: at the local socket.');
      const id = account === undefined ? await ownAccount(identity) : await accountNamed(account);
      const expires = days === null ? null : new Date(Date.now() + days * DAY_MS).toISOString();
      const { text, token } = await file.addToken({ account: id, name, role, expires }, confirming(identity));
      return { ...tokenJson(token, undefined), token: text };
    }),

    route('DELETE /v2/account/tokens/{token_id}', async ({ client, params }) => {
      const identity = loggedIn(client);
      const { id, role } = identity.token?.id === params.token_id ? identity : person(client);
      await file.removeToken(params.token_id, role === 'admin' ? undefined : id, confirming(identity));
      await uses.forget(params.token_id);
      await admissions.check();
    }),

    route('GET /v2/accounts', async () => {
      const host = await parts.hostName();
      const all = (await file.read()).accounts.map(accountJson);
      return host === undefined ? all : [{ name: host, role: 'admin', created: null }, ...all];
    }),

    route('POST /v2/accounts', async ({ client, body }) => {
      const [account] = await file.add([body], await others(), confirming(loggedIn(client)));
      await parts.becomesShared();
      return accountJson(account!);
    }),

    route('PUT /v2/accounts/{name}', async ({ client, params, body }) => {
      const account = await file.update(params.name, body, await parts.hostName(), confirming(loggedIn(client)));
      await admissions.check();
      return accountJson(account);
    }),

    route('DELETE /v2/accounts/{name}', async ({ client, params }) => {
      await file.remove([params.name], await hasHost(), confirming(loggedIn(client)));
      await parts.entries.forgetAccounts(new Set((await names()).keys()));
      await admissions.check();
    }),

    // One request for a whole list of labs.
    route('GET /v2/project-sharing', async ({ client: { identity } }) => {
      const known = await names();
      return projects
        .list()
        .filter(({ id }) => sharing.sees(identity, id))
        .map(({ id }) => {
          const { owner } = sharing.get(id);
          return {
            project_id: id,
            owner: owner === null ? null : (known.get(owner) ?? null),
            access: sharing.summaryOf(identity, id),
            may_share: mayShare(identity, sharing.get(id)),
          };
        });
    }),

    route('GET /v2/projects/{project_id}/sharing', async ({ client, params }) =>
      sharingJson(projects.get(params.project_id).id, client.identity),
    ),

    route('PUT /v2/projects/{project_id}/sharing', async ({ client, params, body }) => {
      const identity = loggedIn(client);
      const ids = new Map([...(await names())].map(([id, name]) => [name, id]));
      const idOf = (name: string, member: string): string => {
        const id = ids.get(normalName(name));
        if (id === undefined) throw invalid(`${member}: there is no account ${JSON.stringify(name)}.`);
        return id;
      };
      const { owner, everybody, accounts, update = {}, groups: givenGroups = {} } = body;
      const groupIds = new Map(parts.entries.list('groups').map(({ id, name }) => [name, id]));
      const users = usersOf((await file.read()).accounts);
      await sharing.change(params.project_id, (before) => {
        const { nodes } = projects.get(params.project_id);
        if (!mayShare(identity, before)) throw forbidden('Only the owner of a lab and admins may share it.');
        const whole = accounts && Object.entries(accounts).map(([name, access]) => [idOf(name, 'accounts'), access]);
        const some = Object.entries(update).map(([name, access]) => [idOf(name, 'update'), access]);
        const ownerId = owner === undefined ? before.owner : owner === null ? null : idOf(owner, 'owner');
        const merged = { ...(whole ? Object.fromEntries(whole) : before.accounts), ...Object.fromEntries(some) };
        const groups = Object.entries(givenGroups).map(([name, access]) => {
          const id = groupIds.get(name);
          if (id === undefined) throw invalid(`groups: there is no group ${JSON.stringify(name)}.`);
          return [id, access] as const;
        });
        const after = {
          owner: ownerId,
          everybody: everybody ?? before.everybody,
          // The owner needs no share, and a former owner keeps none.
          accounts: granted({ ...(merged as Record<string, Access>), ...(ownerId !== null && { [ownerId]: 'none' }) }),
          groups: granted({ ...before.groups, ...Object.fromEntries(groups) }),
        };
        const writing = [...nodes.values()].find((node) => node.isWritingImages);
        const isOpen = parts.entries.mayChange(params.project_id) || isChangedBy(users, before, parts.entries);
        if (writing && isChangedBy(users, after, parts.entries) && !isOpen) throw writesImages(writing.name);
        return after;
      });
      const project = projects.get(params.project_id);
      projects.announce('project.updated', project);
      await admissions.check();
      return sharingJson(project.id, identity);
    }),

    route('GET /v2/audit', async ({ query: { last, account, project } }) => {
      const wanted = last === undefined ? LINES.usual : Number(last);
      if (!Number.isInteger(wanted) || wanted < 1 || wanted > LINES.most)
        throw invalid(`last: give a whole number from 1 to ${LINES.most}.`);
      // A line that reports lost lines has no objects.
      return audit.last(wanted, ({ account: by, objects = {} }) => {
        const isOfLab = project === undefined || [objects['project_id'], objects['project']].includes(project);
        return isOfLab && (account === undefined || by === normalName(account));
      });
    }),
  ];
}

/** Without those that have no right. */
function granted(rights: Readonly<Record<string, Access>>): LabSharing['accounts'] {
  return Object.fromEntries(
    Object.entries(rights).flatMap(([id, access]) => (access === 'none' ? [] : [[id, access] as const])),
  );
}

function mayShare(identity: Identity | undefined, { owner }: LabSharing): boolean {
  if (identity === undefined) return false;
  return identity.role === 'admin' || (identity.role === 'user' && owner === identity.id);
}

/** @throws Failure `conflict` without authentication */
export function loggedIn({ identity }: Asked['client']): Identity {
  if (identity) return identity;
  throw conflict(NO_ACCOUNTS);
}

/**
 * As `loggedIn`, but refuses tokens: a program could create access that outlives its token.
 * @throws Failure `forbidden`
 */
export function person(client: Asked['client']): Identity {
  const identity = loggedIn(client);
  if (identity.token === undefined) return identity;
  throw forbidden('A token cannot do this: log in with user and password.');
}

function accountJson({ name, role, created }: StoredAccount): Account {
  return { name, role, created };
}

function tokenJson({ id, name, role, created, expires }: StoredToken, used: string | undefined): TokenObject {
  return { token_id: id, name, role, created, expires, last_used: used ?? null };
}
