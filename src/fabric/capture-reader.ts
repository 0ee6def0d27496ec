// Reads a capture while it is being written, from its oldest file or from near its end, across the files of a ring.

import type { CapturePart } from './capture-part.ts';

const BUFFER_BYTES = 256 << 10;

/** The capture to read. */
export interface CaptureSource {
  /** The oldest file that still exists. */
  readonly oldest: CapturePart;
  /** Whether no more records will come. */
  readonly ended: boolean;
  /** Resolves when there is more to read or the capture has ended. */
  grown(): Promise<void>;
}

/** One reader. A slow one delays no other; one that falls behind a ring continues with the oldest remaining file. */
export class CaptureReader {
  readonly #file: CaptureSource;
  readonly #last: number | undefined;
  #part: CapturePart | undefined;
  #offset = 0;
  /** Where reading continues after the header. */
  #behindHeader: number | undefined;
  #skipped = 0;
  #begun = false;
  #closed = false;

  /** `last`: after the header, skip to a record with at least about that many bytes after it. */
  constructor(file: CaptureSource, last?: number) {
    this.#file = file;
    this.#last = last;
  }

  /** Bytes of records that the ring deleted before they were read. */
  get skipped(): number {
    return this.#skipped;
  }

  /** Waits for the next bytes; undefined at the end. One call at a time. The caller owns the bytes. */
  async read(): Promise<Uint8Array | undefined> {
    while (!this.#closed) {
      const part = this.#part ?? (await this.#begin());
      if (part === undefined) continue;
      if (this.#behindHeader !== undefined && this.#offset >= part.begin) {
        this.#offset = this.#behindHeader;
        this.#behindHeader = undefined;
      }
      const end = this.#behindHeader === undefined ? part.size : part.begin;
      if (this.#offset < end) {
        const buffer = Buffer.allocUnsafeSlow(Math.min(BUFFER_BYTES, end - this.#offset));
        const size = await part.read(buffer, this.#offset);
        // The file was truncated from outside.
        if (size === 0) break;
        this.#offset += size;
        return buffer.subarray(0, size);
      }
      if (part.next !== undefined) {
        this.#part = undefined;
        await part.release();
        await this.#open(part.next);
      } else if (this.#file.ended) break;
      else await this.#file.grown();
    }
    await this.close();
    return undefined;
  }

  async close(): Promise<void> {
    this.#closed = true;
    const part = this.#part;
    this.#part = undefined;
    await part?.release();
  }

  /** Only the first file is read including its header. */
  async #begin(): Promise<CapturePart | undefined> {
    if (this.#begun) return this.#open(this.#file.oldest);
    const { part, offset } = this.#start();
    const opened = await this.#open(part);
    if (opened === undefined) return undefined;
    this.#begun = true;
    this.#skipped = 0;
    this.#offset = 0;
    if (opened === part) this.#behindHeader = offset;
    return opened;
  }

  /** The first file and the offset to start at. */
  #start(): { part: CapturePart; offset: number | undefined } {
    if (this.#last === undefined) return { part: this.#file.oldest, offset: undefined };
    const parts: CapturePart[] = [];
    for (let part: CapturePart | undefined = this.#file.oldest; part !== undefined; part = part.next) parts.push(part);
    let wanted = this.#last;
    for (const part of parts.reverse()) {
      const bytes = part.size - part.begin;
      if (bytes >= wanted) return { part, offset: part.recordAt(part.size - wanted) };
      wanted -= bytes;
    }
    return { part: this.#file.oldest, offset: undefined };
  }

  /** Opens this file after its header, or the oldest remaining one if the ring has deleted it. */
  async #open(wanted: CapturePart): Promise<CapturePart | undefined> {
    let part = wanted;
    while (!(await acquired(part))) {
      this.#skipped += part.size - part.begin;
      part = part.next ?? this.#file.oldest;
    }
    if (this.#closed) {
      await part.release();
      return undefined;
    }
    this.#part = part;
    this.#offset = part.begin;
    return part;
  }
}

/** False if the ring has deleted the file. */
async function acquired(part: CapturePart): Promise<boolean> {
  if (part.removed) return false;
  try {
    await part.acquire();
    return true;
  } catch (error) {
    if (part.removed) return false;
    throw error;
  }
}
