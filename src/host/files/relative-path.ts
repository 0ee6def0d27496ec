// Whether one path lies below another. Comparing text prefixes takes `/labs/one-more` for a part of `/labs/one`, so the
// lint forbids that (path-prefix.grit). Use this file.
import { realpath } from 'node:fs/promises';
import { basename, dirname, join, posix, resolve } from 'node:path';
import { systemCode } from '../../failures.ts';

/**
 * The path relative to the directory, `a/b`; undefined unless it is strictly below. Both must be absolute, with links
 * resolved by the caller: text alone does not prove where a file is.
 */
export function relativeBelow(directory: string, path: string): string | undefined {
  const way = posix.relative(directory, path);
  return way === '' || way === '..' || way.startsWith('../') ? undefined : way;
}

export function isBelow(directory: string, path: string): boolean {
  return relativeBelow(directory, path) !== undefined;
}

/**
 * The path with all existing links resolved. Throws the system's error for links and directories that cannot be
 * followed.
 */
export async function resolveExisting(path: string): Promise<string> {
  const absolute = resolve(path);
  try {
    return await realpath(absolute);
  } catch (thrown) {
    if (systemCode(thrown) !== 'ENOENT' || absolute === dirname(absolute)) throw thrown;
    return join(await resolveExisting(dirname(absolute)), basename(absolute));
  }
}
