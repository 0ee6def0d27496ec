// `labwired lab share`: the owner of a lab, and the accounts and groups that may watch or change it.
import type * as v from 'valibot';
import type { Access } from '../../api/accounts.ts';
import type { ProjectObject } from '../../api/objects.ts';
import type { SharingObject, SharingUpdate } from '../../api/routes/accounts.ts';
import { WrongUsage } from '../../commands/wrong-usage.ts';
import { conflict } from '../../failures.ts';
import { suggestion } from '../../host/values/nearest-name.ts';
import { type Flags, type Values, verb } from '../frame/command.ts';
import type { Session } from '../frame/session.ts';
import { unknownName } from '../server/find.ts';

const RIGHTS = ['watch', 'change'] as const;

const FLAGS = {
  with: { value: 'NAMES', many: true, summary: 'share it with these accounts: bob,eve; repeatable' },
  'with-groups': { value: 'NAMES', many: true, summary: 'share it with these groups; repeatable' },
  role: { value: 'RIGHT', summary: 'their right: watch (default), or change' },
  everybody: { value: 'RIGHT', summary: 'the right of all accounts: watch, change or none' },
  owner: { value: 'NAME', summary: 'give the lab to this account' },
  remove: { value: 'NAMES', many: true, summary: 'share it no longer with these accounts; repeatable' },
  'remove-groups': { value: 'NAMES', many: true, summary: 'share it no longer with these groups; repeatable' },
} as const satisfies Flags;

/** The names of `--with bob,eve --with olga`. @throws WrongUsage for an empty one */
function namesOf(flag: string, given: readonly string[]): string[] {
  const names = given.flatMap((list) => list.split(',')).map((name) => name.trim());
  if (names.includes('')) throw new WrongUsage(`${flag} "${given.join(' ')}": a name is empty; write bob,eve`);
  return names;
}

/** @throws WrongUsage */
function rightOf<const R extends string>(flag: string, given: string, rights: readonly R[]): R {
  const right = rights.find((one) => one === given);
  if (right !== undefined) return right;
  throw new WrongUsage(`${flag} "${given}": ${suggestion(given, rights)}`);
}

/**
 * The request for these flags; undefined without any.
 * @throws WrongUsage
 */
export function sharingBody(flags: Values<typeof FLAGS>): v.InferInput<typeof SharingUpdate> | undefined {
  const { role, everybody, owner } = flags;
  const right = rightOf('--role', role ?? 'watch', RIGHTS);
  const rightsOf = (adding: 'with' | 'with-groups', removing: 'remove' | 'remove-groups') => {
    const [given, removed] = [
      namesOf(`--${adding}`, flags[adding] ?? []),
      namesOf(`--${removing}`, flags[removing] ?? []),
    ];
    const both = given.find((name) => removed.includes(name));
    if (both !== undefined) throw new WrongUsage(`"${both}" is in --${adding} and in --${removing}: choose one.`);
    return [...given.map((name) => [name, right] as const), ...removed.map((name) => [name, 'none'] as const)];
  };
  if (role !== undefined && !flags.with?.length && !flags['with-groups']?.length)
    throw new WrongUsage('--role needs accounts: add --with NAMES');
  const [some, groups] = [rightsOf('with', 'remove'), rightsOf('with-groups', 'remove-groups')];
  if (some.length + groups.length === 0 && everybody === undefined && owner === undefined) return undefined;
  return {
    ...(some.length > 0 && { update: Object.fromEntries(some) }),
    ...(groups.length > 0 && { groups: Object.fromEntries(groups) }),
    ...(everybody !== undefined && { everybody: rightOf('--everybody', everybody, [...RIGHTS, 'none']) }),
    ...(owner !== undefined && { owner }),
  };
}

/** @throws Failure for the first unknown account, with the nearest name */
async function mustBeKnown(session: Session, { owner, update = {} }: v.InferInput<typeof SharingUpdate>) {
  const accounts = await session.api.get<{ name: string }[]>('/v2/accounts');
  if (accounts.length === 0)
    throw conflict('This server has no accounts, so everybody sees all labs (labwired help accounts).');
  const known = accounts.map(({ name }) => name.normalize('NFC'));
  for (const name of [...Object.keys(update), ...(owner ? [owner] : [])])
    if (!known.includes(name.normalize('NFC'))) throw unknownName('account', name, known);
}

interface Row {
  name: string;
  right: Access | 'owner';
}

/** The owner first, then everybody, then the accounts and the groups by name. */
function rowsOf({ owner, everybody, accounts, groups }: SharingObject): Row[] {
  return [
    ...(owner === null ? [] : [{ name: owner, right: 'owner' } as const]),
    ...(everybody === 'none' ? [] : [{ name: 'everybody', right: everybody }]),
    ...sortedRows(accounts, ''),
    ...sortedRows(groups, 'group '),
  ];
}

function sortedRows(rights: SharingObject['accounts'], prefix: string): Row[] {
  return Object.entries(rights)
    .map(([name, right]) => ({ name: `${prefix}${name}`, right }))
    .sort((one, other) => one.name.localeCompare(other.name));
}

/** `bob (owner), eve (watch), group class (watch)` */
function rightsText(sharing: SharingObject): string {
  return (
    rowsOf(sharing)
      .map(({ name, right }) => `${name} (${right})`)
      .join(', ') || 'admins only'
  );
}

function show(session: Session, sharing: SharingObject): void {
  if (session.json) {
    session.printJson(sharing);
    return;
  }
  session.show(rowsOf(sharing), ({ name }) => name, [
    { heading: 'ACCOUNT', cell: ({ name }) => name },
    { heading: 'RIGHT', cell: ({ right }) => right },
  ]);
}

async function shareLab(session: Session, lab: ProjectObject, body: v.InferInput<typeof SharingUpdate>): Promise<void> {
  await mustBeKnown(session, body);
  const path = `/v2/projects/${lab.project_id}/sharing`;
  const sharing = (await session.api.request('PUT', path, body)) as SharingObject;
  session.tell(`Lab "${lab.name}" is shared: ${rightsText(sharing)}.`, lab.project_id, sharing);
}

export const share = verb({
  name: 'share',
  words: ['LAB'],
  summary: 'shares the lab with other accounts; without flags, lists its accounts and their rights',
  flags: FLAGS,
  run: async (session, [wanted], flags) => {
    const body = sharingBody(flags);
    const lab = await session.labNamed(wanted);
    if (body !== undefined) return shareLab(session, lab, body);
    show(session, await session.api.get<SharingObject>(`/v2/projects/${lab.project_id}/sharing`));
  },
});
