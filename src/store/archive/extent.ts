// Finds the zip archive within a file. Like the release and writers of self-extracting archives, this relies on the
// record at the archive's end: other bytes may precede and follow it, such as those of a form upload.
import { read } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { RandomAccessReader } from 'yauzl';
import { CHUNK_BYTES } from './writer.ts';

const readAt = promisify(read);

// Sizes and signatures of the format (APPNOTE.TXT of PKWARE, sections 4.3.12 to 4.3.16).
const END_RECORD_BYTES = 22;
const END_SIGNATURE = 0x06054b50;
const LOCATOR_64_BYTES = 20;
const LOCATOR_64_SIGNATURE = 0x07064b50;
const END_RECORD_64_BYTES = 56;
const END_64_SIGNATURE = 0x06064b50;
const ENTRY_SIGNATURE = 0x02014b50;
const LONGEST_COMMENT_BYTES = 0xffff;

/** Bytes from `start` up to but not including `end`. */
export interface Extent {
  start: number;
  end: number;
}

/** The last archive in a file of `size` bytes; undefined without an end record in the last 64 KiB. */
export async function findArchive({ fd }: FileHandle, size: number): Promise<Extent | undefined> {
  const length = Math.min(size, END_RECORD_BYTES + LONGEST_COMMENT_BYTES);
  const tail = await bytesAt(fd, size - length, length);
  for (let at = tail.length - END_RECORD_BYTES; at >= 0; at -= 1) {
    if (tail.readUInt32LE(at) !== END_SIGNATURE) continue;
    const end = at + END_RECORD_BYTES + tail.readUInt16LE(at + 20);
    if (end > tail.length) continue;
    const start = await startOf(fd, size - length + at, tail.subarray(at, at + END_RECORD_BYTES));
    if (start !== undefined) return { start, end: size - length + end };
  }
  return undefined;
}

/** The start of the archive whose end record is at `place`; undefined if that is not an end record. */
async function startOf(fd: number, place: number, record: Buffer): Promise<number | undefined> {
  let listEnd = place;
  let listSize = record.readUInt32LE(12);
  let listOffset = record.readUInt32LE(16);
  const before = await bytesAt(
    fd,
    Math.max(0, place - LOCATOR_64_BYTES - END_RECORD_64_BYTES),
    Math.min(place, LOCATOR_64_BYTES + END_RECORD_64_BYTES),
  );
  if (
    before.length === LOCATOR_64_BYTES + END_RECORD_64_BYTES &&
    before.readUInt32LE(END_RECORD_64_BYTES) === LOCATOR_64_SIGNATURE &&
    before.readUInt32LE(0) === END_64_SIGNATURE
  ) {
    listEnd = place - LOCATOR_64_BYTES - END_RECORD_64_BYTES;
    listSize = Number(before.readBigUInt64LE(40));
    listOffset = Number(before.readBigUInt64LE(48));
  }
  const start = listEnd - listSize - listOffset;
  if (start < 0) return undefined;
  if (listSize === 0) return start;
  const first = await bytesAt(fd, listEnd - listSize, 4);
  return first.length === 4 && first.readUInt32LE(0) === ENTRY_SIGNATURE ? start : undefined;
}

/** Reads up to `length` bytes. */
async function bytesAt(fd: number, place: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await readAt(fd, buffer, filled, length - filled, place + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}

/** Reads a part of a file as if it were the whole. The caller keeps the descriptor. */
export class PartReader extends RandomAccessReader {
  readonly #descriptor: number;
  readonly #start: number;

  constructor(descriptor: number, start: number) {
    super();
    this.#descriptor = descriptor;
    this.#start = start;
  }

  override _readStreamForRange(start: number, end: number): Readable {
    // Not a file stream, as that would close the descriptor when it is destroyed.
    return Readable.from(this.#chunks(this.#start + start, this.#start + end), { objectMode: false });
  }

  async *#chunks(start: number, end: number): AsyncGenerator<Buffer> {
    for (let place = start; place < end; ) {
      const chunk = await bytesAt(this.#descriptor, place, Math.min(CHUNK_BYTES, end - place));
      if (chunk.length === 0) return;
      yield chunk;
      place += chunk.length;
    }
  }

  override read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
    done: (error: Error | null) => void,
  ): void {
    bytesAt(this.#descriptor, this.#start + position, length).then((bytes) => {
      bytes.copy(buffer, offset);
      done(bytes.length === length ? null : new Error('unexpected end of the file'));
    }, done);
  }

  override close(done: (error: Error | null) => void): void {
    done(null);
  }
}
