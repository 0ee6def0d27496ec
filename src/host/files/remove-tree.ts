// Removes directories whatever is in them: users and containers can make paths that are longer than a system call takes.
import { randomUUID } from 'node:crypto';
import { readdir, rename, rm } from 'node:fs/promises';
import { systemCode } from '../../failures.ts';
import { at, openRoot } from './contained-place.ts';
import { openFolder } from './contained-tree.ts';

/** Folders with a longer path below the directory are moved upwards. Leaves room for the path of the directory itself. */
const LONG_BYTES = 1_000;

/** Removes a directory, or whatever has its name, with all its content. A missing one is ignored. */
export async function removeTree(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true });
  } catch (thrown) {
    if (systemCode(thrown) !== 'ENAMETOOLONG') throw thrown;
    await flatten(path);
    await rm(path, { recursive: true, force: true });
  }
}

/** Moves folders that are too deep to the top of the directory. */
async function flatten(path: string): Promise<void> {
  await using held = new AsyncDisposableStack();
  const top = await openRoot(path, held);
  const pending = [''];
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    await using directory = await openFolder(top, folder);
    if (directory === undefined) continue;
    for (const entry of await readdir(at(directory), { withFileTypes: true })) {
      if (!entry.isDirectory()) continue;
      let below = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (Buffer.byteLength(below) > LONG_BYTES) {
        below = randomUUID();
        await rename(at(directory, entry.name), at(top.handle, below));
      }
      pending.push(below);
    }
  }
}
