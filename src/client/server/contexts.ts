// Contexts: named servers in a file of the user. It never contains a password, only the path of one. It may contain a token, which can be
// revoked if the file gets lost.
import { mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import * as v from 'valibot';
import { forbidden, invalid, systemCode } from '../../failures.ts';
import { fileFailure, writeFileAtomically } from '../../host/files/atomic-file.ts';
import { quoted } from '../../host/terminal/shell-word.ts';
import { TOKEN_PREFIX } from '../../store/roles.ts';
import { unknownName } from './find.ts';

/** Access bits of other users. */
const OTHERS = 0o077;

const Context = v.object({
  name: v.pipe(v.string(), v.nonEmpty()),
  server: v.pipe(v.string(), v.nonEmpty()),
  passwordFile: v.optional(v.string()),
  token: v.optional(v.pipe(v.string(), v.startsWith(TOKEN_PREFIX))),
  lab: v.optional(v.string()),
});

const Contexts = v.object({ current: v.optional(v.string()), contexts: v.array(Context) });

export type Context = v.InferOutput<typeof Context>;
export type Contexts = v.InferOutput<typeof Contexts>;

/**
 * The file's contexts; none if it does not exist.
 * @throws Failure if it is invalid
 */
export async function readContexts(file: string): Promise<Contexts> {
  let text: string;
  let mode: number;
  try {
    await using handle = await open(file);
    ({ mode } = await handle.stat());
    text = await handle.readFile('utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return { contexts: [] };
    throw fileFailure(error, file);
  }
  let kept: Contexts;
  try {
    kept = v.parse(Contexts, JSON.parse(text));
  } catch (error) {
    throw invalid(`${file} is not a valid list of contexts: correct it, or remove it.`, {
      cause: error,
    });
  }
  if ((mode & OTHERS) !== 0 && kept.contexts.some(({ token }) => token !== undefined)) {
    throw forbidden(`${file} holds a token, and others can read it: chmod 600 ${quoted(file)}`);
  }
  return kept;
}

/** A context as it may be shown. */
export function withoutToken({ token, ...shown }: Context): Omit<Context, 'token'> & { has_token: boolean } {
  return { ...shown, has_token: token !== undefined };
}

/** For its owner alone: it says where passwords are, and may hold tokens. */
export async function writeContexts(file: string, contexts: Contexts): Promise<void> {
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await writeFileAtomically(file, `${JSON.stringify(contexts, null, 2)}\n`, { mode: 0o600 });
  } catch (error) {
    throw fileFailure(error, file);
  }
}

/** @throws Failure `not-found` */
export function contextNamed({ contexts }: Contexts, wanted: string): Context {
  const found = contexts.find(({ name }) => name === wanted);
  if (found) return found;
  throw unknownName(
    'context',
    wanted,
    contexts.map(({ name }) => name),
  );
}
