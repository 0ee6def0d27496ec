// `labwired context`: named servers, so that commands need not give an address.
import { resolve } from 'node:path';
import { WrongUsage } from '../../commands/wrong-usage.ts';
import { askSecret } from '../../host/terminal/ask-secret.ts';
import { TOKEN_PREFIX } from '../../store/roles.ts';
import { type Noun, verb } from '../frame/command.ts';
import { firstLineOf, type Session } from '../frame/session.ts';
import { Api } from '../server/api.ts';
import {
  type Context,
  type Contexts,
  contextNamed,
  readContexts,
  withoutToken,
  writeContexts,
} from '../server/contexts.ts';
import { refusePassword } from '../server/server-choice.ts';

interface AddFlags {
  token?: true;
  'token-file'?: string;
  lab?: string;
  force?: true;
}

/**
 * The token to save, if any; prompted for last.
 * @throws WrongUsage
 */
async function tokenOf(address: string, { token, 'token-file': file }: AddFlags): Promise<string | undefined> {
  if (token === undefined && file === undefined) return undefined;
  const source = file === undefined ? 'The answer' : `--token-file ${file}: its first line`;
  const text = file === undefined ? await askSecret(`Token for ${address}: `) : await firstLineOf(file, '--token-file');
  const given = text.trim();
  if (given.startsWith(TOKEN_PREFIX) && !/\s/.test(given)) return given;
  throw new WrongUsage(`${source} is not a token: tokens begin with ${TOKEN_PREFIX}.`);
}

async function add(session: Session, name: string, flags: AddFlags): Promise<void> {
  const { lab, force } = flags;
  const { server, 'password-file': passwordFile } = session.flags;
  if (server === undefined) throw new WrongUsage('--server is missing: name the server, http://USER@HOST:PORT');
  refusePassword(server);
  const ways = [passwordFile, flags.token, flags['token-file']].filter((way) => way !== undefined);
  if (ways.length > 1) throw new WrongUsage('--password-file, --token and --token-file: choose one.');
  const { address } = new Api({ url: server });
  const keptNow = async (): Promise<Contexts> => {
    const kept = await readContexts(session.contextFile);
    if (force || !kept.contexts.some((one) => one.name === name)) return kept;
    throw new WrongUsage(`There is a context "${name}" already: replace it with --force, or choose another name.`);
  };
  await keptNow();
  const token = await tokenOf(address, flags);
  const made: Context = {
    name,
    server,
    ...(token !== undefined && { token }),
    ...(passwordFile !== undefined && { passwordFile: resolve(passwordFile) }),
    ...(lab !== undefined && { lab }),
  };
  // Other commands may have changed it while this one asked.
  const kept = await keptNow();
  const contexts = [...kept.contexts.filter((one) => one.name !== name), made];
  await writeContexts(session.contextFile, { ...kept, contexts });
  session.tell(
    `Context "${name}" is kept: ${address}; labwired context use ${name} makes it the usual one.`,
    name,
    withoutToken(made),
  );
}

async function use(session: Session, name: string | undefined): Promise<void> {
  const { contexts, ...kept } = await readContexts(session.contextFile);
  if (name === undefined) {
    await writeContexts(session.contextFile, { contexts });
    session.tell('No context is in use any more: commands look for a server of this host.', '');
    return;
  }
  const chosen = contextNamed({ contexts }, name);
  await writeContexts(session.contextFile, { ...kept, contexts, current: name });
  session.tell(`Commands go to ${chosen.server} from now on.`, name, withoutToken(chosen));
}

async function remove(session: Session, names: readonly string[]): Promise<void> {
  for (const name of names) {
    const { current, contexts } = await readContexts(session.contextFile);
    contextNamed({ contexts }, name);
    await writeContexts(session.contextFile, {
      ...(current !== undefined && current !== name && { current }),
      contexts: contexts.filter((one) => one.name !== name),
    });
    session.tell(`Context "${name}" is forgotten.`, name);
  }
}

export const context: Noun = {
  name: 'context',
  summary: 'named servers',
  verbs: [
    verb({
      name: 'list',
      summary: 'lists all contexts and marks the one in use',
      isLocal: true,
      run: async (session) => {
        const { current, contexts } = await readContexts(session.contextFile);
        const shown = contexts.map((one) => ({ ...withoutToken(one), current: one.name === current }));
        session.show(shown, ({ name }) => name, [
          { heading: 'CONTEXT', cell: ({ name, current }) => (current ? `${name} *` : name) },
          { heading: 'SERVER', cell: ({ server }) => server },
          { heading: 'LAB', cell: ({ lab }) => lab ?? '' },
          {
            heading: 'PASSWORD',
            cell: ({ passwordFile, has_token }) => (has_token ? 'a token' : (passwordFile ?? '')),
          },
        ]);
      },
    }),
    verb({
      name: 'add',
      words: ['NAME'],
      summary: 'saves --server under this name, with --password-file or a token',
      flags: {
        lab: { value: 'LAB', short: 'l', summary: 'the lab of its commands' },
        token: { summary: 'ask for an API token, or read it from standard input, and save it' },
        'token-file': { value: 'FILE', summary: 'save the token in its first line' },
        force: { summary: 'replace an existing context' },
      },
      isLocal: true,
      run: (session, [name], flags) => add(session, name, flags),
    }),
    verb({
      name: 'use',
      words: ['[NAME]'],
      summary: 'makes it the default server; without a name: no context',
      isLocal: true,
      run: (session, [name]) => use(session, name),
    }),
    verb({
      name: 'remove',
      words: ['NAME...'],
      summary: 'removes saved servers',
      isLocal: true,
      run: (session, names) => remove(session, names),
    }),
  ],
};
