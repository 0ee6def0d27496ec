// The account's tokens for programs: create, show once, revoke.
import { useSignal } from '@preact/signals';
import type { Role, TokenRole } from '../../api/accounts.ts';
import type { TokenObject } from '../../api/routes/accounts.ts';
import { Asking } from '../labs/asking.tsx';
import { setTo } from '../model/browser/signal-handlers.ts';
import { api } from '../model/server/api.ts';
import { useLoaded } from '../model/server/loaded.ts';
import { Button } from '../panels/button.tsx';
import { Options } from '../panels/choice.tsx';
import { Columns } from '../panels/columns.tsx';
import { CopyLine } from '../panels/copy-line.tsx';
import { Message } from '../panels/message.tsx';
import { WORDS } from '../words.ts';
import { timeText } from './new-password.tsx';

const words = WORDS.account;

const ROLES: readonly TokenRole[] = ['observer', 'user', 'admin'];
const DAYS = [1, 7, 30, 90, 365] as const;
const USUAL_DAYS = 90;

export function Tokens({ role }: { role: Role }) {
  const tokens = useLoaded(() => api.get<TokenObject[]>('/account/tokens'), []);
  const isAsking = useSignal(false);
  const revoked = useSignal<TokenObject | undefined>(undefined);
  const made = useSignal<{ name: string; token: string } | undefined>(undefined);
  const list = tokens.value.value;
  const offered = ROLES.slice(0, role === 'none' ? 0 : ROLES.indexOf(role));
  return (
    <section>
      <h2>{words.tokens}</h2>
      <p>{words.tokensHint}</p>
      <p>
        <Button onClick={setTo(isAsking, true)} text={words.make} />
      </p>
      {made.value && (
        <div class="made" role="status">
          <p>{words.isMade(made.value.name)}</p>
          <CopyLine label={words.token} text={made.value.token} />
          <Button onClick={setTo(made, undefined)} text={words.seen} />
        </div>
      )}
      <Message text={tokens.problem.value} again={tokens.again} />
      {list?.length === 0 && <p class="empty">{words.noTokens}</p>}
      {list !== undefined && list.length > 0 && (
        <table class="card rows">
          <Columns
            titles={[WORDS.common.name, words.role, words.made, words.expires, words.lastUsed, WORDS.common.actions]}
          />
          <tbody>
            {list.map((token) => (
              <tr key={token.token_id}>
                <th scope="row">{token.name}</th>
                <td data-title={words.role}>{token.role === null ? words.asI : words.roleAtMost[token.role]}</td>
                <td data-title={words.made}>{timeText(token.created)}</td>
                <td data-title={words.expires}>{expiryText(token.expires)}</td>
                <td data-title={words.lastUsed}>
                  {token.last_used === null ? words.unused : timeText(token.last_used)}
                </td>
                <td>
                  <Button aria-label={words.revokeOf(token.name)} onClick={setTo(revoked, token)} text={words.revoke} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {isAsking.value && (
        <Asking
          title={words.make}
          verb={words.makeIt}
          close={setTo(isAsking, false)}
          submit={async (data) => {
            const days = data.get('days');
            made.value = await api.post<{ name: string; token: string }>('/account/tokens', {
              name: data.get('name'),
              role: data.get('role') || null,
              days: days === '' ? null : Number(days),
            });
            tokens.again();
          }}
        >
          <label>
            {words.tokenName}
            <input name="name" required maxLength={64} autocomplete="off" />
          </label>
          <label>
            {words.role}
            <select name="role">
              <option value="">{words.asI}</option>
              <Options of={offered.map((each) => [each, words.roleAtMost[each]])} />
            </select>
          </label>
          <label>
            {words.expires}
            <select name="days">
              <Options of={DAYS.map((days) => [String(days), words.inDays(days)])} chosen={String(USUAL_DAYS)} />
              <option value="">{words.never}</option>
            </select>
          </label>
        </Asking>
      )}
      {revoked.value && (
        <Asking
          title={words.revokeOf(revoked.value.name)}
          verb={words.revoke}
          close={setTo(revoked, undefined)}
          submit={async () => {
            await api.delete(`/account/tokens/${revoked.value!.token_id}`);
            tokens.again();
          }}
        >
          <p>{words.askRevoke(revoked.value.name)}</p>
        </Asking>
      )}
    </section>
  );
}

function expiryText(expires: string | null): string {
  if (expires === null) return words.never;
  return Date.parse(expires) <= Date.now() ? words.expired : timeText(expires);
}
