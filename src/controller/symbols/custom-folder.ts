// The folder with the symbols that people brought: read as it is at the moment, so that files put there by hand count as well.
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

/** Bytes that are read of a file to find its size; an SVG must be there as a whole. */
const MEASURED_BYTES = 10 * 1024 * 1024;

export class CustomFolder {
  readonly #directory: string;
  /** Sizes by id, each with the state of the file that it was taken from; only files that exist have one. */
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

  /** Ids (paths below the folder) of all files but hidden ones, in order. */
  async ids(): Promise<string[]> {
    const found: string[] = [];
    try {
      for await (const { path } of listContained(this.#directory)) if (isCustomId(path)) found.push(path);
    } catch (thrown) {
      if (!isMissing(thrown)) throw thrown;
    }
    return found.sort();
  }

  /** The status of the symbol's file, if it is one. */
  find(id: string): Stats | undefined {
    if (!isCustomId(id)) return undefined;
    try {
      const top = realpathSync(this.#directory);
      const path = realpathSync(posix.join(top, id));
      const stat = statSync(path);
      return isBelow(top, path) && stat.isFile() ? stat : undefined;
    } catch {
      return undefined; // not there, or not for us: the same to whoever draws
    }
  }

  /** The size of the picture that `find` found; undefined if the file cannot be read as the picture that it begins as. */
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

/** Whether this can be the id of a custom symbol: a path below the folder, no part of it hidden. */
export function isCustomId(id: string): boolean {
  return id.length < 4096 && !id.includes('\0') && id.split('/').every((part) => part !== '' && !part.startsWith('.'));
}

function isMissing(thrown: unknown): boolean {
  return thrown instanceof Failure && thrown.code === 'not-found';
}
