// The chunks of all captures of the worker: taken, filled, lent to the main thread, and taken again when it has released them.

import { CaptureChunk } from '../capture-chunk.ts';

/** Of one capture, on the way to a slow disk: 16 MiB. */
const MOST_OF_ONE = 64;
/** Of all: 64 MiB, and one more for each capture that has none. */
const MOST_OF_ALL = 256;

/** What one capture has lent. */
export interface Lender {
  lent: number;
}

export class CaptureChunks {
  readonly #free: CaptureChunk[] = [];
  readonly #out: { chunk: CaptureChunk; lender: Lender }[] = [];
  /** Chunks that are being filled. */
  #filling = 0;

  /** An empty chunk, or none if too much is on its way. */
  take(lender: Lender): CaptureChunk | undefined {
    this.reclaim();
    const all = this.#out.length + this.#filling;
    if (lender.lent > 0 && (lender.lent >= MOST_OF_ONE || all >= MOST_OF_ALL)) return undefined;
    this.#filling++;
    return this.#free.pop() ?? new CaptureChunk();
  }

  /** The chunk, which was taken, has been lent. */
  out(chunk: CaptureChunk, lender: Lender): void {
    this.#filling--;
    lender.lent++;
    this.#out.push({ chunk, lender });
  }

  /** Nobody captures any more: what is free is not needed. */
  clear(): void {
    this.#free.length = 0;
  }

  /** Takes back what the main thread has released. */
  reclaim(): void {
    let kept = 0;
    for (const one of this.#out) {
      if (one.chunk.lent) this.#out[kept++] = one;
      else {
        one.lender.lent--;
        this.#free.push(one.chunk);
      }
    }
    this.#out.length = kept;
  }
}
