// The files of deleted nodes, which are kept for an hour so that a deletion can be undone. They lie where archives leave
// them out, and go when the project is opened or closed.
import { mkdir, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { KEPT_MS } from '../../api/deleted-nodes.ts';
import { messageOf, systemCode } from '../../failures.ts';
import { throwFileFailure } from '../../host/files/atomic-file.ts';
import { freeSpace } from '../../host/files/free-space.ts';
import { removeTree } from '../../host/files/remove-tree.ts';
import { log } from '../../host/log.ts';

/** Below the project's directory; in `tmp`, which archives and copies of the project leave out. */
export const DELETED_FILES = 'project-files/tmp/deleted';
/** With less of the disk free, the files of deleted nodes are removed at once. */
const LEAST_FREE = 1 / 10;

export class DeletedFiles {
  /** The project's directory. */
  readonly #root: string;
  readonly #timers = new Map<string, NodeJS.Timeout>();

  /** @param root the project's directory */
  constructor(root: string) {
    this.#root = root;
  }

  /**
   * Keeps a directory, given by its path below the project's, for an hour. One that is missing counts as kept.
   * @returns false, and does nothing, if the disk is nearly full
   */
  async keep(directory: string): Promise<boolean> {
    if ((await freeSpace(this.#root)).share < LEAST_FREE) return false;
    const place = this.#placeOf(directory);
    await removeTree(place);
    await mkdir(dirname(place), { recursive: true });
    if (!(await move(join(this.#root, directory), place))) return true;
    clearTimeout(this.#timers.get(directory));
    this.#timers.set(directory, setTimeout(() => void this.#remove(directory), KEPT_MS).unref());
    return true;
  }

  /**
   * Moves a kept directory back. Returns whether there was one.
   * @throws Failure of the file system; it is kept further on then
   */
  async bringBack(directory: string): Promise<boolean> {
    if (!this.#timers.has(directory)) return false;
    const isBack = await move(this.#placeOf(directory), join(this.#root, directory)).catch(throwFileFailure(directory));
    clearTimeout(this.#timers.get(directory));
    this.#timers.delete(directory);
    return isBack;
  }

  async removeAll(): Promise<void> {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
    await removeTree(join(this.#root, DELETED_FILES));
  }

  async #remove(directory: string): Promise<void> {
    this.#timers.delete(directory);
    await removeTree(this.#placeOf(directory)).catch((error: unknown) =>
      log.warn('files of a deleted node stay until the project is closed', { directory, reason: messageOf(error) }),
    );
  }

  #placeOf(directory: string): string {
    return join(this.#root, DELETED_FILES, directory.replace(/^project-files\//, ''));
  }
}

/** Returns false if there is nothing to move. */
async function move(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to);
    return true;
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
    return false;
  }
}
