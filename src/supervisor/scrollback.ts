// The last output of a program, for clients that connect later.

const FIRST_BYTES = 1024;

/**
 * A ring of the last `limit` bytes (a power of two times 1,024). It grows with its content, because most consoles print
 * little.
 */
export class Scrollback {
  readonly #limit: number;
  #ring = Buffer.alloc(0);
  /** Bytes ever written; gives the ring's write position. */
  #written = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  push(chunk: Uint8Array): void {
    const kept = Math.min(this.#written, this.#ring.length);
    if (kept + chunk.length > this.#ring.length && this.#ring.length < this.#limit) this.#grow(kept + chunk.length);
    const size = this.#ring.length;
    const tail = chunk.subarray(Math.max(0, chunk.length - size));
    const at = (this.#written + chunk.length - tail.length) % size;
    const first = Math.min(tail.length, size - at);
    this.#ring.set(tail.subarray(0, first), at);
    this.#ring.set(tail.subarray(first), 0);
    this.#written += chunk.length;
  }

  /** A copy of the content. If older output is missing it begins at the start of a line, if possible. */
  snapshot(): Buffer {
    const size = this.#ring.length;
    if (this.#written <= size) return Buffer.from(this.#ring.subarray(0, this.#written));
    const at = this.#written % size;
    const all = Buffer.concat([this.#ring.subarray(at), this.#ring.subarray(0, at)]);
    return all.subarray(all.indexOf(0x0a) + 1);
  }

  #grow(wanted: number): void {
    let size = Math.max(FIRST_BYTES, this.#ring.length);
    while (size < wanted && size < this.#limit) size *= 2;
    const content = this.#written <= this.#ring.length ? this.#ring.subarray(0, this.#written) : this.#ring;
    const grown = Buffer.alloc(Math.min(size, this.#limit));
    grown.set(content);
    this.#ring = grown;
  }
}
