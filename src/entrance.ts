// What stands before every route of the whole server: who may come in, from where, and what is noted of it.
import { accountsOf, type HostAccounts } from './access.ts';
import type { Config } from './config/schema.ts';
import { Admissions } from './http/admissions.ts';
import type { AppOptions } from './http/app.ts';
import { Authentication } from './http/authentication.ts';
import { DOCUMENTED_ORIGINS, gate, isWithoutTls } from './http/gate.ts';
import { ownNames } from './http/guard.ts';
import { TrustedProxies } from './http/proxies.ts';
import { recorder } from './http/recording.ts';
import { Tickets } from './http/tickets.ts';

export interface Entrance {
  accounts: HostAccounts;
  authentication: Authentication;
  admissions: Admissions;
  tickets: Tickets;
  guards: NonNullable<AppOptions['middleware']>;
  record: AppOptions['record'];
}

export function entranceOf(config: Config): Entrance {
  const { host, port, protocol, record, allowed_hosts, allowed_origins, trusted_proxies } = config.Server;
  const accounts = accountsOf(config);
  const authentication = new Authentication(accounts.known);
  const tickets = new Tickets();
  const hosts = [...ownNames(), ...allowed_hosts];
  const open = { hosts, origins: [...DOCUMENTED_ORIGINS, ...allowed_origins] };
  const shared = { hosts, origins: [...DOCUMENTED_ORIGINS.filter((one) => !isWithoutTls(one)), ...allowed_origins] };
  const guards = gate({
    rules: async () => ((await accounts.file.isShared()) ? shared : open),
    authentication,
    tickets,
    proxies: new TrustedProxies(trusted_proxies),
  });
  return {
    ...{ accounts, authentication, admissions: new Admissions(authentication), tickets, guards },
    record: record ? recorder(record, `${protocol}://${host}:${port}`) : undefined,
  };
}
