// Chooses the server and credentials: from the command line, the environment, the current context, or this host.
import { WrongUsage } from '../../commands/wrong-usage.ts';
import type { ProcessEnvironment } from '../../config/environment.ts';
import { Failure, notFound } from '../../failures.ts';
import { isReachable } from '../../http/access/local-socket.ts';
import { hasPassword } from './api.ts';
import { type Context, contextNamed, readContexts } from './contexts.ts';

const USUAL_SERVER = 'http://127.0.0.1:3080';

export type ClientEnvironment = ProcessEnvironment['client'];

export interface ChoiceFlags {
  readonly server?: string;
  readonly context?: string;
  readonly 'password-file'?: string;
}

/** A server with its credentials. */
export interface Choice {
  server: string;
  passwordFile?: string | undefined;
  token?: string | undefined;
  lab?: string | undefined;
}

/** @throws WrongUsage; Failure for an unknown context */
export async function chooseServer(flags: ChoiceFlags, environment: ClientEnvironment): Promise<Choice> {
  const { server, context, 'password-file': passwordFile } = flags;
  if (server !== undefined && context !== undefined) {
    throw new WrongUsage('--server and --context both name a server: choose one.');
  }
  if (server !== undefined) {
    refusePassword(server);
    return { server, passwordFile };
  }
  const chosen = await fromContext(context, environment);
  if (chosen) return { ...chosen, passwordFile: passwordFile ?? chosen.passwordFile };
  return { server: environment.server || (await localServer(environment.sockets)), passwordFile };
}

/** @throws WrongUsage for an address that shows a password to all users of this host */
export function refusePassword(server: string): void {
  if (!hasPassword(server)) return;
  throw new WrongUsage(
    'All users of this host can read a password in --server: use --password-file, $LABWIRE_SERVER or the prompt instead.',
  );
}

/** A context named by flag or environment wins over the environment's server; the current context comes after it. */
async function fromContext(
  flag: string | undefined,
  { context, contexts, server }: ClientEnvironment,
): Promise<Context | undefined> {
  const named = flag ?? (context || undefined);
  if (named === undefined && server) return undefined;
  const kept = await readContexts(contexts);
  const wanted = named ?? kept.current;
  if (wanted === undefined) return undefined;
  try {
    return contextNamed(kept, wanted);
  } catch (error) {
    if (flag !== undefined || !(error instanceof Failure)) throw error;
    throw notFound(`$LABWIRE_CONTEXT: ${error.message}`);
  }
}

/** A server that listens at one of these sockets; else the address at which servers usually are. */
async function localServer(sockets: readonly string[]): Promise<string> {
  for (const path of sockets) if (await isReachable(path)) return `unix:${path}`;
  return USUAL_SERVER;
}
