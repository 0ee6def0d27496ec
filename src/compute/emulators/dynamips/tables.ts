// The emulator's tables of instructions: it looks for them in its working directory, and takes a second to make them when they are not there. One set
// lies in the state directory for all routers. None is taken from a project, which may come from a stranger.
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

/** Keeps the tables that an emulator has made; it takes commands, so they are whole. That they cannot be kept is only noted. */
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
