// Paths in the database: relative to the state directory as far as they lie in it, so that a copy of the directory, and one that was moved,
// has its own files and not the original's.
import { realpath } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { wayBelow } from '../host/files/relative-path.ts';

export class StatePaths {
  /** The state directory as the configuration names it. */
  readonly directory: string;
  /** The same with its links resolved. */
  readonly real: string;

  private constructor(directory: string, real: string) {
    this.directory = directory;
    this.real = real;
  }

  /** @param directory the state directory; it must exist */
  static async of(directory: string): Promise<StatePaths> {
    return new StatePaths(directory, await realpath(directory));
  }

  /** What the database has of an absolute path. */
  stored(path: string): string {
    return wayBelow(this.directory, path) ?? wayBelow(this.real, path) ?? path;
  }

  /** The absolute path again. */
  absolute(stored: string): string {
    return isAbsolute(stored) ? stored : join(this.directory, stored);
  }
}
