// Dialogs about accounts: create, change role or password, delete and reassign the labs.
import { useMemo } from 'preact/hooks';
import type { Role } from '../../api/accounts.ts';
import type { Account } from '../../api/routes/accounts.ts';
import { Asking } from '../labs/asking.tsx';
import { api } from '../model/server/api.ts';
import { Options } from '../panels/choice.tsx';
import { forEachNamed } from '../panels/for-each-named.ts';
import { WORDS } from '../words.ts';
import { NewPassword } from './new-password.tsx';

const words = WORDS.people;
const ROLES: readonly Role[] = ['user', 'observer', 'none', 'admin'];
/** Most labs named. */
const MOST_NAMED = 8;

interface Owned {
  id: string;
  name: string;
}

interface Common {
  /** Labs that it owns. */
  labs: readonly Owned[];
}

export type AccountQuestion = Common &
  ({ kind: 'add'; about: readonly [] } | { kind: 'setRole' | 'setPassword' | 'remove'; about: readonly Account[] });

interface AccountDialogsProps {
  question: AccountQuestion;
  /** Accounts that may take over the labs. */
  heirs: readonly string[];
  close(): void;
}

export function AccountDialogs({ question, heirs, close }: AccountDialogsProps) {
  const { kind, about, labs } = question;
  const left = useMemo(() => new Set(about), [about]);
  const name = about.map((each) => each.name).join(', ');
  if (kind === 'add') {
    return (
      <Asking
        title={words.add}
        verb={words.addIt}
        close={close}
        submit={(data) => api.post('/accounts', Object.fromEntries(data))}
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
  const path = (each: Account) => `/accounts/${encodeURIComponent(each.name)}`;
  if (kind === 'setRole') {
    return (
      <Asking
        title={words.setRoleOf(name)}
        verb={WORDS.common.save}
        close={close}
        submit={(data) => forEachNamed(left, (each) => api.put(path(each), { role: data.get('role') }))}
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
        submit={(data) => forEachNamed(left, (each) => api.put(path(each), { password: data.get('password') }))}
      >
        <NewPassword label={words.password} hint={words.passwordHint} of={name} />
        <p>{words.passwordEffect}</p>
      </Asking>
    );
  }
  const others = heirs.filter((heir) => !about.some((each) => each.name === heir));
  const named = labs.slice(0, MOST_NAMED).map(({ name }) => name);
  const names = [...named, ...(labs.length > MOST_NAMED ? ['…'] : [])].join(', ');
  return (
    <Asking
      title={words.removeOf(name)}
      verb={words.remove}
      isDangerous
      close={close}
      submit={async (data) => {
        const owner = String(data.get('owner') ?? '');
        if (owner !== '') {
          for (const { id } of labs) await api.put(`/projects/${id}/sharing`, { owner });
        }
        await forEachNamed(left, (each) => api.delete(path(each)));
      }}
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
