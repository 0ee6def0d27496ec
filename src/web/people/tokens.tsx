// The account's tokens for programs: create, show once, revoke.
import { useSignal } from '@preact/signals';
import type { Role, TokenRole } from '../../api/accounts.ts';
import type { TokenObject } from '../../api/routes/accounts.ts';
import { Asking } from '../labs/asking.tsx';
import { api } from '../model/server/api.ts';
import { useLoaded } from '../model/server/loaded.ts';
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
  return (
    <section>
      <h2>{words.tokens}</h2>
      <p>{words.tokensHint}</p>
      <p>
        <button
          type="button"
          onClick={() => {
            isAsking.value = true;
          }}
        >
          {words.make}
        </button>
      </p>
      {made.value && (
        <div class="made" role="status">
          <p>{words.isMade(made.value.name)}</p>
          <CopyLine label={words.token} text={made.value.token} />
          <button
            type="button"
            onClick={() => {
              made.value = undefined;
            }}
          >
            {words.seen}
          </button>
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
                  <button
                    type="button"
                    aria-label={words.revokeOf(token.name)}
                    onClick={() => {
                      revoked.value = token;
                    }}
                  >
                    {words.revoke}
                  </button>
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
          close={() => {
            isAsking.value = false;
          }}
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
              {ROLES.slice(0, role === 'none' ? 0 : ROLES.indexOf(role)).map((each) => (
                <option key={each} value={each}>
                  {words.roleAtMost[each]}
                </option>
              ))}
            </select>
          </label>
          <label>
            {words.expires}
            <select name="days">
              {DAYS.map((days) => (
                <option key={days} value={days} selected={days === USUAL_DAYS}>
                  {words.inDays(days)}
                </option>
              ))}
              <option value="">{words.never}</option>
            </select>
          </label>
        </Asking>
      )}
      {revoked.value && (
        <Asking
          title={words.revokeOf(revoked.value.name)}
          verb={words.revoke}
          close={() => {
            revoked.value = undefined;
          }}
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
