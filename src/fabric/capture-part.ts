// One file of a capture. Writer and readers share one descriptor, so a renamed file is never opened by its old name.

import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { inTurn } from './disk-turns.ts';

const { O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_RDWR, O_TRUNC } = constants;

/** Initial distance in bytes between two marks (known record offsets). */
const MARK_BYTES = 64 << 10;
/** Maximum marks per file; beyond it every second one is dropped. */
const MOST_MARKS = 4096;

export class CapturePart {
  /** Size of the header and the whole records: what readers may see. */
  size = 0;
  /** Offset of the first record. */
  begin = 0;
  /** The next file, started when this one was complete. */
  next: CapturePart | undefined;
  /** The trailer is written, or was left out because the disk is full. */
  complete = false;
  /** The file was deleted from the ring. */
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
   * Creates or empties the file; the caller must {@link release} it. Symbolic links and special files are refused. O_NONBLOCK keeps a named
   * pipe from blocking until it has a reader.
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

  /** Opens the complete file for a reader or shares the open descriptor; the caller must {@link release} it. */
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

  /** Appends all bytes. If writing fails, the file is cut back to the part of them that `whole` accepts. */
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

  /** The offset of a record at or before `offset`. */
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

  /** Reads from `offset`, at most the buffer's length. */
  async read(buffer: Buffer, offset: number): Promise<number> {
    const length = Math.min(buffer.length, this.size - offset);
    return (await inTurn(() => this.#handle!.read(buffer, 0, length, offset))).bytesRead;
  }
}
