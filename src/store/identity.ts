// The identity of an installation, which its running programs carry. A copied state directory gets a new one; otherwise
// it would end the original's programs.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { stat } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf, systemCode } from '../failures.ts';
import { writeFileAtomically } from '../host/files/atomic-file.ts';
import { readRegularFile } from '../host/files/regular-file.ts';
import { log } from '../host/log.ts';
import { ownUser } from '../host/processes/own-user.ts';
import { peerUser } from '../host/processes/peer-user.ts';
import type { Database } from './database.ts';
import { IDENTITY } from './other-states.ts';
import type { StatePaths } from './state-paths.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** The largest size in bytes of the file with the identity. */
const LARGEST_INSTANCE_BYTES = 64;
/** How long (ms) a killed server may need to give its identity back: the kernel first removes its interfaces. */
const PATIENCE_MS = 5_000;

const PUT_SETTING = 'INSERT INTO setting VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value';

/** Where the state directory was at the last start: an identity found elsewhere was copied. */
interface Place {
  path: string;
  /** Device and inode, which a renamed directory keeps. */
  file: string;
}

export interface Identity {
  instance: string;
  /** No other server on this host has the identity until this is disposed of. */
  claim: AsyncDisposable;
}

/**
 * The identity from the database. A file beside it has it, too: after the loss of the database the running programs
 * must still be recognized.
 * @param others state directories of projects in the database
 */
export async function identityOf(
  database: Database,
  paths: StatePaths,
  others: ReadonlySet<string>,
): Promise<Identity> {
  const path = join(paths.directory, IDENTITY);
  const noted = await notedIn(paths.directory);
  const settings = await database.all<{ name: string; value: string }>('SELECT name, value FROM setting');
  const setting = (wanted: string): string | undefined => settings.find(({ name }) => name === wanted)?.value;
  if (noted !== undefined && setting('instance') === undefined)
    log.warn('the database is new: labs are found by their files, and whatever else it had is gone', {
      state: paths.directory,
    });
  const { dev, ino } = await stat(paths.real);
  const here: Place = { path: paths.real, file: `${dev}:${ino}` };
  const known = setting('instance') ?? noted;
  await using undo = new AsyncDisposableStack();
  // A copy that was put in the place of the original may have its path and its inode.
  const isOriginal = known !== undefined && !(await wasCopied(known, placeOf(setting('place')), here, others));
  const claim = isOriginal ? await claimOf(known) : undefined;
  const isCopy = known !== undefined && claim === undefined;
  const instance = claim === undefined ? randomUUID() : (known as string);
  undo.use(claim ?? (await claimOf(instance)));
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
  return { instance, claim: undo.move() };
}

/** Undefined if another server has the identity. The claim is an abstract socket, which ends with the process. */
async function claimOf(instance: string): Promise<AsyncDisposable | undefined> {
  const path = `\0labwire-${instance}`;
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const server = createServer((socket) => socket.destroy()).unref();
    try {
      await once(server.listen(path), 'listening');
      return server;
    } catch (thrown) {
      if (systemCode(thrown) !== 'EADDRINUSE') return unclaimed(messageOf(thrown));
    }
    if (performance.now() > deadline)
      return (await isOfStranger(path)) ? unclaimed('another user has its socket') : undefined;
    await sleep(20);
  }
}

/** In the place of a claim that cannot be made. */
function unclaimed(reason: string): AsyncDisposable {
  log.warn('copies of the state directory that run at the same time are not noticed', { reason });
  return new AsyncDisposableStack();
}

/** Whether a user without access to this server's programs has taken the socket, whose name the kernel shows to all. */
async function isOfStranger(path: string): Promise<boolean> {
  const socket = connect({ path });
  try {
    await once(socket, 'connect');
    return ![0, ownUser()].includes(peerUser(socket));
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

async function notedIn(directory: string): Promise<string | undefined> {
  const bytes = await readRegularFile(join(directory, IDENTITY), LARGEST_INSTANCE_BYTES).catch(() => undefined);
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

/** A directory that was restored in place or renamed is not a copy. Earlier releases did not record its place. */
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
 * Removes from a copy what belongs to the original: running nodes, objects on other hosts, and open labs stored
 * elsewhere. Open labs with nodes on other hosts are closed.
 */
async function leaveToOriginal(database: Database): Promise<void> {
  await database.transaction(async ({ run }) => {
    await run("DELETE FROM document WHERE kind IN ('switched-on', 'due-starts')");
    await run('DELETE FROM remote_object');
    await run(`DELETE FROM lab WHERE project_id IN
      (SELECT project_id FROM project WHERE json_valid(body) AND body ->> '$.path' LIKE '/%')`);
    await run(`UPDATE lab SET closing = 1 WHERE project_id IN
      (SELECT project_id FROM lab_record WHERE kind = 'node' AND json_valid(body) AND body ->> '$.compute_id' <> 'local')`);
  });
}
