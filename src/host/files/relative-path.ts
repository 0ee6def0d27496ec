// Where one path lies below another. Comparing beginnings of texts takes `/labs/one-more` for a part of `/labs/one`; the lint
// forbids it (path-prefix.grit), this is the one way.
import { realpath } from 'node:fs/promises';
import { basename, dirname, join, posix, resolve } from 'node:path';
import { systemCode } from '../../failures.ts';

/**
 * The way from the directory to the path, `a/b`; undefined unless the path is strictly below. Both are absolute, with their links resolved
 * by the caller: what a text says is no proof of where a file is.
 */
export function wayBelow(directory: string, path: string): string | undefined {
  const way = posix.relative(directory, path);
  return way === '' || way === '..' || way.startsWith('../') ? undefined : way;
}

export function isBelow(directory: string, path: string): boolean {
  return wayBelow(directory, path) !== undefined;
}

/** The path with every link resolved that exists so far. Throws what the system says of links and directories that cannot be followed. */
export async function whereItWouldBe(path: string): Promise<string> {
  const absolute = resolve(path);
  try {
    return await realpath(absolute);
  } catch (thrown) {
    if (systemCode(thrown) !== 'ENOENT' || absolute === dirname(absolute)) throw thrown;
    return join(await whereItWouldBe(dirname(absolute)), basename(absolute));
  }
}
