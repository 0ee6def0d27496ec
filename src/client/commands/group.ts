// `labwired group`: groups of accounts, with which labs can be shared.
import type { GroupObject } from '../../api/routes/accounts.ts';
import { type Noun, verb } from '../frame/command.ts';
import type { Session } from '../frame/session.ts';
import { encodedName } from '../server/encoded-path.ts';
import { unknownName } from '../server/find.ts';

const GROUPS = '/v2/groups';

const groups = (session: Session): Promise<GroupObject[]> => session.api.get<GroupObject[]>(GROUPS);

/** @throws Failure for an unknown group, with the nearest name */
async function pathOf(session: Session, wanted: string): Promise<string> {
  const known = (await groups(session)).map(({ name }) => name);
  if (!known.includes(wanted)) throw unknownName('group', wanted, known);
  return `${GROUPS}/${encodedName(wanted)}`;
}

const membersText = ({ name, accounts }: GroupObject): string =>
  `The group "${name}" has ${accounts.length === 0 ? 'no accounts' : accounts.join(', ')}.`;

async function change(session: Session, wanted: string, body: { add: string[] } | { remove: string[] }): Promise<void> {
  const group = (await session.api.request('PUT', await pathOf(session, wanted), body)) as GroupObject;
  session.tell(membersText(group), group.name, group);
}

export const group: Noun = {
  name: 'group',
  summary: 'groups of accounts, with which labs can be shared',
  verbs: [
    verb({
      name: 'create',
      words: ['GROUP', '[ACCOUNT...]'],
      summary: 'creates a group with these accounts',
      run: async (session, [name = '', ...accounts]) => {
        const made = await session.api.post<GroupObject>(GROUPS, { name, accounts });
        session.tell(membersText(made), made.name, made);
      },
    }),
    verb({
      name: 'list',
      summary: 'lists groups and their accounts',
      run: async (session) =>
        session.show(await groups(session), ({ name }) => name, [
          { heading: 'GROUP', cell: ({ name }) => name },
          { heading: 'ACCOUNTS', cell: ({ accounts }) => accounts.join(', ') },
        ]),
    }),
    verb({
      name: 'add',
      words: ['GROUP', 'ACCOUNT...'],
      summary: 'adds accounts to a group',
      run: (session, [name = '', ...accounts]) => change(session, name, { add: accounts }),
    }),
    verb({
      name: 'remove',
      words: ['GROUP', 'ACCOUNT...'],
      summary: 'removes accounts from a group',
      run: (session, [name = '', ...accounts]) => change(session, name, { remove: accounts }),
    }),
    verb({
      name: 'delete',
      words: ['GROUP...'],
      summary: 'deletes groups; their accounts stay',
      run: async (session, wanted) => {
        for (const name of wanted) {
          await session.api.delete(await pathOf(session, name));
          session.tell(`The group "${name}" is deleted.`, name);
        }
      },
    }),
  ],
};
