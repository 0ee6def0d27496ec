// Groups of accounts by name, for the page and `labwired group`. Extensions of the release's API; /v3 has them by identifier.
import { ACCOUNT_ROUTES, type GroupObject } from '../../api/routes/accounts.ts';
import { invalid, notFound } from '../../failures.ts';
import { type Route, routesOf } from '../../http/app/route.ts';
import { normalName } from '../../store/roles.ts';
import type { AccessList } from './access-list.ts';
import { type Group, isBuiltIn } from './access-records.ts';
import { type AccountDirectory, loggedIn } from './routes.ts';
import { peopleOf } from './user-routes.ts';

const { route } = routesOf(ACCOUNT_ROUTES);

export interface GroupRouteParts extends AccountDirectory {
  entries: AccessList;
}

export function namedGroup(entries: AccessList, name: string): Group & { id: string } {
  const found = entries.list('groups').find((group) => group.name === name);
  if (found) return found;
  throw notFound(`group: there is no group ${JSON.stringify(name)}.`);
}

export function groupRoutes(parts: GroupRouteParts): Route[] {
  const { entries } = parts;
  const json = async (groups: readonly (Group & { id: string })[]): Promise<GroupObject[]> => {
    const names = new Map((await peopleOf(parts)).map(({ id, name }) => [id, name]));
    return groups.map(({ id, name, members }) => ({
      name,
      built_in: isBuiltIn(id),
      accounts: members.flatMap((member) => names.get(member) ?? []).sort(),
    }));
  };
  const answer = async (id: string): Promise<GroupObject> => (await json([entries.get('groups', id)]))[0]!;
  const accountsOf = async (given: readonly string[]): Promise<string[]> => {
    const ids = new Map((await peopleOf(parts)).map(({ id, name }) => [name, id]));
    return given.map((name) => {
      const id = ids.get(normalName(name));
      if (id === undefined) throw invalid(`accounts: there is no account ${JSON.stringify(name)}.`);
      return id;
    });
  };
  return [
    route('GET /v2/groups', () => json(entries.list('groups'))),

    route('POST /v2/groups', async (request) => {
      loggedIn(request.client);
      const { id } = await entries.addGroup(request.body.name, await accountsOf(request.body.accounts));
      return answer(id);
    }),

    route('PUT /v2/groups/{name}', async (request) => {
      loggedIn(request.client);
      const { id } = namedGroup(entries, request.params.name);
      const [added, removed] = [await accountsOf(request.body.add), await accountsOf(request.body.remove)];
      await entries.changeGroup(id, { name: request.body.name, added, removed });
      return answer(id);
    }),

    route('DELETE /v2/groups/{name}', async (request) => {
      loggedIn(request.client);
      await entries.remove('groups', namedGroup(entries, request.params.name).id);
    }),
  ];
}
