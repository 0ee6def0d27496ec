// Finds programs.

import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** The search path unless the configuration sets another. */
export const DEFAULT_SEARCH_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}

/**
 * Absolute path of an executable file: `name` itself if it contains a `/`, else the first match on the search path;
 * undefined if not found.
 */
export async function findProgram(name: string, searchPath = DEFAULT_SEARCH_PATH): Promise<string | undefined> {
  if (name === '') return undefined;
  if (name.includes('/')) return (await isProgram(name)) ? name : undefined;
  for (const directory of searchPath.split(':')) {
    const path = join(directory || '.', name);
    if (await isProgram(path)) return path;
  }
  return undefined;
}
