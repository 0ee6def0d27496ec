// Reassembles fragments of a few datagrams at a time; the oldest is dropped. Overlapping fragments discard the datagram (RFC 5722).

const DATAGRAMS = 4;
const PATIENCE_MS = 30_000;
const LONGEST_BYTES = 65_535;
/** A datagram of so many pieces is an attack or a mistake. */
const PIECES = 256;

export interface Fragment {
  /** Common to all fragments of a datagram. */
  key: string;
  /** Of the bytes in the datagram. */
  offset: number;
  more: boolean;
  bytes: Buffer;
}

interface Partial {
  started: number;
  pieces: { offset: number; bytes: Buffer }[];
  held: number;
  /** Length of the whole, once the last fragment is there. */
  length: number | undefined;
}

export class Reassembly {
  readonly #partials = new Map<string, Partial>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Takes a copy of the fragment; answers the datagram when it is whole. */
  add({ key, offset, more, bytes }: Fragment): Buffer | undefined {
    const end = offset + bytes.length;
    if (bytes.length === 0 || end > LONGEST_BYTES || (more && bytes.length % 8 !== 0)) return undefined;
    const partial = this.#partial(key);
    const overlaps = partial.pieces.some((piece) => offset < piece.offset + piece.bytes.length && piece.offset < end);
    const tooLong = partial.length !== undefined && (end > partial.length || (!more && end !== partial.length));
    if (overlaps || tooLong || partial.pieces.length >= PIECES) {
      this.#partials.delete(key);
      return undefined;
    }
    partial.pieces.push({ offset, bytes: Buffer.from(bytes) });
    partial.held += bytes.length;
    if (!more) partial.length = end;
    if (partial.held !== partial.length) return undefined;
    this.#partials.delete(key);
    partial.pieces.sort((left, right) => left.offset - right.offset);
    return Buffer.concat(partial.pieces.map((piece) => piece.bytes));
  }

  #partial(key: string): Partial {
    const now = this.#now();
    for (const [other, { started }] of this.#partials) {
      if (now - started > PATIENCE_MS) this.#partials.delete(other);
    }
    let partial = this.#partials.get(key);
    if (partial === undefined) {
      if (this.#partials.size >= DATAGRAMS) this.#partials.delete(this.#partials.keys().next().value!);
      partial = { started: now, pieces: [], held: 0, length: undefined };
      this.#partials.set(key, partial);
    }
    return partial;
  }
}
