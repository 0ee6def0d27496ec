// Unpacks the classic compression of Unix (`.Z`), in which a router may store its configuration.

const MAGIC = 0x1f9d;
const LOWEST_BITS = 9;
const CLEAR = 256;
/** More than any configuration; larger output is rejected. */
const MOST_BYTES = 4 << 20;

/** @throws RangeError for an invalid stream */
export function uncompress(bytes: Buffer): Buffer {
  if (bytes.length < 3 || bytes.readUInt16BE(0) !== MAGIC) throw new RangeError('not compressed');
  const flags = bytes[2]!;
  const highestBits = flags & 31;
  if (highestBits < LOWEST_BITS || highestBits > 16) throw new RangeError('codes of an unknown size');
  const hasClear = (flags & 128) !== 0;
  const codes = new CodeReader(bytes.subarray(3));
  // Each code stands for the text of another one plus one byte.
  const before = new Uint16Array(1 << highestBits);
  const last = new Uint8Array(1 << highestBits);
  const output: number[] = [];
  let bits = LOWEST_BITS;
  let next = hasClear ? CLEAR + 1 : CLEAR;
  let previous = -1;
  let first = 0;
  for (;;) {
    const code = codes.read(bits);
    if (code === undefined) return Buffer.from(output);
    if (code === CLEAR && hasClear) {
      codes.align(bits);
      bits = LOWEST_BITS;
      next = CLEAR + 1;
      previous = -1;
      continue;
    }
    if (code > next || (previous === -1 && code >= CLEAR) || (code === next && previous === -1))
      throw new RangeError('a code that was not made yet');
    const text: number[] = [];
    let at = code === next ? previous : code;
    for (; at >= CLEAR; at = before[at]!) text.push(last[at]!);
    text.push(at);
    text.reverse();
    if (code === next) text.push(text[0]!);
    output.push(...text);
    if (output.length > MOST_BYTES) throw new RangeError('too long');
    first = text[0]!;
    if (previous !== -1 && next < 1 << highestBits) {
      before[next] = previous;
      last[next] = first;
      next += 1;
      if (next === 1 << bits && bits < highestBits) {
        codes.align(bits);
        bits += 1;
      }
    }
    previous = code;
  }
}

/** Codes follow each other, lowest bits first, in groups of eight. */
class CodeReader {
  readonly #bytes: Buffer;
  /** Position of the next code, in bits, and of its group. */
  #at = 0;
  #group = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  read(bits: number): number | undefined {
    if (this.#at + bits > this.#bytes.length * 8) return undefined;
    let code = 0;
    for (let bit = 0; bit < bits; bit += 1, this.#at += 1) {
      code |= ((this.#bytes[this.#at >> 3]! >> (this.#at & 7)) & 1) << bit;
    }
    return code;
  }

  /** Skips the rest of a group when the size of codes changes. */
  align(bits: number): void {
    const group = bits * 8;
    const into = (this.#at - this.#group) % group;
    if (into > 0) this.#at += group - into;
    this.#group = this.#at;
  }
}
