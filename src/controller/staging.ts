// Where projects are put together before they are moved into their place as a whole: hidden folders beside the projects. What a
// killed server leaves in them is removed at its next start; the lock on a folder shows that its server lives, which may be another one.
import { mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Failure, messageOf, systemCode } from '../failures.ts';
import { fileFailure } from '../host/files/atomic-file.ts';
import { type DirectoryLock, holdDirectory } from '../host/files/directory-lock.ts';
import { STAGING_PREFIX } from '../host/files/reserved-names.ts';
import { log } from '../host/log.ts';
import { copyTree } from './copying.ts';

/** How long a killed server may take to give a lock back, and how often the lock is tried. */
const ENDING_MS = 1_000;
const ENDING_POLL_MS = 20;

/** A new empty folder in `directory`, which goes when `held` is disposed of, whatever is in it then. */
export async function makeStaging(directory: string, held: AsyncDisposableStack): Promise<string> {
  const staging = await mkdtemp(join(directory, STAGING_PREFIX)).catch((error: unknown) => {
    throw fileFailure(error, directory);
  });
  const lock = await holdDirectory(staging);
  if (lock !== undefined) held.use(lock);
  // That it cannot be removed changes nothing of what was done; the next start tries again.
  held.defer(() =>
    rm(staging, { recursive: true, force: true }).catch((error: unknown) => {
      log.warn('a folder for what was put together stays', { folder: staging, error: messageOf(error) });
    }),
  );
  return staging;
}

/** Whether a path begins in such a folder. */
export function isStaging(path: string): boolean {
  return path.startsWith(STAGING_PREFIX);
}

/** Ends what killed servers left in `directory`, one folder after the other; what `recover` throws is logged, and the folder stays. */
export async function endStagings(
  directory: string,
  recover: (staging: string) => Promise<void> = async () => {},
): Promise<void> {
  const names = await readdir(directory).catch(() => []);
  for (const name of names.filter(isStaging)) {
    const staging = join(directory, name);
    try {
      await using lock = await holdWhenFree(staging);
      if (lock === undefined) continue; // a server works in it
      await recover(staging);
      await rm(staging, { recursive: true, force: true });
    } catch (error) {
      log.error('folder of an interrupted change stays', { folder: staging, error: messageOf(error) });
    }
  }
}

/** A killed server gives its locks back one after the other: that of the state directory before that of the folder. */
async function holdWhenFree(staging: string): Promise<DirectoryLock | undefined> {
  const end = performance.now() + ENDING_MS;
  for (;;) {
    const lock = await holdDirectory(staging);
    if (lock !== undefined || performance.now() > end) return lock;
    await sleep(ENDING_POLL_MS);
  }
}

/**
 * Moves a folder as a whole to a place where there is nothing, or an empty folder.
 * @throws Failure `conflict` when something has come there meanwhile
 */
export async function moveFolder(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    const code = systemCode(error) ?? '';
    if (code === 'EXDEV') return moveAcross(from, to);
    if (!['ENOTEMPTY', 'EEXIST', 'ENOTDIR'].includes(code)) throw fileFailure(error, to);
    throw new Failure('conflict', `${to} holds something already; choose another place.`, { cause: error });
  }
}

/** To another file system: the copy is made beside the place. */
async function moveAcross(from: string, to: string): Promise<void> {
  await using held = new AsyncDisposableStack();
  const copy = join(await makeStaging(dirname(to), held), 'copy');
  await copyTree(from, copy);
  await moveFolder(copy, to);
  await rm(from, { recursive: true });
}
