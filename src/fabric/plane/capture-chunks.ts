// The worker's pool of capture chunks. The main thread releases lent chunks for reuse.

import { CaptureChunk } from '../capture-chunk.ts';

/** Maximum chunks lent by one capture (16 MiB), in case the disk is slow. */
const MOST_OF_ONE = 64;
/** Maximum chunks of all captures: 64 MiB, plus one for each capture without any. */
const MOST_OF_ALL = 256;

/** The number of chunks that a capture has lent. */
export interface Lender {
  lent: number;
}

export class CaptureChunks {
  readonly #free: CaptureChunk[] = [];
  readonly #out: { chunk: CaptureChunk; lender: Lender }[] = [];
  /** Chunks that are being filled. */
  #filling = 0;

  /** Takes an empty chunk; undefined if too many are lent. */
  take(lender: Lender): CaptureChunk | undefined {
    this.reclaim();
    const all = this.#out.length + this.#filling;
    if (lender.lent > 0 && (lender.lent >= MOST_OF_ONE || all >= MOST_OF_ALL)) return undefined;
    this.#filling++;
    return this.#free.pop() ?? new CaptureChunk();
  }

  /** Notes that a taken chunk has been lent. */
  out(chunk: CaptureChunk, lender: Lender): void {
    this.#filling--;
    lender.lent++;
    this.#out.push({ chunk, lender });
  }

  /** Frees the unused chunks when the last capture has ended. */
  clear(): void {
    this.#free.length = 0;
  }

  /** Collects the chunks that the main thread has released. */
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
