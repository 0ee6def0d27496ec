// `labwired context`: servers by names, so that no command has to say where its lab is.
import { resolve } from 'node:path';
import { WrongUsage } from '../../commands/wrong-usage.ts';
import { askSecret } from '../../host/terminal/ask-secret.ts';
import { TOKEN_PREFIX } from '../../store/roles.ts';
import { type Noun, verb } from '../frame/command.ts';
import { firstLineOf, type Session } from '../frame/session.ts';
import { Api } from '../server/api.ts';
import { type Context, contextNamed, readContexts, withoutToken, writeContexts } from '../server/contexts.ts';
import { refusePassword } from '../server/server-choice.ts';

interface AddFlags {
  token?: true;
  'token-file'?: string;
  lab?: string;
  force?: true;
}

/** The token that is to be kept, if one is; asked for at the last moment. @throws WrongUsage */
async function tokenOf(address: string, { token, 'token-file': file }: AddFlags): Promise<string | undefined> {
  if (token === undefined && file === undefined) return undefined;
  const source = file === undefined ? 'The answer' : `--token-file ${file}: its first line`;
  const text = file === undefined ? await askSecret(`Token for ${address}: `) : await firstLineOf(file, '--token-file');
  const given = text.trim();
  if (given.startsWith(TOKEN_PREFIX) && !/\s/.test(given)) return given;
  throw new WrongUsage(`${source} is no token, which begins with ${TOKEN_PREFIX}.`);
}

async function add(session: Session, name: string, flags: AddFlags): Promise<void> {
  const { lab, force } = flags;
  const { server, 'password-file': passwordFile } = session.flags;
  if (server === undefined) throw new WrongUsage('Say which server it is: --server http://USER@HOST:PORT');
  refusePassword(server);
  const ways = [passwordFile, flags.token, flags['token-file']].filter((way) => way !== undefined);
  if (ways.length > 1) throw new WrongUsage('--password-file, --token and --token-file: choose one.');
  const { address } = new Api({ url: server });
  const kept = await readContexts(session.contextFile);
  if (kept.contexts.some((one) => one.name === name) && !force) {
    throw new WrongUsage(`There is a context "${name}" already: replace it with --force, or choose another name.`);
  }
  const token = await tokenOf(address, flags);
  const made: Context = {
    name,
    server,
    ...(token !== undefined && { token }),
    ...(passwordFile !== undefined && { passwordFile: resolve(passwordFile) }),
    ...(lab !== undefined && { lab }),
  };
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
  summary: 'servers by names, kept for the next commands',
  verbs: [
    verb({
      name: 'list',
      words: [],
      summary: 'all contexts; the one in use is marked',
      flags: {},
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
      summary: 'keeps --server under this name, and --password-file or a token if it is given',
      flags: {
        lab: { value: 'LAB', short: 'l', summary: 'the lab that its commands are about' },
        token: { summary: 'ask for an API token, and keep it; without a terminal it is a line of standard input' },
        'token-file': { value: 'FILE', summary: 'keep the token that is its first line' },
        force: { summary: 'replace one of this name' },
      },
      isLocal: true,
      run: (session, [name], flags) => add(session, name!, flags),
    }),
    verb({
      name: 'use',
      words: ['[NAME]'],
      summary: 'commands that name no server go there from now on; without a name: to none of them',
      flags: {},
      isLocal: true,
      run: (session, [name]) => use(session, name),
    }),
    verb({
      name: 'remove',
      words: ['NAME...'],
      summary: 'forgets them',
      flags: {},
      isLocal: true,
      run: (session, names) => remove(session, names),
    }),
  ],
};
