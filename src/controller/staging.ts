// Staging folders: hidden folders beside the projects, where projects are assembled before they are moved into place as
// a whole. The next start removes those of a killed server. A lock on a folder shows that its server, perhaps another
// one, is alive.
import { mkdtemp, readdir, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { conflict, messageOf, systemCode } from '../failures.ts';
import { fileFailure, throwFileFailure } from '../host/files/atomic-file.ts';
import { type DirectoryLock, holdDirectory } from '../host/files/directory-lock.ts';
import { removeTree } from '../host/files/remove-tree.ts';
import { STAGING_PREFIX } from '../host/files/reserved-names.ts';
import { log } from '../host/log.ts';
import { copyTree } from './copying.ts';

/** How long (ms) a killed server may take to release a lock, and how often the lock is tried. */
const ENDING_MS = 1_000;
const ENDING_POLL_MS = 20;

/** A new empty folder in `directory`, removed with its content when `held` is disposed of. */
export async function makeStaging(directory: string, held: AsyncDisposableStack): Promise<string> {
  const staging = await mkdtemp(join(directory, STAGING_PREFIX)).catch(throwFileFailure(directory));
  const lock = await holdDirectory(staging);
  if (lock !== undefined) held.use(lock);
  // A failed removal does not matter for the result; the next start tries again.
  held.defer(() =>
    removeTree(staging).catch((error: unknown) => {
      log.warn('a folder for what was put together stays', { folder: staging, error: messageOf(error) });
    }),
  );
  return staging;
}

/** Whether a path begins with a staging folder. */
export function isStaging(path: string): boolean {
  return path.startsWith(STAGING_PREFIX);
}

/**
 * Recovers and removes the folders of killed servers in `directory`, one after the other. If `recover` throws, that is
 * logged and the folder stays.
 */
export async function endStagings(
  directory: string,
  recover: (staging: string) => Promise<void> = async () => {},
): Promise<void> {
  const names = await readdir(directory).catch(() => []);
  for (const name of names.filter(isStaging)) {
    const staging = join(directory, name);
    try {
      await using lock = await holdWhenFree(staging);
      if (lock === undefined) continue; // a server is working in it
      await recover(staging);
      await removeTree(staging);
    } catch (error) {
      log.error('folder of an interrupted change stays', { folder: staging, error: messageOf(error) });
    }
  }
}

/** A killed server releases its locks one after the other: that of the state directory before that of the folder. */
async function holdWhenFree(staging: string): Promise<DirectoryLock | undefined> {
  const end = performance.now() + ENDING_MS;
  for (;;) {
    const lock = await holdDirectory(staging);
    if (lock !== undefined || performance.now() > end) return lock;
    await sleep(ENDING_POLL_MS);
  }
}

/**
 * Moves a folder as a whole to a place that is missing or an empty folder.
 * @throws Failure `conflict` when something is there by now
 */
export async function moveFolder(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    const code = systemCode(error) ?? '';
    if (code === 'EXDEV') return moveAcross(from, to);
    if (!['ENOTEMPTY', 'EEXIST', 'ENOTDIR'].includes(code)) throw fileFailure(error, to);
    throw conflict(`${to} holds something already; choose another place.`, { cause: error });
  }
}

/** To another file system: copies next to the place first. */
async function moveAcross(from: string, to: string): Promise<void> {
  await using held = new AsyncDisposableStack();
  const copy = join(await makeStaging(dirname(to), held), 'copy');
  await copyTree(from, copy);
  await moveFolder(copy, to);
  await removeTree(from);
}
