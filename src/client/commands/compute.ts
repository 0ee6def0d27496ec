// `labwired compute`: the hosts on which nodes run.

import { randomUUID } from 'node:crypto';
import type { ComputeObject, Drained } from '../../api/objects.ts';
import type { ComputeCreate, ComputeUpdate } from '../../api/routes/computes.ts';
import { WrongUsage } from '../../commands/wrong-usage.ts';
import { askSecret } from '../../host/terminal/ask-secret.ts';
import { type Noun, verb } from '../frame/command.ts';
import { firstLineOf, type Session } from '../frame/session.ts';
import { decodedPart, hasPassword } from '../server/api.ts';
import { encodedName } from '../server/encoded-path.ts';
import { findNamed } from '../server/find.ts';
import { counted } from '../terminal/counted.ts';

const idOf = ({ compute_id }: ComputeObject): string => compute_id;
const pathOf = (one: ComputeObject): string => `/v2/computes/${encodedName(idOf(one))}`;
const percent = (value: number | null): string => (value === null ? '' : `${Math.round(value)} %`);

export async function computeNamed(session: Session, wanted: string): Promise<ComputeObject> {
  const all = await session.api.get<ComputeObject[]>('/v2/computes');
  return findNamed('compute', all, (one) => ({ id: idOf(one), name: one.name }), wanted);
}

/** Default port of a server. */
const USUAL_PORT = 3080;

const ADDRESS = { value: 'URL', summary: 'http[s]://[USER@]HOST[:PORT]' } as const;
const PASSWORD = {
  value: 'FILE',
  summary: "a file whose first line is the password of the URL's user (typed at the terminal)",
} as const;

type Address = Pick<ComputeCreate, 'protocol' | 'host' | 'port'>;

/** A host's address, and the user there; empty if the URL names none. @throws WrongUsage */
function parseAddress(url: string): { address: Address; user: string } {
  if (hasPassword(url)) {
    throw new WrongUsage(
      'All users of this host can read a password in a command line: use --compute-password-file or the prompt instead.',
    );
  }
  const parsed = URL.parse(url);
  const protocol = parsed?.protocol === 'https:' ? 'https' : 'http';
  if (!parsed || parsed.protocol !== `${protocol}:` || parsed.hostname === '' || parsed.pathname !== '/') {
    throw new WrongUsage(`"${url}" is not a host address: write ${ADDRESS.summary}`);
  }
  const host = parsed.hostname.replaceAll(/[[\]]/g, '');
  const given = parsed.port || (/:(80|443)\/?$/.exec(url)?.[1] ?? USUAL_PORT);
  return { address: { protocol, host, port: Number(given) }, user: decodedPart(parsed.username, `"${url}"`) };
}

/**
 * The user's password, if any.
 * @throws WrongUsage, Failure for the file
 */
async function passwordOf(user: string, file: string | undefined): Promise<string | undefined> {
  if (file !== undefined && user === '') {
    throw new WrongUsage('--compute-password-file needs a user in the URL: http://USER@HOST:PORT');
  }
  if (user === '') return undefined;
  if (file !== undefined) return firstLineOf(file, '--compute-password-file');
  if (process.stdin.isTTY) return askSecret(`Password of ${user} there: `);
  throw new WrongUsage(`The password of ${user} is missing: use --compute-password-file FILE`);
}

interface UpdateFlags {
  url?: string;
  name?: string;
  'compute-password-file'?: string;
}

/** Omitted members stay; so do user and password if the address has no user. */
async function update(session: Session, wanted: string, flags: UpdateFlags): Promise<ComputeObject> {
  const { url, name, 'compute-password-file': file } = flags;
  if ((url ?? name ?? file) === undefined) {
    throw new WrongUsage('Say what to change: --url URL, --compute-password-file FILE or --name NAME');
  }
  const { address, user } = url === undefined ? { user: '' } : parseAddress(url);
  const found = await computeNamed(session, wanted);
  const password = await passwordOf(user || (file === undefined ? '' : (found.user ?? '')), file);
  const body: ComputeUpdate = {
    ...address,
    ...(user !== '' && { user }),
    ...(password !== undefined && { password }),
    ...(name !== undefined && { name }),
  };
  return session.api.request('PUT', pathOf(found), body) as Promise<ComputeObject>;
}

