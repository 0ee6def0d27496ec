// The identity of an installation: programs that it runs carry it. A copy of a state directory gets one of its own, or it would end the
// original's programs.
import { randomUUID } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../failures.ts';
import { writeFileAtomically } from '../host/files/atomic-file.ts';
import { readRegularFile } from '../host/files/regular-file.ts';
import { log } from '../host/log.ts';
import type { Database } from './database.ts';
import type { StatePaths } from './state-paths.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** Bytes of the file with the identity, at most. */
const LARGEST_INSTANCE_BYTES = 64;
const FILE = 'instance';

const PUT_SETTING = 'INSERT INTO setting VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value';

/** Where the state directory was at the last start: a UUID that is found elsewhere was copied. */
interface Place {
  path: string;
  /** Device and inode, which a renamed directory keeps. */
  file: string;
}

/**
 * The identity as the database has it. A file beside it has it, too: a database that was lost or made anew must not make strangers of
 * programs that run.
 * @param others state directories that the database names as those of projects
 */
export async function identityOf(database: Database, paths: StatePaths, others: ReadonlySet<string>): Promise<string> {
  const path = join(paths.directory, FILE);
  const noted = await notedIn(paths.directory);
  const settings = await database.all<{ name: string; value: string }>('SELECT name, value FROM setting');
  const setting = (wanted: string): string | undefined => settings.find(({ name }) => name === wanted)?.value;
  const { dev, ino } = await stat(paths.real);
  const here: Place = { path: paths.real, file: `${dev}:${ino}` };
  const known = setting('instance') ?? noted;
  const isCopy = known !== undefined && (await wasCopied(known, placeOf(setting('place')), here, others));
  const instance = known === undefined || isCopy ? randomUUID() : known;
  if (isCopy) {
    log.warn('state directory is a copy: it gets an identity of its own', { state: paths.directory });
    await leaveToOriginal(database);
  }
  if (instance !== setting('instance')) await database.run(PUT_SETTING, 'instance', instance);
  const place = JSON.stringify(here);
  if (place !== setting('place')) await database.run(PUT_SETTING, 'place', place);
  if (instance !== noted) {
    await writeFileAtomically(path, `${instance}\n`, { mode: 0o600 }).catch((error: unknown) =>
      log.debug('the identity of the installation is in its database alone', { path, error: messageOf(error) }),
    );
  }
  return instance;
}

async function notedIn(directory: string): Promise<string | undefined> {
  const bytes = await readRegularFile(join(directory, FILE), LARGEST_INSTANCE_BYTES).catch(() => undefined);
  const text = bytes?.toString().trim();
  return text !== undefined && UUID.test(text) ? text : undefined;
}

function placeOf(setting: string | undefined): Place | undefined {
  try {
    return JSON.parse(setting ?? '') as Place;
  } catch {
    return undefined;
  }
}

/** A directory that was put back in its place, or renamed, is no copy. Earlier releases have not recorded where it was. */
async function wasCopied(
  instance: string,
  before: Place | undefined,
  here: Place,
  others: ReadonlySet<string>,
): Promise<boolean> {
  if (before !== undefined) return before.path !== here.path && before.file !== here.file;
  const identities = await Promise.all([...others].map(notedIn));
  return identities.includes(instance);
}

/**
 * Makes a copy forget what is the original's: nodes that run, what other hosts have of its labs, and open labs that are kept elsewhere.
 * Open labs with nodes on other hosts are closed.
 */
async function leaveToOriginal(database: Database): Promise<void> {
  await database.transaction(async ({ run }) => {
    await run("DELETE FROM document WHERE kind = 'switched-on'");
    await run('DELETE FROM remote_object');
    await run(`DELETE FROM lab WHERE project_id IN
      (SELECT project_id FROM project WHERE json_valid(body) AND body ->> '$.path' LIKE '/%')`);
    await run(`UPDATE lab SET closing = 1 WHERE project_id IN
      (SELECT project_id FROM lab_record WHERE kind = 'node' AND json_valid(body) AND body ->> '$.compute_id' <> 'local')`);
  });
}
