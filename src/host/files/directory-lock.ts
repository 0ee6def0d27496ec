// Locks a directory for one process at a time. The kernel's lock on the directory itself ends with the process and
// needs no file.
import { constants } from 'node:fs';
import { type FileHandle, open, readFile } from 'node:fs/promises';
import { systemCode } from '../../failures.ts';
import { log } from '../log.ts';
import { lockDirectory } from '../system-calls.ts';

/** `isHeld` is false for missing directories and file systems without such locks: there is nothing to hold. */
export type DirectoryLock = AsyncDisposable & { isHeld: boolean };

const NOTHING: DirectoryLock = { isHeld: false, async [Symbol.asyncDispose]() {} };

/** Locks a directory. Undefined if another process, or another caller in this one, holds the lock. */
export async function holdDirectory(path: string): Promise<DirectoryLock | undefined> {
  let handle: FileHandle;
  try {
    handle = await open(path, constants.O_RDONLY | constants.O_DIRECTORY);
  } catch {
    return NOTHING; // a later write reports the reason
  }
  try {
    if (!lockDirectory(handle.fd)) {
      await handle.close();
      return undefined;
    }
  } catch (error) {
    await handle.close();
    log.debug('directory cannot be locked', { path, error: systemCode(error) ?? String(error) });
    return NOTHING;
  }
  return { isHeld: true, [Symbol.asyncDispose]: () => handle.close() };
}

/** The process that holds the lock, if the kernel shows it, in words for messages. */
export async function directoryHolder(path: string): Promise<string> {
  try {
    await using handle = await open(path, constants.O_RDONLY | constants.O_DIRECTORY);
    const { ino } = await handle.stat();
    const locks = await readFile('/proc/locks', 'latin1');
    const pid = new RegExp(`FLOCK +ADVISORY +WRITE +([1-9]\\d*) [^ ]+:${ino} `).exec(locks)?.[1];
    return pid === undefined ? 'another server' : `another server (pid ${pid})`;
  } catch {
    return 'another server';
  }
}