/** An interrupt cancels it: the server would go on without this client. */
async function drain(session: Session, host: ComputeObject, restarts: boolean): Promise<Drained> {
  const id = randomUUID();
  const cancelling = session.ending.defer(async () => {
    await session.api.delete(`/v2/operations/${id}`);
    session.remark('Cancelled: the drain ends after the node that is being moved.');
  });
  try {
    const path = `${pathOf(host)}/drain${restarts ? '?running=restart' : ''}`;
    return await session.api.post<Drained>(path, {}, { 'X-Operation-Id': id });
  } finally {
    cancelling.cancel();
  }
}

export const compute: Noun = {
  name: 'compute',
  summary: 'hosts of nodes',
  verbs: [
    verb({
      name: 'list',
      summary: 'lists all hosts with their load',
      run: async (session) =>
        session.show(await session.api.get<ComputeObject[]>('/v2/computes'), idOf, [
          { heading: 'COMPUTE', cell: ({ name }) => name },
          { heading: 'ADDRESS', cell: ({ host, port }) => `${host}:${port}` },
          {
            heading: 'STATUS',
            cell: ({ connected, draining }) =>
              `${connected ? 'connected' : 'not connected'}${draining ? ', draining' : ''}`,
          },
          { heading: 'CPU', cell: (one) => percent(one.cpu_usage_percent) },
          { heading: 'MEMORY', cell: (one) => percent(one.memory_usage_percent) },
          { heading: 'ID', cell: idOf },
        ]),
    }),
    verb({
      name: 'add',
      words: ['NAME', 'URL'],
      summary: `adds a host for nodes, ${ADDRESS.summary}; a Labwire or a GNS3 server`,
      flags: { 'compute-password-file': PASSWORD },
      run: async (session, [name, url], { 'compute-password-file': file }) => {
        const { address, user } = parseAddress(url);
        const password = await passwordOf(user, file);
        const body: ComputeCreate = { ...address, name: name, ...(password !== undefined && { user, password }) };
        const made = await session.api.post<ComputeObject>('/v2/computes', body);
        session.tell(`Compute "${made.name}" added: ${idOf(made)}`, idOf(made), made);
      },
    }),
    verb({
      name: 'update',
      words: ['COMPUTE'],
      summary: 'changes address, user, password or name of a host',
      flags: {
        url: ADDRESS,
        'compute-password-file': PASSWORD,
        name: { value: 'NAME', summary: 'the new name' },
      },
      run: async (session, [wanted], flags) => {
        const changed = await update(session, wanted, flags);
        session.tell(`Compute "${changed.name}" is changed.`, idOf(changed), changed);
      },
    }),
    verb({
      name: 'drain',
      words: ['COMPUTE'],
      summary: 'moves the stopped nodes of a host to others; it takes no new ones',
      flags: { restart: { summary: 'also running nodes: they are stopped, moved and started again' } },
      run: async (session, [wanted], { restart }) => {
        const found = await computeNamed(session, wanted);
        const drained = await drain(session, found, restart === true);
        const { moved, left } = drained;
        if (left.length > 0) process.exitCode = 1;
        const stay = left.length > 0 ? `; ${counted(left.length, 'node')} left there` : '';
        session.tell(
          `Compute "${found.name}" takes no new nodes: ${counted(moved.length, 'node')} moved${stay}.`,
          idOf(found),
          drained,
        );
        const { next_controller: next } = drained;
        if (next !== undefined) session.remark(`${next} is the controller from now on`);
        for (const { project_name: lab, name, compute_id: host } of moved)
          session.remark(`moved: ${name} of lab "${lab}" to ${host}`);
        for (const { project_name: lab, name, reason } of left)
          session.remark(`left: ${name} of lab "${lab}": ${reason}`);
      },
    }),
    verb({
      name: 'undrain',
      words: ['COMPUTE'],
      summary: 'takes new nodes on a drained host again; moved nodes stay where they are',
      run: async (session, [wanted]) => {
        const found = await computeNamed(session, wanted);
        const drained = await session.api.post<Drained>(`${pathOf(found)}/undrain`);
        session.tell(`Compute "${found.name}" takes new nodes again.`, idOf(found), drained);
      },
    }),
    verb({
      name: 'remove',
      words: ['COMPUTE...'],
      summary: 'removes hosts from this server; their nodes and images stay there',
      run: async (session, wanted) => {
        for (const word of wanted) {
          const found = await computeNamed(session, word);
          await session.api.delete(pathOf(found));
          session.tell(`Compute "${found.name}" removed.`, idOf(found));
        }
      },
    }),
  ],
};
