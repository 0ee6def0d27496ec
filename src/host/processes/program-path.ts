// Where a program is.

import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Where programs are looked for unless the configuration says otherwise. */
export const DEFAULT_SEARCH_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}

/** Absolute path of an executable file: `name` itself if it has a `/`, else the first on the search path; undefined if there is none. */
export async function findProgram(name: string, searchPath = DEFAULT_SEARCH_PATH): Promise<string | undefined> {
  if (name === '') return undefined;
  if (name.includes('/')) return (await isProgram(name)) ? name : undefined;
  for (const directory of searchPath.split(':')) {
    const path = join(directory || '.', name);
    if (await isProgram(path)) return path;
  }
  return undefined;
}
