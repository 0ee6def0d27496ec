// Writes project archives as a zip stream, entry by entry, without size limit. No maintained library writes streams of
// more than 4 GiB with other methods than deflate.
import type { Stats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { PassThrough, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { crc32 } from 'node:zlib';
import { type Compressor, STORED } from './compressors.ts';
import { centralRecord, DESCRIPTOR, dataDescriptor, type EntryRecord, endRecords, localHeader } from './zip-records.ts';

/** The attributes of an entry's file. */
export interface EntryAttributes {
  /** Permission bits; default 0644. */
  mode?: number;
  /** Modification time; default now. */
  modified?: Date;
}

/** Receives the entries of an archive one at a time: await each call. */
export interface ArchiveSink {
  addFile(name: string, content: Readable, attributes?: EntryAttributes): Promise<void>;
  /**
   * At most as much of an open file as it had at `stat`; the handle is closed. `passed` is called for each piece and
   * may throw.
   */
  addOpenFile(name: string, file: { handle: FileHandle; stat: Stats }, passed?: (bytes: number) => void): Promise<void>;
  addText(name: string, text: string): Promise<void>;
  /** A symbolic link; `target` is stored unchanged. */
  addLink(name: string, target: string): Promise<void>;
  addFolder(name: string): Promise<void>;
}

/** Unix file types in the modes of entries. */
export const REGULAR_FILE = 0o100000;
export const SYMBOLIC_LINK = 0o120000;
export const FOLDER = 0o040000;

/** Bytes per read. */
export const CHUNK_BYTES = 256 * 1024;

/** Writes entries at the archive reader's pace: each call resolves when its content has been read. */
class ArchiveWriter implements ArchiveSink {
  /** The archive; ends after `finish`. */
  readonly output = new PassThrough();
  readonly #compressor: Compressor;
  readonly #records: EntryRecord[] = [];
  #place = 0;

  constructor(compressor: Compressor) {
    this.#compressor = compressor;
    // Readers of the archive get its errors, also those before they begin.
    this.output.on('error', () => {});
  }

  async addFile(name: string, content: Readable, { mode = 0o644, modified }: EntryAttributes = {}): Promise<void> {
    await this.#add(name, content, { mode: REGULAR_FILE | (mode & 0o777), modified });
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
    await this.addFile(name, Readable.from([Buffer.from(text)]));
  }

  async addLink(name: string, target: string): Promise<void> {
    await this.#add(name, Readable.from([Buffer.from(target)]), { mode: SYMBOLIC_LINK | 0o777 }, STORED);
  }

  async addFolder(name: string): Promise<void> {
    const entry = { name: Buffer.from(`${name}/`), mode: FOLDER | 0o755, modified: new Date(), place: this.#place };
    const record = { ...entry, size: 0, packed: 0, checksum: 0, method: STORED.method, flags: 0 };
    this.#write(localHeader(record));
    this.#records.push(record);
  }

  finish(): void {
    const place = this.#place;
    for (const record of this.#records) this.#write(centralRecord(record));
    this.#write(endRecords({ entries: this.#records.length, place, size: this.#place - place }));
    this.output.end();
  }

  async #add(
    name: string,
    content: Readable,
    { mode, modified = new Date() }: { mode: number; modified?: Date | undefined },
    { method, flags, stages }: Compressor = this.#compressor,
  ): Promise<void> {
    const entry = { name: Buffer.from(name), mode, modified, place: this.#place };
    const record = { ...entry, size: 0, packed: 0, checksum: 0, method, flags: flags | DESCRIPTOR };
    this.#write(localHeader(record));
    const measured = telling(content, (length, piece) => {
      record.checksum = crc32(piece, record.checksum);
      record.size += length;
    });
    const count = async function* (pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
      for await (const piece of pieces) {
        record.packed += piece.length;
        yield piece;
      }
    };
    await pipeline([measured, ...stages(), count, this.output] as Parameters<typeof pipeline>[0][], { end: false });
    this.#place += record.packed;
    this.#write(dataDescriptor(record));
    this.#records.push(record);
  }

  #write(bytes: Buffer): void {
    this.output.write(bytes);
    this.#place += bytes.length;
  }
}

/** Passes the bytes through and calls `passed` for each piece; it may throw. */
export function telling(content: Readable, passed: (bytes: number, piece: Buffer) => void): Readable {
  const pieces = async function* (): AsyncGenerator<Buffer> {
    for await (const piece of content) {
      passed((piece as Buffer).length, piece as Buffer);
      yield piece as Buffer;
    }
  };
  const told = Readable.from(pieces(), { objectMode: false });
  // Also if reading has not begun.
  told.once('close', () => content.destroy());
  return told;
}

/** The archive of `fill` as a stream; a failure of `fill` breaks it off. */
export function packArchive(compressor: Compressor, fill: (archive: ArchiveSink) => Promise<void>): Readable {
  const archive = new ArchiveWriter(compressor);
  fill(archive).then(
    () => archive.finish(),
    (error: Error) => archive.output.destroy(error),
  );
  return archive.output;
}
