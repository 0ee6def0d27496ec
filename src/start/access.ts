// The accounts that may log in: the configured one, or those of the state directory.
import type { Config } from '../config/schema.ts';
import { unavailable } from '../failures.ts';
import { log } from '../host/log.ts';
import { type Credentials, type KnownAccounts, oneAccount } from '../http/access/authentication.ts';
import { AccountFile } from '../store/account.ts';
import { type AccountsContent, AccountsFile } from '../store/accounts.ts';

export interface HostAccounts {
  file: AccountsFile;
  /** All current accounts and tokens. */
  known: () => Promise<KnownAccounts>;
  /** Name of the single account from the configuration or `account.json`; undefined without one. */
  hostName: () => Promise<string | undefined>;
}

const NOBODY_IS_ASKED: KnownAccounts = { asked: false, accounts: [], tokens: [] };

/** The account from the configuration or the state directory. */
function hostAccount({ Server: { user, password }, state }: Config): () => Promise<Credentials | undefined> {
  const own = new AccountFile(state);
  const configured = { user, password };
  if (user === '') return () => own.read();
  // A name without a password is no account; with authentication the server does not start with it.
  return async () => (password === '' ? undefined : configured);
}

/** The accounts that may log in. */
export function accountsOf(config: Config): HostAccounts {
  const { Server, state } = config;
  const file = new AccountsFile(state);
  const host = hostAccount(config);
  let last: { content: AccountsContent; own: Credentials | undefined; known: KnownAccounts } | undefined;
  const known = async (): Promise<KnownAccounts> => {
    const content = await file.read();
    if (!Server.auth && content.accounts.length === 0) return NOBODY_IS_ASKED;
    const own = await host();
    if (own === undefined && content.accounts.length === 0)
      throw unavailable(
        `${new AccountFile(state).path} is missing: no client can log in until "labwired password" creates it.`,
      );
    if (last?.content !== content || last.own !== own) {
      const { accounts } = own === undefined ? NOBODY_IS_ASKED : oneAccount(own);
      const { accounts: others, tokens } = content;
      // A locked account is as good as gone until it is unlocked.
      const active = others.filter(({ locked }) => locked !== true);
      last = { content, own, known: { asked: true, accounts: [...accounts, ...active], tokens } };
    }
    return last.known;
  };
  return { file, known, hostName: async () => (await host())?.user };
}

/** The first start with authentication creates an account if there is none. Its password is shown on a terminal and never logged. */
export async function ensureAccount({ Server: { auth, user }, state }: Config, { file }: HostAccounts): Promise<void> {
  if (!auth || user !== '' || (await file.read()).accounts.length > 0) return;
  const made = await new AccountFile(state).ensure();
  if (!made) return;
  log.info('an account was made', { user: made.user, password: `in ${made.file}` });
  if (process.stderr.isTTY) process.stderr.write(`\n  user ${made.user}, password ${made.password}\n\n`);
}
