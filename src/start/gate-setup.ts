// Sets up the checks before all routes: authentication, allowed origins, and the request log.
import type { Config } from '../config/schema.ts';
import { Authentication } from '../http/access/authentication.ts';
import { DOCUMENTED_ORIGINS, type GateOptions, gate, isWithoutTls } from '../http/access/gate.ts';
import { ownNames } from '../http/access/guard.ts';
import { Admissions } from '../http/access/open-connections.ts';
import { TrustedProxies } from '../http/access/proxies.ts';
import { Sessions } from '../http/access/sessions.ts';
import { Tickets } from '../http/access/tickets.ts';
import type { AppOptions } from '../http/app/app.ts';
import { recorder } from '../http/app/recording.ts';
import type { Documents } from '../store/documents.ts';
import { accountsOf, type HostAccounts } from './access.ts';

export interface Entrance {
  accounts: HostAccounts;
  authentication: Authentication;
  admissions: Admissions;
  tickets: Tickets;
  guards: NonNullable<AppOptions['middleware']>;
  record: AppOptions['record'];
}

/** @param definitionAt called when requests arrive */
export function createAccess(
  config: Config,
  documents: Documents,
  definitionAt: NonNullable<GateOptions['definitionAt']>,
): Entrance {
  const { host, port, protocol, record, allowed_hosts, allowed_origins, trusted_proxies } = config.Server;
  const accounts = accountsOf(config);
  const authentication = new Authentication(accounts.known, undefined, new Sessions(documents));
  const tickets = new Tickets();
  const hosts = [...ownNames(), ...allowed_hosts];
  const open = { hosts, origins: [...DOCUMENTED_ORIGINS, ...allowed_origins] };
  const shared = { hosts, origins: [...DOCUMENTED_ORIGINS.filter((one) => !isWithoutTls(one)), ...allowed_origins] };
  const guards = gate({
    definitionAt,
    rules: async () => ((await accounts.file.isShared()) ? shared : open),
    authentication,
    tickets,
    proxies: new TrustedProxies(trusted_proxies),
  });
  return {
    accounts,
    authentication,
    admissions: new Admissions(authentication),
    tickets,
    guards,
    record: record ? recorder(record, `${protocol}://${host}:${port}`) : undefined,
  };
}
