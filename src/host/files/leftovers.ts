// Removes temporary files and directories that a killed daemon left behind (host/files/atomic-file.ts).
import { lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCode } from '../../failures.ts';
import { fileFailure, isBeingWritten, isTemporaryName } from './atomic-file.ts';

/** Removes leftovers in the directory, not below it. Returns their number. */
export async function removeLeftovers(directory: string): Promise<number> {
  let removed = 0;
  for (const name of await readdir(directory)) {
    if (!isTemporaryName(name) || isBeingWritten(name)) continue;
    try {
      await rm(join(directory, name), { recursive: true });
      removed += 1;
    } catch (thrown) {
      if (systemCode(thrown) !== 'ENOENT') throw fileFailure(thrown, join(directory, name));
    }
  }
  return removed;
}

/**
 * Removes leftovers anywhere below the directory that were not written to since `before` (milliseconds since 1970):
 * another daemon may still be using newer ones. Links are not followed; unreadable folders are skipped. Returns the
 * number removed.
 */
export async function removeLeftoversBelow(directory: string, before: number): Promise<number> {
  let removed = 0;
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    const path = join(directory, entry.name);
    if (isTemporaryName(entry.name)) {
      const status = await lstat(path).catch(() => undefined);
      if (status === undefined || status.mtimeMs >= before || isBeingWritten(entry.name)) continue;
      await rm(path, { recursive: true, force: true }).then(
        () => (removed += 1),
        () => {},
      );
    } else if (entry.isDirectory()) removed += await removeLeftoversBelow(path, before);
  }
  return removed;
}
