// Paths in the database: relative to the state directory where possible, so that a copied or moved directory refers to
// its own files, not the original's.
import { realpath } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { relativeBelow } from '../host/files/relative-path.ts';

/** The database of the labs of a cluster, on hosts that may be its controller. */
export const CLUSTER_DATABASE = 'cluster/replica/labwire.db';
/** On a host that ended its cluster, until its next start: a folder with the database of the cluster's labs. */
export const LEFT_LABS = 'left-labs';

export class StatePaths {
  /** The state directory as in the configuration. */
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

  /** The stored form of an absolute path. */
  stored(path: string): string {
    return relativeBelow(this.directory, path) ?? relativeBelow(this.real, path) ?? path;
  }

  absolute(stored: string): string {
    return isAbsolute(stored) ? stored : join(this.directory, stored);
  }
}
