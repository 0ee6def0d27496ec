// A server with accounts in the process of a test, and people who ask it.
import type { TestContext } from 'node:test';
import type { Role } from '../../src/api/accounts.ts';
import { loadConfig } from '../../src/config/load.ts';
import { configureLog } from '../../src/host/log.ts';
import { basicHeader } from '../../src/http/access/authentication.ts';
import type { Daemon } from '../../src/start/daemon.ts';
import { AccountsFile } from '../../src/store/accounts.ts';
import '../cheap-passwords.ts';
import { daemonHere } from '../daemon-here.ts';
import { scratchDirectory } from '../store/scratch.ts';

configureLog({ write: () => {} });

export const PASSWORD = 'a good password';
export async function serve(
  t: TestContext,
  former?: string,
): Promise<{ daemon: Daemon; file: AccountsFile; state: string }> {
  const state = former ?? (await scratchDirectory(t));
  const flags = Object.entries({ port: '0', local: 'True' }).map(([key, value]) => ({
    ...{ section: 'Server' as const, key, value, flag: key },
  }));
  const { config } = loadConfig({ flags, environment: {}, workingDirectory: state, home: state, state });
  const daemon = await daemonHere(config);
  t.after(() => daemon.stop());
  return { daemon, file: new AccountsFile(state), state };
}

export function asker({ app }: Daemon, user: string) {
  const headers = { authorization: basicHeader({ user, password: PASSWORD }) };
  return async (method: string, path: string, body?: object) => {
    const content = body === undefined ? null : JSON.stringify(body);
    const response = await app.request(path, { method, headers, body: content });
    const stream = response.headers.get('content-type') === 'application/json' && path.endsWith('/notifications');
    if (stream) await response.body?.cancel();
    const text = stream ? '' : await response.text();
    return { status: response.status, text };
  };
}

/** What a stream of notifications tells somebody, up to a line that matches. */
export async function told({ app }: Daemon, user: string, path: string, last: RegExp): Promise<string> {
  const response = await app.request(path, { headers: { authorization: basicHeader({ user, password: PASSWORD }) } });
  let text = '';
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (last.test(text)) break;
  }
  return text;
}

/** Adds accounts of these names and roles. */
export async function addPeople<Name extends string>(
  { daemon, file }: { daemon: Daemon; file: AccountsFile },
  roles: Readonly<Record<Name, Role>>,
): Promise<Record<Name, ReturnType<typeof asker>>> {
  const names = Object.keys(roles) as Name[];
  for (const name of names) await file.add([{ name, role: roles[name], password: PASSWORD }], []);
  return Object.fromEntries(names.map((name) => [name, asker(daemon, name)])) as Record<Name, ReturnType<typeof asker>>;
}
