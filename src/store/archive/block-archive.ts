// Writes zip archives for the same disk as their files. The content of a large file starts at a block boundary, so that
// archive and file share their blocks where the file system supports it (XFS, Btrfs): an unchanged disk of a virtual
// machine costs no space, however many archives contain it. No library places entries like that, so this is a zip
// writer of its own; all content is stored uncompressed.
import type { Stats } from 'node:fs';
import { ftruncate, write } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { crc32 } from 'node:zlib';
import type { AtomicFile } from '../../host/files/atomic-file.ts';
import { fileFailure } from '../../host/files/atomic-file.ts';
import { BLOCK_BYTES, shareBlocks, WORTH_SHARING_BYTES } from '../../host/files/share-blocks.ts';
import { STORE } from './methods.ts';
import { type ArchiveSink, CHUNK_BYTES, type EntryAttributes, FOLDER, REGULAR_FILE, SYMBOLIC_LINK } from './writer.ts';
import { centralRecord, type EntryRecord, endRecords, extraFor, localHeader } from './zip-records.ts';

const writeAt = promisify(write);
const truncateTo = promisify(ftruncate);

/** The resulting size and checksum of an entry's content. */
interface Written {
  size: number;
  checksum: number;
}

/** Writes an archive to a new file, which is created once `fill` has added all entries. */
export async function writeBlockArchive(
  file: AtomicFile,
  fill: (archive: ArchiveSink) => Promise<void>,
): Promise<void> {
  const archive = new BlockArchive(file.descriptor);
  await fill(archive);
  await archive.finish();
  await file.commit();
}

class BlockArchive implements ArchiveSink {
  readonly #descriptor: number;
  readonly #records: EntryRecord[] = [];
  readonly #buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  #place = 0;
  /** The progress callback for the file being added. */
  #passed: (bytes: number) => void = () => {};

  constructor(descriptor: number) {
    this.#descriptor = descriptor;
  }

  async addOpenFile(
    name: string,
    { handle, stat }: { handle: FileHandle; stat: Stats },
    passed: (bytes: number) => void = () => {},
  ): Promise<void> {
    await using source = handle;
    this.#passed = passed;
    const attributes = { mode: REGULAR_FILE | (stat.mode & 0o777), modified: stat.mtime, expected: stat.size };
    await this.#add(name, attributes, (place) => this.#copy(source, stat, place));
  }

  async addFile(name: string, content: Readable, { mode = 0o644, modified }: EntryAttributes = {}): Promise<void> {
    await this.#add(name, { mode: REGULAR_FILE | (mode & 0o777), modified, expected: undefined }, (place) =>
      this.#pour(content, place),
    );
  }

  async addText(name: string, text: string): Promise<void> {
    await this.#addBytes(name, REGULAR_FILE | 0o644, Buffer.from(text));
  }

  async addLink(name: string, target: string): Promise<void> {
    await this.#addBytes(name, SYMBOLIC_LINK | 0o777, Buffer.from(target));
  }

  async addFolder(name: string): Promise<void> {
    await this.#addBytes(`${name}/`, FOLDER | 0o755, Buffer.alloc(0));
  }

  /** Writes the list of entries, which completes the archive. */
  async finish(): Promise<void> {
    const directory = Buffer.concat(this.#records.map(centralRecord));
    const end = endRecords({ entries: this.#records.length, place: this.#place, size: directory.length });
    await this.#write(directory, this.#place);
    const at = this.#place + directory.length;
    await this.#write(end, at);
    // Of a file that shrank meanwhile, more may have been shared than it is listed with.
    await truncateTo(this.#descriptor, at + end.length);
  }

  async #addBytes(name: string, mode: number, bytes: Buffer): Promise<void> {
    await this.#add(name, { mode, modified: undefined, expected: bytes.length }, async (place) => {
      await this.#write(bytes, place);
      return { size: bytes.length, checksum: crc32(bytes) };
    });
  }

  /** Writes the content first, then the header before it with the resulting size and checksum. */
  async #add(
    name: string,
    {
      mode,
      modified = new Date(),
      expected,
    }: { mode: number; modified: Date | undefined; expected: number | undefined },
    content: (place: number) => Promise<Written>,
  ): Promise<void> {
    const entry = { name: Buffer.from(name), mode, modified, place: this.#place, method: STORE, flags: 0 };
    const align = expected !== undefined && expected >= WORTH_SHARING_BYTES ? BLOCK_BYTES : 1;
    const extra = extraFor(entry, { expected, align });
    const start = this.#place + localHeader({ ...entry, size: 0, packed: 0, checksum: 0 }, extra).length;
    const written = await content(start);
    const record = { ...entry, ...written, packed: written.size };
    await this.#write(localHeader(record, extra), this.#place);
    this.#records.push(record);
    this.#place = start + record.size;
  }

  /** Shares the blocks that can be shared and writes the rest. */
  async #copy(source: FileHandle, stat: Stats, place: number): Promise<Written> {
    const whole = stat.size >= WORTH_SHARING_BYTES ? stat.size - (stat.size % BLOCK_BYTES) : 0;
    if (whole === 0 || !(await shareBlocks(source.fd, this.#descriptor, { from: 0, to: place, length: whole }))) {
      return this.#read(source, stat.size, { place, from: 0 });
    }
    const written = await this.#read(source, stat.size, { place, from: whole });
    const now = await source.stat();
    // The file was changed meanwhile: shared blocks may differ from what was read for the checksum.
    if (now.mtimeMs !== stat.mtimeMs || now.size !== stat.size)
      return this.#read(source, stat.size, { place, from: 0 });
    return written;
  }

  /** Reads a whole file for its checksum, and writes the part after `from`, starting at `place`. */
  async #read(source: FileHandle, size: number, { place, from }: { place: number; from: number }): Promise<Written> {
    let checksum = 0;
    let at = 0;
    while (at < size) {
      const wanted = Math.min(CHUNK_BYTES, size - at);
      const { bytesRead } = await source.read(this.#buffer, 0, wanted, at);
      if (bytesRead === 0) break;
      this.#passed(bytesRead);
      const chunk = this.#buffer.subarray(0, bytesRead);
      checksum = crc32(chunk, checksum);
      const shared = Math.max(0, Math.min(bytesRead, from - at));
      await this.#write(chunk.subarray(shared), place + at + shared);
      at += bytesRead;
    }
    return { size: at, checksum };
  }

  async #pour(content: Readable, place: number): Promise<Written> {
    const written = { size: 0, checksum: 0 };
    for await (const piece of content) {
      const chunk = piece as Buffer;
      await this.#write(chunk, place + written.size);
      written.checksum = crc32(chunk, written.checksum);
      written.size += chunk.length;
    }
    return written;
  }

  async #write(bytes: Uint8Array, place: number): Promise<void> {
    try {
      for (let done = 0; done < bytes.length; ) {
        done += (await writeAt(this.#descriptor, bytes, done, bytes.length - done, place + done)).bytesWritten;
      }
    } catch (error) {
      throw fileFailure(error, 'the archive');
    }
  }
}
