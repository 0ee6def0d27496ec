// Explains failures on disks that have space but no inodes left: every library words that differently.
import { statfs } from 'node:fs/promises';
import { Failure, messageOf, outOfSpace, systemCode } from '../../failures.ts';

/** Inodes that a start needs briefly. A failed one has already released its own. */
const FEW = 16;
const FOR_WANT_OF_ONE: readonly string[] = ['ENOSPC', 'SQLITE_CANTOPEN', 'SQLITE_FULL', 'SQLITE_IOERR'];

/**
 * Explains an error from creating files below `directory`: if the disk has no inodes left, says so and gives the fix.
 */
export async function explainInodes(error: unknown, directory: string): Promise<unknown> {
  const status = await statfs(directory).catch(() => undefined);
  // Some file systems create inodes on demand and count none.
  if (!isForWantOfOne(error) || status === undefined || status.files === 0 || status.ffree >= FEW) return error;
  const message = `the disk of ${directory} has too few inodes left (${status.ffree}), so that no files can be created there: delete files that are not needed; nothing was lost (${messageOf(error)})`;
  return outOfSpace(message, { cause: error });
}

function isForWantOfOne(error: unknown): boolean {
  if (error instanceof Failure && error.code === 'out-of-space') return true;
  if (FOR_WANT_OF_ONE.includes(systemCode(error) ?? '')) return true;
  return error instanceof Error && error.cause !== undefined && isForWantOfOne(error.cause);
}
