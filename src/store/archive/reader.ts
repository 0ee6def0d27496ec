// Reads project archives, which may be hostile: every entry is checked before anything of it is used, and any violation rejects the whole archive.
import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { pipeline, type Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { crc32, createZstdDecompress } from 'node:zlib';
import { type Entry, fromFdPromise, fromRandomAccessReaderPromise, type ZipFile } from 'yauzl';
import { conflict, Failure, messageOf } from '../../failures.ts';
import { BLOCK_BYTES, shareBlocks } from '../../host/files/share-blocks.ts';
import { decoded } from './decoding-thread.ts';
import { findArchive, PartReader } from './extent.ts';
import { BZIP2, LZMA, METHODS, methodName, ZSTD } from './methods.ts';
import { type LinkRules, leadsInside, NO_LINK_RULES, nameProblem } from './names.ts';

/** Far more than labs have; each costs some hundred bytes of memory while the archive is read. */
const MOST_ENTRIES = 100_000;
const LONGEST_LINK_BYTES = 4_095;
/** Links that are checked before the server does other work. */
const LINKS_AT_ONCE = 64;
/**
 * The largest unpacked size: some gibibytes whatever the archive's size (empty disks compress to nothing), plus a
 * hundred times its size. Deflate can reach a ratio of a thousand, and hostile archives do.
 */
const ALWAYS_ALLOWED_BYTES = 4 * 1024 ** 3;
const MOST_RATIO = 100;
/** Fixed part of the header before each entry's data. */
const LOCAL_HEADER_BYTES = 30;
const ENCRYPTED = 0x0001 | 0x0040 | 0x2000;

export interface ArchiveEntry {
  /** Relative, with `/` between its parts, without one at the end. */
  name: string;
  kind: 'file' | 'link' | 'folder';
  /** Uncompressed size in bytes. */
  size: number;
  /** Permission bits. */
  mode: number;
  modified: Date;
  /** A link's target exactly as stored. */
  target: string | undefined;
  raw: Entry;
}

/** The archive within its file: `length` bytes from `start`. */
interface FilePart {
  descriptor: number;
  start: number;
  length: number;
}

export class ArchiveReader {
  /** By name, in the order of the archive. */
  readonly entries: ReadonlyMap<string, ArchiveEntry>;
  readonly #zip: ZipFile;
  readonly #part: FilePart;

  private constructor(zip: ZipFile, part: FilePart, entries: ReadonlyMap<string, ArchiveEntry>) {
    this.#zip = zip;
    this.#part = part;
    this.entries = entries;
  }

  /**
   * Opens an archive and checks all of it: names, kinds, sizes, data positions, links. The caller keeps the handle,
   * which must stay open while contents are read.
   * @throws Failure `conflict` with the reason
   */
  static async open(handle: FileHandle, rules = NO_LINK_RULES): Promise<ArchiveReader> {
    const { size: fileSize } = await handle.stat();
    const { start, end } = (await findArchive(handle, fileSize)) ?? { start: 0, end: fileSize };
    const options = { autoClose: false, lazyEntries: true, strictFileNames: true };
    const opening =
      start === 0 && end === fileSize
        ? fromFdPromise(handle.fd, options)
        : fromRandomAccessReaderPromise(new PartReader(handle.fd, start), end - start, options);
    const zip = await opening.catch((error: unknown) => {
      throw conflict('This is not a lab archive (.gns3project), or it is damaged: lab export and the page make one.', {
        cause: error,
      });
    });
    const entries = await entriesOf(zip);
    checkSizes([...entries.values()], end - start);
    checkTree(entries);
    const reader = new ArchiveReader(zip, { descriptor: handle.fd, start, length: end - start }, entries);
    for (const name of await reader.#readLinks(rules)) entries.delete(name);
    return reader;
  }

  /** Uncompressed size of all contents in bytes. */
  get size(): number {
    return sizeOf([...this.entries.values()]);
  }

  /**
   * Checks an archive together with those inside it, which unpack to `inner` bytes.
   * @throws Failure `conflict` when all levels together are too large for an archive of this size
   */
  checkLevels(inner: number): void {
    checkSize(this.size + inner, this.#part.length);
  }

  /**
   * Lets an empty file share the blocks of a stored content, where the file system supports it; returns the number of
   * shared bytes. They are not verified: `content` does that.
   */
  async share({ raw, size }: ArchiveEntry, file: FileHandle): Promise<number> {
    const length = size - (size % BLOCK_BYTES);
    if (raw.compressionMethod !== 0 || length === 0) return 0;
    const { fileDataStart } = await this.#zip.readLocalFileHeaderPromise(raw, { minimal: true });
    const from = this.#part.start + fileDataStart;
    if (from % BLOCK_BYTES !== 0) return 0;
    return (await shareBlocks(this.#part.descriptor, file.fd, { from, to: 0, length })) ? length : 0;
  }

  /** The content of a file; fails if it differs from the archive's checksum or size. */
  async *content({ name, raw, size }: ArchiveEntry): AsyncGenerator<Buffer> {
    let checksum = 0;
    let length = 0;
    try {
      for await (const chunk of await this.#unpacked(raw)) {
        length += chunk.length;
        if (length > size) throw new Error('it unpacks to more than the archive says');
        checksum = crc32(chunk, checksum);
        yield chunk;
      }
    } catch (error) {
      throw error instanceof Failure ? refused(name, error.message) : damaged(name, messageOf(error), error);
    }
    if (length < size) throw damaged(name, 'it unpacks to less than the archive says');
    if (checksum !== raw.crc32) throw damaged(name, 'its checksum differs');
  }

  async #unpacked(raw: Entry): Promise<AsyncIterable<Buffer>> {
    const method = raw.compressionMethod;
    if (method === BZIP2 || method === LZMA) {
      const { fileDataStart } = await this.#zip.readLocalFileHeaderPromise(raw, { minimal: true });
      return decoded({
        method,
        descriptor: this.#part.descriptor,
        from: this.#part.start + fileDataStart,
        length: raw.compressedSize,
        size: raw.uncompressedSize,
        flags: raw.generalPurposeBitFlag,
      });
    }
    if (method !== ZSTD) return this.#zip.openReadStreamPromise(raw);
    const packed: Readable = await this.#zip.openReadStreamPromise(raw, { decodeFileData: false });
    // After any failure the destroyed stream reports it to the reader.
    return pipeline(packed, createZstdDecompress(), () => {});
  }

  /** The whole content of a small file. */
  async bytes(entry: ArchiveEntry): Promise<Buffer> {
    const chunks: Buffer[] = [];
    for await (const chunk of this.content(entry)) chunks.push(chunk);
    return Buffer.concat(chunks);
  }

  /** Reads and checks all links. Returns those to leave out. */
  async #readLinks(rules: LinkRules): Promise<string[]> {
    const links = new Map<string, string>();
    const leftOut: string[] = [];
    for (const entry of this.entries.values()) {
      if (entry.kind !== 'link') continue;
      if (entry.size > LONGEST_LINK_BYTES || entry.size === 0)
        throw refused(entry.name, 'a link of this length leads nowhere');
      entry.target = (await this.bytes(entry)).toString('utf8');
      // Archives of other releases and of earlier versions have such links.
      if (entry.target.startsWith('/') && rules.isMadeAgain(entry.name)) leftOut.push(entry.name);
      else links.set(entry.name, entry.target);
    }
    let checked = 0;
    for (const [name, target] of links) {
      checked += 1;
      if (checked % LINKS_AT_ONCE === 0) await nextTurn();
      if (leadsInside(name, links, rules)) continue;
      throw refused(name, `it is a link that leads out of the project, to ${JSON.stringify(target)}`);
    }
    return leftOut;
  }
}

async function entriesOf(zip: ZipFile): Promise<Map<string, ArchiveEntry>> {
  if (zip.entryCount > MOST_ENTRIES) {
    throw conflict(`The archive has ${zip.entryCount} entries; at most ${MOST_ENTRIES} are taken.`);
  }
  const entries = new Map<string, ArchiveEntry>();
  try {
    for await (const raw of zip.eachEntry()) {
      const entry = judged(raw);
      const known = entries.get(entry.name);
      if (known) mustBeSame(known, entry);
      else entries.set(entry.name, entry);
    }
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw conflict(`The archive is damaged: ${messageOf(error)}`, { cause: error });
  }
  return entries;
}

/** Converts and checks a single entry. */
function judged(raw: Entry): ArchiveEntry {
  const name = raw.fileName.replace(/\/$/, '');
  const problem = nameProblem(name);
  if (problem !== undefined) throw refused(raw.fileName, problem);
  if (raw.generalPurposeBitFlag & ENCRYPTED)
    throw refused(name, 'it is encrypted; make the archive without a password');
  if (!METHODS.has(raw.compressionMethod)) {
    const method = methodName(raw.compressionMethod);
    throw refused(
      name,
      `it is compressed by ${method}; export the project again with compression "zstd", "zip" or "none"`,
    );
  }
  return {
    name,
    kind: kindOf(raw),
    size: raw.uncompressedSize,
    mode: raw.externalFileAttributes >>> 16 === 0 ? 0o644 : (raw.externalFileAttributes >>> 16) & 0o777,
    modified: raw.getLastModDate(),
    target: undefined,
    raw,
  };
}

function kindOf(raw: Entry): ArchiveEntry['kind'] {
  const folder = raw.fileName.endsWith('/');
  // Only archives made on Unix contain more than whether an entry is a folder.
  const type = (raw.externalFileAttributes >>> 16) & constants.S_IFMT;
  if (type === constants.S_IFLNK && !folder) return 'link';
  if (folder && (type === 0 || type === constants.S_IFDIR) && raw.uncompressedSize === 0) return 'folder';
  if (!folder && (type === 0 || type === constants.S_IFREG)) return 'file';
  throw refused(raw.fileName, 'it is neither a file nor a folder nor a link');
}

/** Some servers write a file twice if they find it in two places; that is harmless if both are equal. */
function mustBeSame(one: ArchiveEntry, other: ArchiveEntry): void {
  if (one.kind === other.kind && one.size === other.size && one.raw.crc32 === other.raw.crc32) return;
  throw refused(one.name, 'it occurs twice, with different contents');
}

function sizeOf(entries: readonly ArchiveEntry[]): number {
  return entries.reduce((sum, { size }) => sum + size, 0);
}

function checkSize(size: number, archiveSize: number): void {
  const most = ALWAYS_ALLOWED_BYTES + MOST_RATIO * archiveSize;
  if (size <= most) return;
  throw conflict(`The archive would unpack to ${size} bytes; one of ${archiveSize} may have ${most}.`);
}

function checkSizes(entries: readonly ArchiveEntry[], archiveSize: number): void {
  checkSize(sizeOf(entries), archiveSize);
  // Small archives reach huge unpacked sizes by entries that share data.
  const places = entries
    .map(({ name, raw }) => ({
      name,
      start: raw.relativeOffsetOfLocalHeader,
      length: LOCAL_HEADER_BYTES + raw.compressedSize,
    }))
    .sort((a, b) => a.start - b.start);
  for (const [index, { name, start, length }] of places.entries()) {
    const next = places[index + 1]?.start ?? archiveSize;
    if (start + length > next)
      throw refused(name, 'its data overlap with those of another entry, or end after the archive');
  }
}

/** No entry may be below a file or a link. */
function checkTree(entries: ReadonlyMap<string, ArchiveEntry>): void {
  for (const { name } of entries.values()) {
    for (let end = name.lastIndexOf('/'); end > 0; end = name.lastIndexOf('/', end - 1)) {
      const above = entries.get(name.slice(0, end));
      if (above !== undefined && above.kind !== 'folder')
        throw refused(name, `it lies below ${above.name}, a ${above.kind}`);
    }
  }
}

function refused(name: string, reason: string): Failure {
  return conflict(`The archive is refused for its entry ${JSON.stringify(name.slice(0, 200))}: ${reason}.`);
}

function damaged(name: string, reason: string, cause?: unknown): Failure {
  return conflict(`The archive is damaged in its entry ${JSON.stringify(name)}: ${reason}.`, { cause });
}
