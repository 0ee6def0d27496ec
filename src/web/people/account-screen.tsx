// The logged-in account: role, password, log out.
import { useSignal } from '@preact/signals';
import type { Role } from '../../api/accounts.ts';
import type { Account } from '../../api/routes/accounts.ts';
import { Asking } from '../labs/asking.tsx';
import { account, accountProblem, readAccount } from '../model/account/account.ts';
import { logOut } from '../model/account/log-out.ts';
import { setTo } from '../model/browser/signal-handlers.ts';
import { api } from '../model/server/api.ts';
import { useLoaded } from '../model/server/loaded.ts';
import { Button } from '../panels/button.tsx';
import { Message } from '../panels/message.tsx';
import { PageHeader } from '../panels/page-header.tsx';
import { WORDS } from '../words.ts';
import { NewPassword } from './new-password.tsx';
import { Tokens } from './tokens.tsx';

const words = WORDS.account;

export function AccountScreen() {
  const who = account.value;
  return (
    <div class="screen people">
      <PageHeader title={words.title} />
      <main>
        {!who && <Message text={accountProblem.value} again={readAccount} />}
        {who && !who.login && <p>{words.noLogin}</p>}
        {who?.login && (
          <>
            <section>
              <h2>
                {who.name} <small class="tag">{words.roles[who.role]}</small>
              </h2>
              <p>{WORDS.sharing.roles[who.role]}</p>
              <p class="tools">
                <Button onClick={logOut} text={words.logOut} />
                <small>{words.logOutHint}</small>
              </p>
            </section>
            <Password name={String(who.name)} role={who.role} />
            <Tokens role={who.role} />
          </>
        )}
      </main>
    </div>
  );
}

function Password({ name, role }: { name: string; role: Role }) {
  const isAsking = useSignal(false);
  // Accounts kept by the host are admins. Accounts without a role may not read the list.
  const accounts = useLoaded(async () => (role === 'admin' ? await api.get<Account[]>('/accounts') : []), [role]);
  const own = accounts.value.value?.find((one) => one.name === name);
  return (
    <section>
      <h2>{words.password}</h2>
      <Message text={accounts.problem.value} again={accounts.again} />
      {own?.created === null ? (
        <p>{words.hostPassword}</p>
      ) : (
        <Button onClick={setTo(isAsking, true)} text={words.change} />
      )}
      {isAsking.value && (
        <Asking
          title={words.change}
          verb={words.change}
          close={setTo(isAsking, false)}
          submit={(data) => {
            const password = data.get('password');
            if (password !== data.get('again')) throw new Error(words.notTheSame);
            return api.put('/account/password', { password });
          }}
        >
          <NewPassword label={words.newPassword} hint={words.passwordHint} of={name} />
          <label>
            {words.again}
            <input type="password" name="again" required autocomplete="new-password" />
          </label>
        </Asking>
      )}
    </section>
  );
}
