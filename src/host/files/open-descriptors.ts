// The file descriptors that the worker holds. The system closes them when the process ends, not when a thread ends. So
// their numbers are kept where the main thread finds them, however the worker ends.

import { closeSync } from 'node:fs';

/** Linux allows no descriptors beyond fs.nr_open, by default 1,048,576. */
const MOST = 1 << 20;

/** A set of descriptors in memory shared by both threads. One thread uses it at a time. */
export class OpenDescriptors {
  /** One bit each; only touched pages take memory. */
  readonly bits: Int32Array<SharedArrayBuffer>;

  constructor(bits = new Int32Array(new SharedArrayBuffer(MOST / 8))) {
    this.bits = bits;
  }

  add(descriptor: number): void {
    if (descriptor < MOST) this.bits[descriptor >> 5]! |= 1 << (descriptor & 31);
  }

  /** Call this before closing the descriptor: afterwards its number may be reused. */
  delete(descriptor: number): void {
    if (descriptor < MOST) this.bits[descriptor >> 5]! &= ~(1 << (descriptor & 31));
  }

  close(): void {
    for (const [index, word] of this.bits.entries()) {
      if (word === 0) continue;
      this.bits[index] = 0;
      for (let bit = 0; bit < 32; bit++) {
        if ((word & (1 << bit)) === 0) continue;
        try {
          closeSync(index * 32 + bit);
        } catch {
          // Already closed; that may be why the thread ended.
        }
      }
    }
  }
}
