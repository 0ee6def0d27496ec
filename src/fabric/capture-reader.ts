// Reads a capture while it is written: from the beginning of its oldest file, across the files of a ring, to its end.

import type { CapturePart } from './capture-part.ts';

const BUFFER_BYTES = 256 << 10;

/** What is read. */
export interface CaptureSource {
  /** The oldest file that is left. */
  readonly oldest: CapturePart;
  /** Whether nothing comes any more. */
  readonly ended: boolean;
  /** Resolves when there is more to read, or when nothing comes any more. */
  grown(): Promise<void>;
}

/** One reader; however slow it is, nobody else notices. One that falls behind a ring goes on with the oldest file that is left. */
export class CaptureReader {
  readonly #file: CaptureSource;
  #part: CapturePart | undefined;
  #offset = 0;
  #closed = false;

  constructor(file: CaptureSource) {
    this.#file = file;
  }

  /** Waits for what comes next; undefined at the end. One call at a time. The bytes are the caller's. */
  async read(): Promise<Uint8Array | undefined> {
    while (!this.#closed) {
      const part = this.#part ?? (await this.#open(this.#file.oldest, true));
      if (part === undefined) continue;
      if (this.#offset < part.size) {
        const buffer = Buffer.allocUnsafeSlow(Math.min(BUFFER_BYTES, part.size - this.#offset));
        const size = await part.read(buffer, this.#offset);
        // Somebody else has cut the file off.
        if (size === 0) break;
        this.#offset += size;
        return buffer.subarray(0, size);
      }
      if (part.next !== undefined) {
        this.#part = undefined;
        await part.release();
        await this.#open(part.next.removed ? this.#file.oldest : part.next, false);
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

  /** Only the first file is read with its header; a file that is removed meanwhile is passed over. */
  async #open(wanted: CapturePart, first: boolean): Promise<CapturePart | undefined> {
    for (let part = wanted; ; part = this.#file.oldest) {
      try {
        await part.acquire();
      } catch (error) {
        if (part.removed) continue;
        throw error;
      }
      if (this.#closed) {
        await part.release();
        return undefined;
      }
      this.#part = part;
      this.#offset = first ? 0 : part.begin;
      return part;
    }
  }
}
