// What the first answer needs, and no more: the listener, and the one route that clients ask first. The rest of the server is read behind
// it; requests for that wait.
import { statSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import type { Config } from './config/schema.ts';
import { VERSION_PATH, versionAnswer } from './controller/server/version-answer.ts';
import { answerText } from './events/json.ts';
import { Failure } from './failures.ts';
import { isLoopback } from './host/loopback.ts';
import { ArrivingApp } from './http/arriving-app.ts';
import { earlyAnswer } from './http/early-answers.ts';
import { ownNames } from './http/guard.ts';
import { Observation } from './http/observation.ts';
import { HttpServer } from './http/server.ts';
import type { TlsFiles } from './http/tls.ts';
import { accountsPath } from './store/accounts-path.ts';

/** The listener, for the application that comes later. */
export interface Front {
  observation: Observation;
  app: ArrivingApp;
  server: HttpServer;
  address: AddressInfo;
}

/** Opens the state directory for a moment. @throws Failure what is wrong with it */
async function tryState({ state }: Config): Promise<void> {
  const { Store } = await import('./store/store.ts');
  await (await Store.open({ stateDirectory: state })).close();
}

/** Whether there is surely no such file. */
function isMissing(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) === undefined;
  } catch {
    return false;
  }
}

async function tlsFilesOf(config: Config): Promise<TlsFiles | undefined> {
  const { ssl, certfile } = config.Server;
  if (!ssl) return undefined;
  if (certfile === '') await tryState(config); // a certificate that is made goes there
  const { certificateOf } = await import('./certificate.ts');
  return certificateOf(config);
}

/**
 * Listens. A server that asks nobody who he is tells its release from now on; everything else waits for the whole application.
 * @throws Failure `invalid` for a server that would be open to the network, `conflict` when the address is taken
 */
export async function openFront(config: Config): Promise<Front> {
  const { host, port, auth, insecure, version, local, record, allowed_hosts } = config.Server;
  if (!auth && !insecure && !isLoopback(host)) {
    throw new Failure(
      'invalid',
      `host = ${host} is open to the network without a password: leave out auth = false in [Server], or start with --insecure.`,
    );
  }
  const observation = new Observation();
  const accounts = accountsPath(config.state);
  const early = earlyAnswer({
    path: VERSION_PATH,
    text: answerText(versionAnswer(version, local)),
    hosts: [...ownNames(), ...allowed_hosts],
    // What accounts and tokens may do, and when they were last used, the whole server alone knows.
    isOpen: () => isMissing(accounts),
    observation,
  });
  const app = new ArrivingApp(auth || record ? undefined : early);
  const server = new HttpServer(app, { host, port, tls: await tlsFilesOf(config) });
  const address = await server.start().catch(async (error: unknown) => {
    // Another server that has the state directory says more than one that has the port.
    if (error instanceof Failure && error.code === 'conflict') await tryState(config);
    throw error;
  });
  return { observation, app, server, address };
}
