// Sharing of a lab: with everybody, groups or single accounts, for watching or changing.
import type { Access, AccountObject, SharingObject } from '../model/account/account.ts';
import { api } from '../model/server/api.ts';
import { useLoaded } from '../model/server/loaded.ts';
import type { ProjectObject } from '../model/server/types.ts';
import { Message } from '../panels/message.tsx';
import { Reading } from '../panels/reading.tsx';
import { Dialog } from '../shell/dialog.tsx';
import { WORDS } from '../words.ts';
import { Asking } from './asking.tsx';

const words = WORDS.sharing;

const ACCESSES: readonly Access[] = ['none', 'watch', 'change'];

/** Loaded before the form is shown. */
interface Known {
  sharing: SharingObject;
  accounts: readonly AccountObject[];
  groups: readonly { name: string; accounts: string[] }[];
}

export function ShareLab({ project, close }: { project: ProjectObject; close(): void }) {
  const path = `/projects/${project.project_id}/sharing`;
  const {
    value: known,
    problem,
    again,
  } = useLoaded(async (): Promise<Known> => {
    const [sharing, accounts, groups] = await Promise.all([
      api.get<SharingObject>(path),
      api.get<AccountObject[]>('/accounts'),
      api.get<Known['groups']>('/groups'),
    ]);
    return { sharing, accounts, groups: groups.filter((one) => one.accounts.length > 0 || one.name in sharing.groups) };
  }, [path]);
  const title = words.titleOf(project.name);
  if (known.value === undefined)
    return (
      <Dialog title={title} close={close}>
        <h2>{title}</h2>
        {problem.value === '' ? <Reading /> : <Message text={problem.value} again={again} />}
      </Dialog>
    );
  const { sharing, accounts, groups } = known.value;
  // Admins and the owner already have all rights.
  const others = accounts.filter(({ name, role }) => role !== 'admin' && name !== sharing.owner);
  const submit = (data: FormData): Promise<unknown> => {
    const chosen = others.map(({ name }) => [name, data.get(`account ${name}`)]).filter(([, one]) => one !== 'none');
    const ofGroups = groups.map(({ name }) => [name, data.get(`group ${name}`)]);
    return api.put(path, {
      everybody: data.get('everybody'),
      accounts: Object.fromEntries(chosen),
      groups: Object.fromEntries(ofGroups),
    });
  };
  return (
    <Asking title={title} verb={WORDS.common.save} close={close} submit={submit}>
      <p>{sharing.owner === null ? words.noOwner : words.ownedBy(sharing.owner)}</p>
      {!sharing.may_share && <p class="hint">{words.mayNot}</p>}
      <Choice label={words.everybody} name="everybody" value={sharing.everybody} mayShare={sharing.may_share} />
      {groups.map(({ name }) => (
        <Choice
          key={`group ${name}`}
          label={words.group(name)}
          name={`group ${name}`}
          value={sharing.groups[name] ?? 'none'}
          mayShare={sharing.may_share}
        />
      ))}
      {others.map(({ name }) => (
        <Choice
          key={name}
          label={String(name)}
          name={`account ${name}`}
          value={sharing.accounts[String(name)] ?? 'none'}
          mayShare={sharing.may_share}
        />
      ))}
    </Asking>
  );
}

interface ChoiceProps {
  label: string;
  name: string;
  value: Access;
  mayShare: boolean;
}

function Choice({ label, name, value, mayShare }: ChoiceProps) {
  return (
    <label>
      {label}
      <select name={name} disabled={!mayShare}>
        {ACCESSES.map((one) => (
          <option key={one} value={one} selected={one === value}>
            {words.accesses[one]}
          </option>
        ))}
      </select>
    </label>
  );
}
