// For admins: the accounts of this server, and the audit trail.

import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import type { Account } from '../../api/routes/accounts.ts';
import { account, accountProblem, readAccount, readAccountAgain } from '../model/account/account.ts';
import { readOwnedLabs } from '../model/account/owned-labs.ts';
import { whyNot } from '../model/account/permissions.ts';
import { setTo } from '../model/browser/signal-handlers.ts';
import { api } from '../model/server/api.ts';
import { useLoaded } from '../model/server/loaded.ts';
import { Button } from '../panels/button.tsx';
import { Columns } from '../panels/columns.tsx';
import { Message } from '../panels/message.tsx';
import { PageHeader } from '../panels/page-header.tsx';
import { Reading } from '../panels/reading.tsx';
import { SearchField } from '../panels/search-field.tsx';
import { Views } from '../panels/views.tsx';
import { WORDS } from '../words.ts';
import { AccountDialogs, type AccountQuestion } from './account-dialogs.tsx';
import { AuditTrail } from './audit-trail.tsx';
import { timeText } from './new-password.tsx';

const words = WORDS.people;

export function PeopleScreen() {
  const isTrail = useSignal(false);
  const who = account.value;
  const why = who?.login === false ? WORDS.account.noLogin : whyNot('administer');
  const views = <Views titles={[words.accounts, words.audit]} isSecond={isTrail} />;
  return (
    <div class="screen people">
      <PageHeader title={words.title} />
      <main>
        {!who && <Message text={accountProblem.value} again={readAccount} />}
        {why !== '' && <p>{why}</p>}
        {who && why === '' && (isTrail.value ? <AuditTrail views={views} /> : <Accounts views={views} />)}
      </main>
    </div>
  );
}

function Accounts({ views }: { views: ComponentChildren }) {
  const question = useSignal<AccountQuestion | undefined>(undefined);
  const typed = useSignal('');
  const selected = useSignal<ReadonlySet<string>>(new Set());
  const { value, problem, again } = useLoaded(() => api.get<Account[]>('/accounts'), []);
  const labs = useLoaded(readOwnedLabs, []);
  const readAgain = () => Promise.all([again(), labs.again()]);
  const list = value.value;
  const shown = list?.filter(({ name, role }) => `${name} ${role}`.toLowerCase().includes(typed.value.toLowerCase()));
  const chosen = (shown ?? []).filter(({ name }) => selected.value.has(name));
  // An account of the host, and one's own, stay as they are.
  const mayChoose = ({ name, created }: Account): boolean => created !== null && name !== account.value?.name;
  const selectable = (shown ?? []).filter(mayChoose);
  const isAll = selectable.length > 0 && chosen.length === selectable.length;
  const ask = (kind: Exclude<AccountQuestion['kind'], 'add'>, about: readonly Account[]) => (
    <Button
      class={kind === 'remove' ? 'danger' : undefined}
      aria-label={words[`${kind}Of`](about.map(({ name }) => name).join(', '))}
      onClick={() => {
        question.value = { kind, about };
      }}
      text={words[kind]}
    />
  );
  return (
    <>
      <div class="tools">
        {views}
        <Button class="main" onClick={setTo(question, { kind: 'add', about: [] })} text={words.add} />
        <SearchField typed={typed} />
      </div>
      <Message text={problem.value || labs.problem.value} again={readAgain} />
      {list === undefined && problem.value === '' && <Reading />}
      {list?.length === 1 && <p class="reason">{words.first}</p>}
      {shown?.length === 0 && <p>{WORDS.command.none}</p>}
      {shown !== undefined && shown.length > 0 && (
        <table class="card rows" aria-label={words.title}>
          <Columns
            box={
              <input
                type="checkbox"
                aria-label={words.selectAll}
                checked={isAll}
                indeterminate={chosen.length > 0 && !isAll}
                onClick={() => {
                  selected.value = new Set(isAll ? [] : selectable.map(({ name }) => name));
                }}
              />
            }
            titles={[WORDS.common.name, words.role, words.labs, words.since, WORDS.common.actions]}
          />
          <tbody>
            {shown.map((each) => {
              const isOwn = each.name === account.value?.name;
              return (
                <tr key={each.name}>
                  <td class="box">
                    {mayChoose(each) && (
                      <input
                        type="checkbox"
                        aria-label={WORDS.labs.select(each.name)}
                        checked={selected.value.has(each.name)}
                        onClick={({ currentTarget }) => {
                          const changed = new Set(selected.value);
                          if (currentTarget.checked) changed.add(each.name);
                          else changed.delete(each.name);
                          selected.value = changed;
                        }}
                      />
                    )}
                  </td>
                  <th scope="row">
                    {each.name} {isOwn && <small class="tag">{words.you}</small>}
                  </th>
                  <td data-title={words.role}>{WORDS.account.roles[each.role]}</td>
                  <td data-title={words.labs}>
                    {labs.value.value === undefined ? '–' : (labs.value.value.get(each.name)?.length ?? 0)}
                  </td>
                  <td data-title={words.since}>{each.created === null ? words.ofHost : timeText(each.created)}</td>
                  <td>
                    {each.created !== null && (
                      <div class="actions">
                        {!isOwn && ask('setRole', [each])}
                        {ask('setPassword', [each])}
                        {!isOwn && ask('remove', [each])}
                      </div>
                    )}
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      )}
      {chosen.length > 0 && (
        <div class="selection" role="toolbar" aria-label={WORDS.common.actions}>
          <span role="status">{words.selected(chosen.length)}</span>
          {ask('setRole', chosen)}
          {ask('remove', chosen)}
        </div>
      )}
      {question.value && (
        <AccountDialogs
          question={question.value}
          heirs={(list ?? []).map(({ name }) => name)}
          close={() => {
            question.value = undefined;
            selected.value = new Set();
          }}
          changed={() => {
            void readAgain();
            void readAccountAgain();
          }}
        />
      )}
    </>
  );
}
