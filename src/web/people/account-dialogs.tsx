// Dialogs about accounts: create, change role or password, delete and reassign the labs.
import { useMemo } from 'preact/hooks';
import type { Role } from '../../api/accounts.ts';
import type { Account } from '../../api/routes/accounts.ts';
import { Asking } from '../labs/asking.tsx';
import { ReadingDialog } from '../labs/reading-dialog.tsx';
import { readOwnedLabs } from '../model/account/owned-labs.ts';
import { api } from '../model/server/api.ts';
import { useLoaded } from '../model/server/loaded.ts';
import { Options } from '../panels/choice.tsx';
import { forEachNamed } from '../panels/for-each-named.ts';
import { WORDS } from '../words.ts';
import { NewPassword } from './new-password.tsx';

const words = WORDS.people;
const ROLES: readonly Role[] = ['user', 'observer', 'none', 'admin'];
/** Most labs named. */
const MOST_NAMED = 8;

export type AccountQuestion =
  | { kind: 'add'; about: readonly [] }
  | { kind: 'setRole' | 'setPassword' | 'remove'; about: readonly Account[] };

interface AccountDialogsProps {
  question: AccountQuestion;
  /** Accounts that may take over the labs. */
  heirs: readonly string[];
  close(): void;
  /** Called after accounts may have changed, also if the dialog was closed meanwhile. */
  changed(): void;
}

export function AccountDialogs({ question, heirs, close, changed }: AccountDialogsProps) {
  const { kind, about } = question;
  const left = useMemo(() => new Set(about), [about]);
  const name = about.map((each) => each.name).join(', ');
  if (kind === 'add') {
    return (
      <Asking
        title={words.add}
        verb={words.addIt}
        close={close}
        submit={(data) => api.post('/accounts', Object.fromEntries(data)).finally(changed)}
      >
        <label>
          {WORDS.common.name}
          <input name="name" required maxLength={64} autocomplete="username" />
        </label>
        <RoleField chosen="user" />
        <NewPassword label={words.password} hint={words.passwordHint} />
      </Asking>
    );
  }
  const change = (members: object, closed: AbortSignal): Promise<void> =>
    forEachNamed(left, (each) => api.put(pathOf(each), members), closed).finally(changed);
  if (kind === 'setRole') {
    return (
      <Asking
        title={words.setRoleOf(name)}
        verb={WORDS.common.save}
        close={close}
        submit={(data, closed) => change({ role: data.get('role') }, closed)}
      >
        <RoleField chosen={about[0]?.role ?? 'user'} />
      </Asking>
    );
  }
  if (kind === 'setPassword') {
    return (
      <Asking
        title={words.setPasswordOf(name)}
        verb={WORDS.common.save}
        close={close}
        submit={(data, closed) => change({ password: data.get('password') }, closed)}
      >
        <NewPassword label={words.password} hint={words.passwordHint} of={name} />
        <p>{words.passwordEffect}</p>
      </Asking>
    );
  }
  return <Removal {...{ about, heirs, close, changed }} title={words.removeOf(name)} />;
}

const pathOf = ({ name }: Account): string => `/accounts/${encodeURIComponent(name)}`;

interface RemovalProps extends Omit<AccountDialogsProps, 'question'> {
  title: string;
  about: readonly Account[];
}

function Removal({ title, about, heirs, close, changed }: RemovalProps) {
  const left = useMemo(() => new Set(about), [about]);
  // Read now: a list that is not up to date would leave labs without an owner.
  const owned = useLoaded(readOwnedLabs, []);
  if (owned.value.value === undefined)
    return <ReadingDialog title={title} problem={owned.problem.value} again={owned.again} close={close} />;
  const byOwner = owned.value.value;
  const labs = about.flatMap(({ name }) => byOwner.get(name) ?? []);
  const others = heirs.filter((heir) => !about.some((each) => each.name === heir));
  const named = labs.slice(0, MOST_NAMED).map(({ name }) => name);
  const names = [...named, ...(labs.length > MOST_NAMED ? ['…'] : [])].join(', ');
  const remove = async (owner: string, closed: AbortSignal): Promise<void> => {
    for (const { id } of owner === '' ? [] : labs) {
      if (!closed.aborted) await api.put(`/projects/${id}/sharing`, { owner });
    }
    await forEachNamed(left, (each) => api.delete(pathOf(each)), closed);
  };
  return (
    <Asking
      title={title}
      verb={words.remove}
      isDangerous
      close={close}
      submit={(data, closed) => remove(String(data.get('owner') ?? ''), closed).finally(changed)}
    >
      <p>{words.removeEffect}</p>
      <p>{labs.length === 0 ? words.noLabs : words.ownsLabs(labs.length, names)}</p>
      {labs.length > 0 && (
        <label>
          {words.labsGoTo}
          <select name="owner">
            <option value="">{words.noOwner}</option>
            <Options of={others.map((heir) => [heir, heir])} />
          </select>
        </label>
      )}
      {labs.length > 0 && <p class="hint">{words.noOwnerHint}</p>}
    </Asking>
  );
}

function RoleField({ chosen }: { chosen: Role }) {
  return (
    <label>
      {words.role}
      <select name="role">
        <Options of={ROLES.map((role) => [role, words.roles[role]])} chosen={chosen} />
      </select>
    </label>
  );
}
