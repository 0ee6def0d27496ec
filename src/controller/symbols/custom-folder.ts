// The folder of custom symbols. It is read on each request, so that files copied there by hand count as well.
import { closeSync, fstatSync, openSync, readSync, realpathSync, type Stats, statSync } from 'node:fs';
import { posix } from 'node:path';
import { Failure } from '../../failures.ts';
import { fileFailure } from '../../host/files/atomic-file.ts';
import { listContained } from '../../host/files/contained-tree.ts';
import { makeDirectory } from '../../host/files/directories.ts';
import { removeLeftovers } from '../../host/files/leftovers.ts';
import { READ_WITHOUT_WAITING } from '../../host/files/regular-file.ts';
import { isBelow } from '../../host/files/relative-path.ts';
import type { SymbolSize } from './catalogue.ts';
import { pictureSize } from './picture-size.ts';

/** Bytes read of a file to find its size; a larger SVG has none. */
const MEASURED_BYTES = 10 * 1024 * 1024;

export class CustomFolder {
  readonly #directory: string;
  /** Sizes by id, each with the file state it was read from; only for existing files. */
  readonly #sizes = new Map<string, { stamp: string; size: SymbolSize | undefined }>();

  constructor(directory: string) {
    this.#directory = directory;
  }

  async start(): Promise<void> {
    try {
      await makeDirectory(this.#directory, `symbols_path ${this.#directory}`);
      await removeLeftovers(this.#directory);
    } catch (thrown) {
      throw fileFailure(thrown, `symbols_path ${this.#directory}`);
    }
  }

  /** Sorted ids (paths below the folder) of all files except hidden ones. */
  async ids(): Promise<string[]> {
    const found: string[] = [];
    try {
      for await (const { path } of listContained(this.#directory)) if (isCustomId(path)) found.push(path);
    } catch (thrown) {
      if (!isMissing(thrown)) throw thrown;
    }
    return found.sort();
  }

  /** The status of the symbol's file, if it exists. */
  find(id: string): Stats | undefined {
    if (!isCustomId(id)) return undefined;
    try {
      const top = realpathSync(this.#directory);
      const path = realpathSync(posix.join(top, id));
      const stat = statSync(path);
      return isBelow(top, path) && stat.isFile() ? stat : undefined;
    } catch {
      return undefined; // missing or not allowed: the same for drawing
    }
  }

  /** The size of the picture from `find`; undefined if the picture is damaged. */
  size(id: string, stat: Stats): SymbolSize | undefined {
    const stamp = `${stat.ino} ${stat.size} ${stat.mtimeMs}`;
    const known = this.#sizes.get(id);
    if (known?.stamp === stamp) return known.size;
    const size = this.#measure(id, Math.min(stat.size, MEASURED_BYTES));
    this.#sizes.set(id, { stamp, size });
    return size;
  }

  #measure(id: string, length: number): SymbolSize | undefined {
    let descriptor: number | undefined;
    try {
      descriptor = openSync(posix.join(this.#directory, id), READ_WITHOUT_WAITING);
      if (!fstatSync(descriptor).isFile()) return undefined;
      const data = Buffer.alloc(length);
      return pictureSize(data.subarray(0, readSync(descriptor, data)));
    } catch {
      return undefined;
    } finally {
      if (descriptor !== undefined) closeSync(descriptor);
    }
  }
}

/** Whether this can be the id of a custom symbol: a path below the folder without hidden parts. */
export function isCustomId(id: string): boolean {
  return id.length < 4096 && !id.includes('\0') && id.split('/').every((part) => part !== '' && !part.startsWith('.'));
}

function isMissing(thrown: unknown): boolean {
  return thrown instanceof Failure && thrown.code === 'not-found';
}
