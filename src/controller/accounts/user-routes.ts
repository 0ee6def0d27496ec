// Users as release 3.0.6 has them: Labwire's accounts, with names and addresses of people. A user who is made here has the role `none`.
import { ACCESS_ROUTES } from '../../api/routes/access.ts';
import { conflict, forbidden, notFound } from '../../failures.ts';
import { bearerOf, HOST_ACCOUNT } from '../../http/access/authentication.ts';
import type { Identity } from '../../http/access/identity.ts';
import type { HttpRoute } from '../../http/app/route.ts';
import { v3RoutesOf } from '../../http/v3/form.ts';
import type { AccountChange, Confirm, StoredAccount } from '../../store/accounts.ts';
import type { AccessList } from './access-list.ts';
import type { LastUses } from './last-uses.ts';
import { type AccountDirectory, loggedIn, person } from './routes.ts';
import { accountIdOf, groupJson, type Person, userJson } from './v3-schema.ts';

const { route } = v3RoutesOf(ACCESS_ROUTES, { conflict: 400 });

export interface UserRouteParts extends AccountDirectory {
  entries: AccessList;
  logins: LastUses;
  /** Called when an account has been created. */
  becomesShared: () => Promise<void>;
}

/** The client of a server without accounts. */
const ADMINISTRATOR: Person = { id: HOST_ACCOUNT, name: 'admin', role: 'admin', full_name: 'Administrator' };

/** All accounts; on a server without accounts the one administrator. */
export async function peopleOf({ file, hostName }: AccountDirectory): Promise<Person[]> {
  const host = await hostName();
  const { accounts } = await file.read();
  const isOpen = host === undefined && accounts.length === 0;
  return [
    ...(isOpen ? [ADMINISTRATOR] : []),
    ...(host === undefined ? [] : [{ id: HOST_ACCOUNT, name: host, role: 'admin' } as const]),
    ...accounts,
  ];
}

export function userRoutes(parts: UserRouteParts): HttpRoute[] {
  const { file, entries, logins, admissions } = parts;
  const json = (one: Person): object => userJson(one, logins.of(one.id));
  const find = async (userId: string): Promise<Person> => {
    const id = accountIdOf(userId);
    const found = (await peopleOf(parts)).find((one) => one.id === id);
    if (found) return found;
    throw notFound(`user_id: there is no user ${userId}.`);
  };
  const ownPerson = async (identity: Identity | undefined): Promise<Person> => {
    if (identity === undefined) return ADMINISTRATOR;
    const own = (await peopleOf(parts)).find(({ id }) => id === identity.id);
    // Programs of this host's administrator at the local socket.
    return own ?? { ...identity };
  };
  /** Hashing a password takes long enough for the account of the request to be removed or locked meanwhile. */
  const confirming =
    (by: Identity | undefined): Confirm =>
    () =>
      admissions.confirm({ tag: by?.tag });
  /** @throws Failure */
  const change = async (by: Identity | undefined, before: Person, given: AccountChange): Promise<StoredAccount> => {
    if (before.id === HOST_ACCOUNT)
      throw conflict(`The account "${before.name}" is changed on its host: labwired password.`);
    // The release refuses what is so already; clients send only what changes.
    if (given.name === before.name) throw conflict(`username: the user is called ${before.name} already.`);
    if (given.email && given.email === before.email)
      throw conflict(`email: the user has the address ${before.email} already.`);
    const changed = await file.update(before.name, given, await parts.hostName(), confirming(by));
    await admissions.check();
    return changed;
  };

  return [
    route('GET /v3/access/users/me', async ({ client }) => json(await ownPerson(client.identity))),

    route('PUT /v3/access/users/me', async (request) => {
      const { email, full_name, password } = request.body;
      // A program could shut out its own person.
      const identity = person(request.client);
      const changed = await change(identity, await ownPerson(identity), {
        ...(email !== undefined && { email }),
        ...(full_name !== undefined && { full_name }),
        ...(password != null && { password }),
      });
      // A user who changes the own password stays logged in; other sessions end.
      const token = bearerOf(request.headers.get('authorization') ?? undefined) ?? request.query['token'];
      if (password != null && token !== undefined) await parts.authentication.renewSession(token, changed.password);
      return json(changed);
    }),

    route('GET /v3/access/users', async () => (await peopleOf(parts)).map(json)),

    route('POST /v3/access/users', async ({ client, body }) => {
      const by = loggedIn(client);
      const { username: name, password, email, full_name, is_active } = body;
      const host = await parts.hostName();
      const [account] = await file.add(
        [{ name, password, role: 'none', email, full_name, ...(!is_active && { locked: true }) }],
        host === undefined ? [] : [host],
        confirming(by),
      );
      await parts.becomesShared();
      return json(account!);
    }),

    route('GET /v3/access/users/{user_id}', async ({ params }) => json(await find(params.user_id))),

    route('PUT /v3/access/users/{user_id}', async ({ client, params, body }) => {
      const before = await find(params.user_id);
      requireOverAdmins(client.identity, before);
      const { username, password, email, full_name, is_active } = body;
      return json(
        await change(client.identity, before, {
          ...(username != null && { name: username }),
          ...(password != null && { password }),
          ...(email !== undefined && { email }),
          ...(full_name !== undefined && { full_name }),
          ...(is_active !== undefined && { locked: !is_active }),
        }),
      );
    }),

    route('DELETE /v3/access/users/{user_id}', async ({ params, client }) => {
      const { name, role } = await find(params.user_id);
      if (role === 'admin')
        throw forbidden(`The admin "${name}" cannot be removed here: labwired user remove does it.`);
      await file.remove([name], (await parts.hostName()) !== undefined, confirming(client.identity));
      await entries.forgetAccounts(new Set((await peopleOf(parts)).map(({ id }) => id)));
      await admissions.check();
    }),

    route('GET /v3/access/users/{user_id}/groups', ({ params }) =>
      entries.groupsOf(accountIdOf(params.user_id)).map(groupJson),
    ),
  ];
}

/** @throws Failure `forbidden`: a right to change users must not make an admin */
function requireOverAdmins(identity: Identity | undefined, { name, role }: Person): void {
  if (role !== 'admin' || identity === undefined || identity.role === 'admin') return;
  throw forbidden(`Only admins change the account of an admin ("${name}").`);
}
