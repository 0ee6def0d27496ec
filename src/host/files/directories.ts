// Creates and removes directories. Node's own recursive mkdir reports a wrong reason on a disk that cannot be written.
import { chmod, lstat, mkdir, readdir, rmdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { conflict, messageOf, systemCode } from '../../failures.ts';
import { log } from '../log.ts';
import { ownUser } from '../processes/own-user.ts';
import { fileFailure } from './atomic-file.ts';

/**
 * Creates a directory and its missing parents. Returns the outermost one created, undefined if the directory existed.
 * @param shownAs its name in messages
 * @throws Failure `conflict` (something else is in its place, a read-only disk), `forbidden`, `out-of-space`
 */
export async function makeDirectory(path: string, shownAs = path): Promise<string | undefined> {
  try {
    return await makeOne(path, shownAs);
  } catch (thrown) {
    if (systemCode(thrown) !== 'ENOENT' || dirname(path) === path) throw fileFailure(thrown, shownAs);
  }
  const above = await makeDirectory(dirname(path), shownAs);
  try {
    const own = await makeOne(path, shownAs);
    return above ?? own;
  } catch (thrown) {
    throw fileFailure(thrown, shownAs);
  }
}

/**
 * Creates a directory, in a place where all users may, that only this user can enter. False if another user, or a link,
 * has taken its place.
 */
export async function makePrivateDirectory(path: string): Promise<boolean> {
  await mkdir(path, { mode: 0o700 }).catch((error: unknown) => {
    if (systemCode(error) !== 'EEXIST') throw error;
  });
  const found = await lstat(path);
  if (!found.isDirectory() || found.uid !== ownUser()) return false;
  if ((found.mode & 0o077) !== 0) await chmod(path, 0o700);
  return true;
}

/** Mode bits for users who are neither the owner nor in the group. */
const OTHERS = 0o007;

/**
 * Keeps other users of the host out of directories. Directories of another owner are left unchanged, with a log line.
 */
export async function closeToOthers(...directories: string[]): Promise<void> {
  for (const path of directories) {
    try {
      const { mode } = await stat(path);
      if ((mode & OTHERS) !== 0) await chmod(path, mode & 0o7777 & ~OTHERS);
    } catch (error) {
      if (systemCode(error) !== 'ENOENT')
        log.warn('other users of the host can read a directory', { path, error: messageOf(error) });
    }
  }
}

/** The names in a directory; empty if it does not exist. A disk error is a failure, because a copy would miss files. */
export async function namesIn(directory: string): Promise<string[]> {
  try {
    return await readdir(directory);
  } catch (thrown) {
    if (['ENOENT', 'ENOTDIR'].includes(systemCode(thrown) ?? '')) return [];
    throw fileFailure(thrown, directory);
  }
}

/** Removes the directories that `makeDirectory` created, innermost first, up to the first one that is not empty. */
export async function removeEmptyDirectories(innermost: string, outermost: string): Promise<void> {
  for (let path = innermost; path.length >= outermost.length; path = dirname(path)) {
    try {
      await rmdir(path);
    } catch (thrown) {
      if (systemCode(thrown) === 'ENOTEMPTY') return;
      if (systemCode(thrown) !== 'ENOENT') throw thrown;
    }
  }
}

async function makeOne(path: string, shownAs: string): Promise<string | undefined> {
  try {
    await mkdir(path);
    return path;
  } catch (thrown) {
    if (systemCode(thrown) !== 'EEXIST') throw thrown;
    const there = await stat(path).catch(() => undefined);
    if (there?.isDirectory()) return undefined;
    throw conflict(`${shownAs}: something else is in the place of this directory; move it away`);
  }
}
