// One file of a capture. Whoever writes or reads it shares one descriptor, so that nobody opens by name what was renamed meanwhile.

import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { inTurn } from './disk-turns.ts';

const { O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_RDWR, O_TRUNC } = constants;

/** Bytes between two places at which a record is known to begin, at first. */
const MARK_BYTES = 64 << 10;
/** Marks of one file; when there are more, every other one goes. */
const MOST_MARKS = 4096;

export class CapturePart {
  /** Bytes of the header and of whole records: what readers may see. */
  size = 0;
  /** Where the records begin. */
  begin = 0;
  /** The one that was begun when this one was complete. */
  next: CapturePart | undefined;
  /** The trailer was written, or there was no room for it. */
  complete = false;
  /** It is not among the capture's files any more. */
  removed = false;
  path: string;
  #handle: FileHandle | undefined;
  #users = 0;
  #marks: number[] = [];
  #markBytes = MARK_BYTES;

  constructor(path: string) {
    this.path = path;
  }

  /**
   * Creates the file, or empties it; {@link release} is due then. Symbolic links and anything but plain files are refused.
   * Without O_NONBLOCK a named pipe would wait for its reader.
   */
  async create(): Promise<void> {
    const handle = await open(this.path, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK, 0o640);
    if (!(await handle.stat()).isFile()) {
      await handle.close();
      throw new Error('it is not a plain file');
    }
    this.#handle = handle;
    this.#users = 1;
  }

  /** Opens the complete file again for a reader, or lets it share what is open; {@link release} is due then. */
  async acquire(): Promise<void> {
    this.#users++;
    if (this.#handle !== undefined) return;
    try {
      const handle = await open(this.path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
      if (this.#handle === undefined) this.#handle = handle;
      else await handle.close();
    } catch (error) {
      this.#users--;
      throw error;
    }
  }

  async release(): Promise<void> {
    if (--this.#users > 0) return;
    const handle = this.#handle;
    this.#handle = undefined;
    await handle?.close();
  }

  /** Appends all of it. What is written when it fails is cut off, but for what `whole` says of the bytes that fit. */
  async write(bytes: Uint8Array, whole: (written: number) => number = () => 0): Promise<void> {
    let written = 0;
    try {
      while (written < bytes.length) {
        const [from, position] = [written, this.size + written];
        const done = await inTurn(() => this.#handle!.write(bytes, from, bytes.length - from, position));
        written += done.bytesWritten;
      }
    } catch (error) {
      written = whole(written);
      await this.#handle!.truncate(this.size + written).catch(() => {});
      throw error;
    } finally {
      this.size += written;
      this.#note();
    }
  }

  /** Where a record begins, at or before `offset`. */
  recordAt(offset: number): number {
    if (offset >= this.size) return this.size;
    return this.#marks.findLast((mark) => mark <= offset) ?? this.begin;
  }

  #note(): void {
    if (this.size < (this.#marks.at(-1) ?? 0) + this.#markBytes) return;
    this.#marks.push(this.size);
    if (this.#marks.length <= MOST_MARKS) return;
    this.#marks = this.#marks.filter((_, index) => index % 2 === 0);
    this.#markBytes *= 2;
  }

  /** What there is from `offset` on, up to the buffer's length. */
  async read(buffer: Buffer, offset: number): Promise<number> {
    const length = Math.min(buffer.length, this.size - offset);
    return (await inTurn(() => this.#handle!.read(buffer, 0, length, offset))).bytesRead;
  }
}
