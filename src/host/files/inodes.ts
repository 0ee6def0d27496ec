// Disks that have space left, but no inode: nothing new can be made there, and each library says so in words of its own.
import { statfs } from 'node:fs/promises';
import { Failure, messageOf, systemCode } from '../../failures.ts';

/** Inodes that a start needs for a moment; what has failed has given its own back already. */
const FEW = 16;
const FOR_WANT_OF_ONE: readonly string[] = ['ENOSPC', 'SQLITE_CANTOPEN', 'SQLITE_FULL', 'SQLITE_IOERR'];

/** The failure of what needed new files below `directory`: when the disk has no inodes left, that is what is said, and how to go on. */
export async function explainInodes(error: unknown, directory: string): Promise<unknown> {
  const status = await statfs(directory).catch(() => undefined);
  // Some file systems make inodes as they need them, and count none.
  if (!isForWantOfOne(error) || status === undefined || status.files === 0 || status.ffree >= FEW) return error;
  const message = `the disk of ${directory} has too few inodes left (${status.ffree}), so that files cannot be made there: delete files that nobody needs; nothing was lost (${messageOf(error)})`;
  return new Failure('out-of-space', message, { cause: error });
}

function isForWantOfOne(error: unknown): boolean {
  if (error instanceof Failure && error.code === 'out-of-space') return true;
  if (FOR_WANT_OF_ONE.includes(systemCode(error) ?? '')) return true;
  return error instanceof Error && error.cause !== undefined && isForWantOfOne(error.cause);
}
