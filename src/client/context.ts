// `labwired context`: servers by names, so that no command has to say where its lab is.
import { resolve } from 'node:path';
import { Api } from './api.ts';
import { type Noun, verb } from './command.ts';
import { type Context, contextNamed, readContexts, writeContexts } from './contexts.ts';
import { refusePassword } from './server-choice.ts';
import type { Session } from './session.ts';
import { WrongUsage } from './wrong-usage.ts';

async function add(session: Session, name: string, { lab, force }: { lab?: string; force?: true }): Promise<void> {
  const { server, 'password-file': passwordFile } = session.flags;
  if (server === undefined) throw new WrongUsage('Say which server it is: --server http://USER@HOST:PORT');
  refusePassword(server);
  const { address } = new Api({ url: server });
  const kept = await readContexts(session.contextFile);
  if (kept.contexts.some((one) => one.name === name) && !force) {
    throw new WrongUsage(`There is a context "${name}" already: replace it with --force, or choose another name.`);
  }
  const made: Context = {
    name,
    server,
    ...(passwordFile !== undefined && { passwordFile: resolve(passwordFile) }),
    ...(lab !== undefined && { lab }),
  };
  const contexts = [...kept.contexts.filter((one) => one.name !== name), made];
  await writeContexts(session.contextFile, { ...kept, contexts });
  session.tell(
    `Context "${name}" is kept: ${address}; labwired context use ${name} makes it the usual one.`,
    name,
    made,
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
  session.tell(`Commands go to ${chosen.server} from now on.`, name, chosen);
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
        const shown = contexts.map((one) => ({ ...one, current: one.name === current }));
        session.show(shown, ({ name }) => name, [
          { heading: 'CONTEXT', cell: ({ name, current }) => (current ? `${name} *` : name) },
          { heading: 'SERVER', cell: ({ server }) => server },
          { heading: 'LAB', cell: ({ lab }) => lab ?? '' },
          { heading: 'PASSWORD FILE', cell: ({ passwordFile }) => passwordFile ?? '' },
        ]);
      },
    }),
    verb({
      name: 'add',
      words: ['NAME'],
      summary: 'keeps --server, and --password-file if it is given, under this name',
      flags: {
        lab: { value: 'LAB', short: 'l', summary: 'the lab that its commands are about' },
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
