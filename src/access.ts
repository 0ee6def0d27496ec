// Who may come in, and over what: the account and the certificate that the configuration names, or those of the state directory.
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import type { Config } from './config/schema.ts';
import { Failure } from './failures.ts';
import { log } from './host/log.ts';
import { ensureSelfSigned } from './host/self-signed.ts';
import { Authentication } from './http/authentication.ts';
import { ownNames } from './http/guard.ts';
import type { TlsFiles } from './http/server.ts';
import { AccountFile } from './store/account.ts';

/** The first start makes an account if none is configured; its password is shown to a person at a terminal, and never logged. */
export async function authenticationOf({ Server: { user, password }, state }: Config): Promise<Authentication> {
  if (user !== '') return new Authentication(() => ({ user, password }));
  const file = new AccountFile(state);
  const made = await file.ensure();
  if (made) {
    log.info('an account was made', { user: made.user, password: `in ${made.file}` });
    if (process.stderr.isTTY) process.stderr.write(`\n  user ${made.user}, password ${made.password}\n\n`);
  }
  return new Authentication(async () => {
    const account = await file.read();
    if (account) return account;
    throw new Failure(
      'unavailable',
      `${file.path} is missing: nobody can be let in until "labwired password" makes it.`,
    );
  });
}

/** The files for HTTPS; undefined for HTTP. */
export async function certificateOf({ Server, state }: Config): Promise<TlsFiles | undefined> {
  const { ssl, certfile, certkey } = Server;
  if (!ssl) return undefined;
  if (certfile !== '') return { certificate: certfile, key: certkey };
  return await ensureSelfSigned(join(state, 'tls'), ownHostNames(Server.host));
}

/** Every name and address by which clients may know this host. */
function ownHostNames(host: string): string[] {
  const addresses = Object.values(networkInterfaces()).flatMap((all) => all?.map(({ address }) => address) ?? []);
  const listening = ['0.0.0.0', '::'].includes(host) ? [] : [host];
  return [...new Set([...ownNames(), 'localhost', ...listening, ...addresses])];
}
