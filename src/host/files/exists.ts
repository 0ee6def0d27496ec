// Whether something is at a path.
import { lstat } from 'node:fs/promises';
import { systemCode } from '../../failures.ts';

/** Whether there is anything, a link that leads nowhere included. What cannot be looked at is there as well: nobody is to write over it. */
export async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    (error: unknown) => !['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? ''),
  );
}
