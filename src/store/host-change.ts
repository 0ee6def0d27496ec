// The database of a cluster's labs names its controller's own host `local`. When another host becomes the controller, its name changes.
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { conflict, messageOf, outOfSpace, systemCode, unavailable } from '../failures.ts';
import { exists } from '../host/files/exists.ts';
import { connect, type Database, requireRegularFiles, settle } from './database.ts';
import { DATABASE } from './other-states.ts';
import { LEFT_LABS } from './state-paths.ts';

/** The id of the host that is `local`, as a setting. */
const LOCAL_HOST = 'local-host';
const PUT = `INSERT INTO setting VALUES ('${LOCAL_HOST}', ?1) ON CONFLICT (name) DO UPDATE SET value = excluded.value`;
/** A name that no host has. */
const BETWEEN = '#';

/** The id of the host that is `local`; undefined before the first controller. */
export async function localHost(database: Database): Promise<string | undefined> {
  const [setting] = await database.all<{ value: string }>('SELECT value FROM setting WHERE name = ?', LOCAL_HOST);
  return setting?.value;
}

/** From now on `local` is the host with this id. Files of open labs count as not written, as they are on the former host. */
export async function becomeLocal(database: Database, id: string): Promise<void> {
  const former = await localHost(database);
  if (former === id) return;
  await database.transaction(async ({ run }) => {
    await run(PUT, id);
    if (former === undefined) return;
    const renames = [
      ['local', BETWEEN],
      [id, 'local'],
      [BETWEEN, former],
    ] as const;
    for (const [from, to] of renames) {
      await run(
        `UPDATE lab_record SET body = json_set(body, '$.compute_id', ?2)
          WHERE kind = 'node' AND json_valid(body) AND body ->> '$.compute_id' = ?1`,
        from,
        to,
      );
      await run('UPDATE remote_object SET compute_id = ?2 WHERE compute_id = ?1', from, to);
      await run("UPDATE document SET id = ?2 WHERE kind = 'draining' AND id = ?1", from, to);
    }
    // Open projects are noted for other hosts only.
    await run(
      "DELETE FROM remote_object WHERE compute_id = 'local' AND path LIKE '/projects/%' AND path NOT LIKE '/projects/%/%' AND NOT deleted",
    );
    await run('UPDATE lab SET written = -1, fingerprint = NULL, coming = NULL');
  });
}

/**
 * After the end of a cluster its labs are those of the host where it began; they replace what the host had before.
 * @throws Failure `conflict` if they cannot be read, `out-of-space`, `unavailable` while another program has them
 */
export async function adoptLeftLabs(state: string, database: string): Promise<void> {
  const left = join(state, LEFT_LABS);
  const path = join(left, DATABASE);
  if (!(await exists(path))) return;
  await requireRegularFiles(path, `${path}-journal`, `${path}-wal`, `${path}-shm`);
  const connection = await connect(path);
  const ended = `DELETE FROM setting WHERE name IN ('${LOCAL_HOST}', 'log-position');
    DELETE FROM document WHERE kind IN ('cluster-hosts', 'files', 'left-files', 'running-nodes')`;
  try {
    // Afterwards one file has all of it.
    await settle((done) =>
      connection.exec(`${ended}; PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE`, done),
    );
  } catch (thrown) {
    const what = `${path}, which has the labs of the cluster that this host left,`;
    const cause = { cause: thrown };
    if (systemCode(thrown) === 'SQLITE_FULL')
      throw outOfSpace(`${what} cannot be taken over: no space is left; free some and try again`, cause);
    if (systemCode(thrown) === 'SQLITE_BUSY')
      throw unavailable(`${what} is held by another program: end that and try again`, cause);
    throw conflict(
      `${what} cannot be used (${messageOf(thrown)}): put back a copy of it, or move ${left} away to start without them`,
      cause,
    );
  } finally {
    await settle((done) => connection.close(done));
  }
  for (const suffix of ['-wal', '-shm']) await rm(`${database}${suffix}`, { force: true });
  await rename(path, database);
  await rm(left, { recursive: true, force: true });
}
