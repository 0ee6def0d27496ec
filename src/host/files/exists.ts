// Whether a path exists.
import { lstat } from 'node:fs/promises';
import { systemCode } from '../../failures.ts';

/**
 * Whether anything exists at the path, including a dangling link. Paths that cannot be checked count as existing, so
 * that they are not overwritten.
 */
export async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    (error: unknown) => !['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? ''),
  );
}
