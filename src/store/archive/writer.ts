// Writes project archives: zip, as a stream, one entry after the other, whatever their sizes.
import type { Stats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { PassThrough, Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { ZipFile } from 'yazl';

export type Compression = 'deflated' | 'stored';

/** What an entry says of its file besides the content. */
export interface EntryAttributes {
  /** Permission bits; 0644 when not given. */
  mode?: number;
  /** Time of the last change; now when not given. */
  modified?: Date;
}

/** What takes the entries of an archive, one after the other: each call is to be awaited. */
export interface ArchiveSink {
  addFile(name: string, content: Readable, attributes?: EntryAttributes): Promise<void>;
  /** As much of an open file as it had when `stat` was taken, or less; the handle is closed. `passed` is told of each piece, and may fail. */
  addOpenFile(name: string, file: { handle: FileHandle; stat: Stats }, passed?: (bytes: number) => void): Promise<void>;
  addText(name: string, text: string): Promise<void>;
  /** A symbolic link; `target` is kept as it is. */
  addLink(name: string, target: string): Promise<void>;
  addFolder(name: string): Promise<void>;
}

/** Types of files in the modes of entries, as Unix has them. */
export const REGULAR_FILE = 0o100000;
export const SYMBOLIC_LINK = 0o120000;
export const FOLDER = 0o040000;

/** Bytes that are read at once. */
export const CHUNK_BYTES = 256 * 1024;

/** Half as fast again as the usual 6, for archives that are a twentieth larger. */
const LEVEL = 3;

/** Before this day the format knows no dates. */
const EARLIEST = new Date(1980, 0, 1);

/** Takes entries as fast as the archive is read: each call resolves when its content has been taken. */
export class ArchiveWriter implements ArchiveSink {
  /** The archive; ends after `finish`. */
  readonly output: Readable;
  readonly #zip = new ZipFile();
  readonly #level: number;
  /** Fails when nobody reads the archive any more. */
  readonly #broken: Promise<never>;

  constructor(compression: Compression) {
    this.#level = compression === 'deflated' ? LEVEL : 0;
    // yazl writes to a stream of its own and does not notice when that is destroyed: this one tells.
    this.output = (this.#zip.outputStream as Readable).pipe(new PassThrough());
    const { promise, reject } = Promise.withResolvers<never>();
    this.#broken = promise;
    promise.catch(() => {});
    this.#zip.on('error', (error: Error) => this.output.destroy(error));
    finished(this.output).catch(reject);
  }

  async addFile(name: string, content: Readable, { mode = 0o644, modified }: EntryAttributes = {}): Promise<void> {
    const taken = finished(content, { writable: false });
    this.#zip.addReadStream(content, name, this.#options(REGULAR_FILE | (mode & 0o777), modified));
    try {
      await Promise.race([taken, this.#broken]);
    } finally {
      taken.catch(() => {});
      content.destroy();
    }
  }

  async addOpenFile(
    name: string,
    { handle, stat }: { handle: FileHandle; stat: Stats },
    passed?: (bytes: number) => void,
  ): Promise<void> {
    const content = handle.createReadStream({ end: Math.max(0, stat.size - 1), highWaterMark: CHUNK_BYTES });
    const told = passed === undefined ? content : telling(content, passed);
    await this.addFile(name, told, { mode: stat.mode, modified: stat.mtime });
  }

  async addText(name: string, text: string): Promise<void> {
    this.#zip.addBuffer(Buffer.from(text), name, this.#options(REGULAR_FILE | 0o644));
  }

  async addLink(name: string, target: string): Promise<void> {
    this.#zip.addBuffer(Buffer.from(target), name, { mode: SYMBOLIC_LINK | 0o777, compress: false });
  }

  async addFolder(name: string): Promise<void> {
    this.#zip.addEmptyDirectory(name);
  }

  finish(): void {
    this.#zip.end();
  }

  #options(mode: number, modified = new Date()): { mode: number; mtime: Date; compressionLevel: number } {
    return { mode, mtime: modified < EARLIEST ? EARLIEST : modified, compressionLevel: this.#level };
  }
}

/** The same bytes; `passed` is told of each piece of them, and may fail. */
export function telling(content: Readable, passed: (bytes: number) => void): Readable {
  const pieces = async function* (): AsyncGenerator<Buffer> {
    for await (const piece of content) {
      passed((piece as Buffer).length);
      yield piece as Buffer;
    }
  };
  const told = Readable.from(pieces(), { objectMode: false });
  // Also when nobody has begun to read.
  told.once('close', () => content.destroy());
  return told;
}

/** The archive that `fill` makes, as a stream; a failure of `fill` breaks it off. */
export function packArchive(compression: Compression, fill: (archive: ArchiveSink) => Promise<void>): Readable {
  const archive = new ArchiveWriter(compression);
  fill(archive).then(
    () => archive.finish(),
    (error: Error) => archive.output.destroy(error),
  );
  return archive.output;
}
