// The emulator's instruction tables: it reads them from its working directory, and takes a second to create missing
// ones. One set in the state directory serves all routers. None is read from a project, which may be untrusted.
import { copyFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../../failures.ts';
import { makeDirectory, namesIn } from '../../../host/files/directories.ts';
import { log } from '../../../host/log.ts';
import { KeyedLock } from '../../../host/values/keyed-lock.ts';

const TABLE = /^ilt_\w+$/;

const turns = new KeyedLock();

/** Puts the tables where the emulator is about to be started; `resources` remove them. */
export async function takeTables(state: string, directory: string, resources: AsyncDisposableStack): Promise<void> {
  await removeTables(directory);
  resources.defer(() => removeTables(directory));
  const folder = folderIn(state);
  for (const name of await tablesIn(folder)) await copyFile(join(folder, name), join(directory, name));
}

/**
 * Saves the tables that an emulator created. They are complete because it accepts commands. A failure is only logged.
 */
export async function keepTables(state: string, directory: string): Promise<void> {
  const folder = folderIn(state);
  await turns.run(folder, async () => {
    try {
      const known = await tablesIn(folder);
      const made = (await tablesIn(directory)).filter((name) => !known.includes(name));
      if (made.length > 0) await makeDirectory(folder);
      for (const name of made) {
        await copyFile(join(directory, name), join(folder, 'unfinished'));
        await rename(join(folder, 'unfinished'), join(folder, name));
      }
    } catch (error) {
      log.warn('the tables of Dynamips are not kept', { folder, reason: messageOf(error) });
    }
  });
}

function folderIn(state: string): string {
  return join(state, 'dynamips');
}

async function tablesIn(directory: string): Promise<string[]> {
  return (await namesIn(directory)).filter((name) => TABLE.test(name));
}

async function removeTables(directory: string): Promise<void> {
  for (const name of await tablesIn(directory)) await rm(join(directory, name), { force: true });
}
