// `labwired token`: tokens that programs use instead of a password.
import type * as v from 'valibot';
import { TOKEN_ROLES } from '../../api/accounts.ts';
import type { TokenCreate, TokenObject } from '../../api/routes/accounts.ts';
import { WrongUsage } from '../../commands/wrong-usage.ts';
import { type Noun, verb } from '../frame/command.ts';
import type { Session } from '../frame/session.ts';
import { findNamed } from '../server/find.ts';
import { inTime } from '../terminal/figures.ts';

const TOKENS = '/v2/account/tokens';
/** The word for a token that never expires. */
const FOR_EVER = 'never';

interface CreateFlags {
  role?: string;
  days?: string;
  account?: string;
}

const ACCOUNT = { value: 'NAME', summary: 'of another account (for admins)' } as const;

/** @throws WrongUsage */
function daysOf(given: string): number | null {
  if (given === FOR_EVER) return null;
  const days = Number(given);
  if (given.trim() !== '' && days > 0 && days <= 3_650) return days;
  throw new WrongUsage(`--days "${given}": write days, more than 0 and at most 3650, or ${FOR_EVER}.`);
}

/**
 * The request for a new token.
 * @throws WrongUsage
 */
export function tokenBody(name: string, { role, days, account }: CreateFlags): v.InferInput<typeof TokenCreate> {
  const known = TOKEN_ROLES.find((one) => one === role);
  if (role !== undefined && !known) throw new WrongUsage(`--role "${role}": choose ${TOKEN_ROLES.join(', ')}.`);
  return {
    name,
    ...(known && { role: known }),
    ...(days !== undefined && { days: daysOf(days) }),
    ...(account !== undefined && { account }),
  };
}

const inLocalTime = (moment: string): string => inTime(Date.parse(moment) / 1000);

function until({ expires }: TokenObject): string {
  if (expires === null) return FOR_EVER;
  return inLocalTime(expires) + (Date.parse(expires) <= Date.now() ? ', expired' : '');
}

/** The tokens of who asks, or of this account. */
function tokens(session: Session, account: string | undefined): Promise<TokenObject[]> {
  return session.api.get(account === undefined ? TOKENS : `${TOKENS}?account=${encodeURIComponent(account)}`);
}

async function create(session: Session, name: string, flags: CreateFlags): Promise<void> {
  const made = await session.api.post<TokenObject & { token: string }>(TOKENS, tokenBody(name, flags));
  // Only the token is printed, for scripts and for a --password-file.
  session.tell(made.token, made.token, made);
  const end = made.expires === null ? 'for ever' : `until ${inLocalTime(made.expires)}`;
  session.remark(`Token "${made.name}" is good ${end}. It is not shown again.`);
}

async function revoke(session: Session, wanted: readonly string[], account: string | undefined): Promise<void> {
  for (const word of wanted) {
    const all = await tokens(session, account);
    const { token_id: id, name } = findNamed('token', all, (one) => ({ id: one.token_id, name: one.name }), word);
    await session.api.delete(`${TOKENS}/${id}`);
    session.tell(`Token "${name}" is revoked.`, id);
  }
}

export const token: Noun = {
  name: 'token',
  summary: 'API tokens, with which programs log in',
  verbs: [
    verb({
      name: 'create',
      words: ['NAME'],
      summary: 'creates a token and prints it once',
      flags: {
        role: { value: 'ROLE', summary: `its highest role: ${TOKEN_ROLES.join(', ')} (that of the account)` },
        days: { value: 'DAYS', summary: `days until it expires, or ${FOR_EVER} (90)` },
        account: { value: 'NAME', summary: 'its account, at the local socket' },
      },
      run: (session, [name], flags) => create(session, name, flags),
    }),
    verb({
      name: 'list',
      summary: 'lists your tokens, without their text',
      flags: { account: ACCOUNT },
      run: async (session, _words, { account }) =>
        session.show(await tokens(session, account), ({ token_id }) => token_id, [
          { heading: 'TOKEN', cell: ({ name }) => name },
          { heading: 'ROLE', cell: ({ role }) => role ?? '' },
          { heading: 'UNTIL', cell: until },
          { heading: 'LAST USED', cell: ({ last_used: used }) => (used === null ? '' : inLocalTime(used)) },
          { heading: 'ID', cell: ({ token_id }) => token_id },
        ]),
    }),
    verb({
      name: 'revoke',
      words: ['TOKEN...'],
      summary: 'revokes tokens and closes their connections',
      flags: { account: ACCOUNT },
      run: (session, wanted, { account }) => revoke(session, wanted, account),
    }),
  ],
};
