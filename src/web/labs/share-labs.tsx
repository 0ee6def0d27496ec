// Sharing of labs: with everybody, groups or single accounts, for watching or changing.
import { useMemo } from 'preact/hooks';
import type { Access } from '../../api/accounts.ts';
import type { AccountObject, SharingObject } from '../../api/routes/accounts.ts';
import { api } from '../model/server/api.ts';
import { useLoaded } from '../model/server/loaded.ts';
import type { ProjectObject } from '../model/server/types.ts';
import { Message } from '../panels/message.tsx';
import { Reading } from '../panels/reading.tsx';
import { Dialog } from '../shell/dialog.tsx';
import { WORDS } from '../words.ts';
import { Asking } from './asking.tsx';
import { forEachLab } from './for-each-lab.ts';

const words = WORDS.sharing;

const ACCESSES: readonly Access[] = ['none', 'watch', 'change'];

interface SharedLab {
  name: string;
  path: string;
  sharing: SharingObject;
}

/** Loaded before the form is shown. */
interface Known {
  labs: readonly SharedLab[];
  accounts: readonly AccountObject[];
  groups: readonly { name: string; accounts: string[] }[];
}

interface ShareLabsProps {
  projects: readonly ProjectObject[];
  close(): void;
}

export function ShareLabs({ projects, close }: ShareLabsProps) {
  const {
    value: known,
    problem,
    again,
  } = useLoaded(async (): Promise<Known> => {
    const readLab = async ({ name, project_id: id }: ProjectObject): Promise<SharedLab> => {
      const path = `/projects/${id}/sharing`;
      return { name, path, sharing: await api.get<SharingObject>(path) };
    };
    const [labs, accounts, groups] = await Promise.all([
      Promise.all(projects.map(readLab)),
      api.get<AccountObject[]>('/accounts'),
      api.get<Known['groups']>('/groups'),
    ]);
    const isShown = ({ name, accounts: members }: Known['groups'][number]): boolean =>
      members.length > 0 || labs.some(({ sharing }) => name in sharing.groups);
    return { labs, accounts, groups: groups.filter(isShown) };
  }, [projects]);
  const title = words.titleOf(projects.length === 1 ? projects[0]!.name : WORDS.labs.count(projects.length));
  if (known.value === undefined)
    return (
      <Dialog title={title} close={close}>
        <h2>{title}</h2>
        {problem.value === '' ? <Reading /> : <Message text={problem.value} again={again} />}
      </Dialog>
    );
  return <SharingForm title={title} known={known.value} close={close} />;
}

function SharingForm({
  title,
  known: { labs, accounts, groups },
  close,
}: {
  title: string;
  known: Known;
  close(): void;
}) {
  const left = useMemo(() => new Set(labs), [labs]);
  const mayShare = labs.every(({ sharing }) => sharing.may_share);
  // Admins and the owner already have all rights.
  const others = accounts.filter(
    ({ name, role }) => role !== 'admin' && labs.some(({ sharing: { owner } }) => owner !== name),
  );
  const submit = (data: FormData): Promise<unknown> => {
    // Without a choice each lab keeps what it has.
    const chosen = (kind: string, names: readonly unknown[]): object =>
      Object.fromEntries(names.map((name) => [name, data.get(`${kind} ${name}`)]).filter(([, access]) => access));
    const everybody = data.get('everybody');
    return forEachLab(left, ({ path, sharing: { owner } }) =>
      api.put(path, {
        ...(everybody && { everybody }),
        update: chosen(
          'account',
          others.map(({ name }) => name).filter((name) => name !== owner),
        ),
        groups: chosen(
          'group',
          groups.map(({ name }) => name),
        ),
      }),
    );
  };
  const choice = (label: string, name: string, access: (sharing: SharingObject) => Access | undefined) => (
    <Choice
      key={name}
      label={label}
      name={name}
      values={new Set(labs.flatMap(({ sharing }) => access(sharing) ?? []))}
      mayShare={mayShare}
    />
  );
  const owners = new Set(labs.map(({ sharing }) => sharing.owner));
  const [owner = null] = owners;
  return (
    <Asking title={title} verb={WORDS.common.save} close={close} submit={submit}>
      <p>{owners.size > 1 ? words.severalOwners : owner === null ? words.noOwner : words.ownedBy(owner)}</p>
      {!mayShare && <p class="hint">{words.mayNot}</p>}
      {choice(words.everybody, 'everybody', ({ everybody }) => everybody)}
      {groups.map(({ name }) => choice(words.group(name), `group ${name}`, (one) => one.groups[name] ?? 'none'))}
      {others.map(({ name }) =>
        choice(String(name), `account ${name}`, ({ owner, accounts }) =>
          owner === name ? undefined : (accounts[String(name)] ?? 'none'),
        ),
      )}
    </Asking>
  );
}

interface ChoiceProps {
  label: string;
  name: string;
  /** The rights that the labs give now. */
  values: ReadonlySet<Access>;
  mayShare: boolean;
}

function Choice({ label, name, values, mayShare }: ChoiceProps) {
  return (
    <label>
      {label}
      <select name={name} disabled={!mayShare}>
        {values.size > 1 && <option value="">{words.asNow}</option>}
        {ACCESSES.map((one) => (
          <option key={one} value={one} selected={values.size === 1 && values.has(one)}>
            {words.accesses[one]}
          </option>
        ))}
      </select>
    </label>
  );
}
