// State directories of other servers on this host.
import { open, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { exists } from '../host/files/exists.ts';
import { lockHolder } from '../host/system-calls.ts';

export const DATABASE = 'labwire.db';
export const LOCK = 'labwired.lock';
/** Written by the first start. */
export const IDENTITY = 'instance';

/** The state directory that contains a path, unless that is `own` (links resolved). */
export async function otherStateAround(path: string, own: string): Promise<string | undefined> {
  let directory = await realpath(path).catch(() => path);
  for (; directory !== dirname(directory); directory = dirname(directory)) {
    if (directory === own) return undefined;
    if (await exists(join(directory, DATABASE))) return directory;
  }
  return undefined;
}

/** The process that uses another server's state directory, if any; 0 if it is not visible from here. */
export async function userOf(state: string): Promise<number | undefined> {
  const file = await open(join(state, LOCK)).catch(() => undefined);
  try {
    return file && lockHolder(file.fd);
  } finally {
    await file?.close();
  }
}
