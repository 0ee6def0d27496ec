// The file descriptors that the worker holds. The system does not close them when a thread ends, only when the process does:
// so their numbers lie where the main thread finds them, however the worker ends.

import { closeSync } from 'node:fs';

/** Linux gives a process no descriptor beyond fs.nr_open, which is 1,048,576 unless somebody raises it. */
const MOST = 1 << 20;

/** A set of descriptors in memory that both threads share. One thread uses it at a time. */
export class OpenDescriptors {
  /** One bit each; only the pages that are touched cost memory. */
  readonly bits: Int32Array<SharedArrayBuffer>;

  constructor(bits = new Int32Array(new SharedArrayBuffer(MOST / 8))) {
    this.bits = bits;
  }

  add(descriptor: number): void {
    if (descriptor < MOST) this.bits[descriptor >> 5]! |= 1 << (descriptor & 31);
  }

  /** To be called before the descriptor is closed: afterwards its number may be somebody else's. */
  delete(descriptor: number): void {
    if (descriptor < MOST) this.bits[descriptor >> 5]! &= ~(1 << (descriptor & 31));
  }

  /** Closes all of them. */
  close(): void {
    for (const [index, word] of this.bits.entries()) {
      if (word === 0) continue;
      this.bits[index] = 0;
      for (let bit = 0; bit < 32; bit++) {
        if ((word & (1 << bit)) === 0) continue;
        try {
          closeSync(index * 32 + bit);
        } catch {
          // Gone already: that may be what the thread has died of.
        }
      }
    }
  }
}
