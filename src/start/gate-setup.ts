// Sets up the checks before all routes: authentication, allowed origins, and the request log.

import { hostInUrl } from '../api/host-in-url.ts';
import type { Config } from '../config/schema.ts';
import { isLoopback } from '../host/network/loopback.ts';
import { Authentication } from '../http/access/authentication.ts';
import { DOCUMENTED_ORIGINS, type GateOptions, gate, isWithoutTls } from '../http/access/gate.ts';
import { type GuardRules, ownNames } from '../http/access/guard.ts';
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

/** Whose pages and which names of this host are allowed, without accounts. */
export function openRules({ Server: { allowed_hosts, allowed_origins } }: Config): GuardRules {
  return { hosts: [...ownNames(), ...allowed_hosts], origins: [...DOCUMENTED_ORIGINS, ...allowed_origins] };
}

/** @param definitionAt called when requests arrive */
export function createAccess(
  config: Config,
  documents: Documents,
  definitionAt: NonNullable<GateOptions['definitionAt']>,
): Entrance {
  const { host, port, protocol, record, insecure, trusted_proxies } = config.Server;
  const accounts = accountsOf(config);
  const authentication = new Authentication(accounts.known, undefined, new Sessions(documents));
  const tickets = new Tickets();
  const open = openRules(config);
  const documented = DOCUMENTED_ORIGINS.filter((one) => !isWithoutTls(one));
  const shared = { ...open, origins: [...documented, ...config.Server.allowed_origins] };
  const guards = gate({
    definitionAt,
    rules: async () => ((await accounts.file.isShared()) ? shared : open),
    authentication,
    tickets,
    proxies: new TrustedProxies(trusted_proxies),
    passedWithoutPassword: insecure || !isLoopback(host),
  });
  return {
    accounts,
    authentication,
    admissions: new Admissions(authentication),
    tickets,
    guards,
    record: record ? recorder(record, `${protocol}://${hostInUrl(host)}:${port}`) : undefined,
  };
}
