// What the first answer needs, and no more: who may come in, the listener, and the one route that clients ask first. The rest of the
// server is read behind it; requests for that wait.
import type { AddressInfo } from 'node:net';
import { accountsOf, certificateOf, type HostAccounts } from './access.ts';
import type { Config } from './config/schema.ts';
import { versionRoute } from './controller/server/version-route.ts';
import { Failure } from './failures.ts';
import { isLoopback } from './host/loopback.ts';
import { Admissions } from './http/admissions.ts';
import { App, type AppOptions } from './http/app.ts';
import { ArrivingApp } from './http/arriving-app.ts';
import { Authentication } from './http/authentication.ts';
import { DOCUMENTED_ORIGINS, gate } from './http/gate.ts';
import { ownNames } from './http/guard.ts';
import { Observation } from './http/observation.ts';
import { TrustedProxies } from './http/proxies.ts';
import { recorder } from './http/recording.ts';
import { HttpServer } from './http/server.ts';
import { Tickets } from './http/tickets.ts';

/** The listener and what stands before every route, for the application that comes later. */
export interface Front {
  accounts: HostAccounts;
  authentication: Authentication;
  admissions: Admissions;
  observation: Observation;
  tickets: Tickets;
  guards: NonNullable<AppOptions['middleware']>;
  record: AppOptions['record'];
  app: ArrivingApp;
  server: HttpServer;
  address: AddressInfo;
}

/** Opens the state directory for a moment. @throws Failure what is wrong with it */
async function tryState({ state }: Config): Promise<void> {
  const { Store } = await import('./store/store.ts');
  await (await Store.open({ stateDirectory: state })).close();
}

/**
 * Listens. A server that asks nobody who he is tells its release from now on; everything else waits for the whole application.
 * @throws Failure `invalid` for a server that would be open to the network, `conflict` when the address is taken
 */
export async function openFront(config: Config): Promise<Front> {
  const { host, port, protocol, ssl, certfile, auth, insecure, version, local, record: recorded } = config.Server;
  if (!auth && !insecure && !isLoopback(host)) {
    throw new Failure(
      'invalid',
      `host = ${host} is open to the network without a password: leave out auth = false in [Server], or start with --insecure.`,
    );
  }
  const accounts = accountsOf(config);
  const authentication = new Authentication(accounts.known);
  const admissions = new Admissions(authentication);
  const observation = new Observation();
  const tickets = new Tickets();
  const guards = gate({
    rules: {
      hosts: [...ownNames(), ...config.Server.allowed_hosts],
      origins: [...DOCUMENTED_ORIGINS, ...config.Server.allowed_origins],
    },
    authentication,
    tickets,
    proxies: new TrustedProxies(config.Server.trusted_proxies),
  });
  const record = recorded ? recorder(recorded, `${protocol}://${host}:${port}`) : undefined;
  // What accounts and tokens may do, and when they were last used, the whole server alone knows.
  const isOpen = !auth && (await accounts.known().catch(() => undefined))?.asked === false;
  const first = isOpen
    ? new App([versionRoute(version, local)], { middleware: [observation.middleware, ...guards], record })
    : undefined;
  const app = new ArrivingApp(first);
  if (ssl && certfile === '') await tryState(config); // a certificate that is made goes there
  const server = new HttpServer(app, { host, port, tls: await certificateOf(config), admissions });
  const address = await server.start().catch(async (error: unknown) => {
    // Another server that has the state directory says more than one that has the port.
    if (error instanceof Failure && error.code === 'conflict') await tryState(config);
    throw error;
  });
  return { accounts, authentication, admissions, observation, tickets, guards, record, app, server, address };
}
