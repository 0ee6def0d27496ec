// Memory for held frames: slabs divided into cells of a few sizes, so that nothing is allocated per frame.
import { SLOT_BYTES } from '../../host/system-calls.ts';

/** Cell sizes in bytes: short frames, full frames with and without tags, jumbo frames, up to all that can be received. */
const SLOT_SIZES_BYTES = [128, 256, 512, 1024, 1536, 2048, 4096, 9216, 16_384, SLOT_BYTES] as const;
const SLAB_BYTES = 1 << 20;
/** Free blocks kept for reuse. */
const MOST_SPARE = 8;

/** A block of equal cells. */
export class Slab {
  readonly bytes: Buffer;
  readonly kind: number;
  /** Index among the slabs of its size that have room; -1 while full. */
  place = -1;
  readonly #size: number;
  readonly #free: Uint16Array;
  #left: number;

  constructor(kind: number, bytes: Buffer) {
    this.kind = kind;
    this.bytes = bytes;
    this.#size = SLOT_SIZES_BYTES[kind]!;
    const cells = Math.floor(SLAB_BYTES / this.#size);
    this.#free = Uint16Array.from({ length: cells }, (_, index) => cells - 1 - index);
    this.#left = cells;
  }

  get full(): boolean {
    return this.#left === 0;
  }

  get empty(): boolean {
    return this.#left === this.#free.length;
  }

  /** Takes a cell and returns its offset. */
  take(): number {
    return this.#free[--this.#left]! * this.#size;
  }

  give(offset: number): void {
    this.#free[this.#left++] = offset / this.#size;
  }
}

export class FrameStore {
  readonly #roomy: Slab[][] = SLOT_SIZES_BYTES.map(() => []);
  readonly #spare: Buffer[] = [];
  readonly #most: number;
  #slabs = 0;

  /** Uses at most `bytes` of memory. */
  constructor(bytes: number) {
    this.#most = Math.floor(bytes / SLAB_BYTES) - MOST_SPARE;
  }

  /** Memory in use, in bytes. */
  get bytes(): number {
    return (this.#slabs + this.#spare.length) * SLAB_BYTES;
  }

  /** A slab with room for a frame of `length` bytes, at most {@link SLOT_BYTES}; undefined if the memory is used up. */
  slabFor(length: number): Slab | undefined {
    let kind = 0;
    while (SLOT_SIZES_BYTES[kind]! < length) kind++;
    const roomy = this.#roomy[kind]!;
    const slab = roomy.at(-1);
    if (slab !== undefined || this.#slabs === this.#most) return slab;
    const fresh = new Slab(kind, this.#spare.pop() ?? Buffer.allocUnsafeSlow(SLAB_BYTES));
    this.#slabs++;
    fresh.place = roomy.push(fresh) - 1;
    return fresh;
  }

  /** Takes a cell of the slab, which must have room. */
  take(slab: Slab): number {
    const offset = slab.take();
    if (slab.full) this.#strike(slab);
    return offset;
  }

  /** Returns a cell. An empty slab becomes free for other sizes unless it is the last one with room of its size. */
  give(slab: Slab, offset: number): void {
    slab.give(offset);
    const roomy = this.#roomy[slab.kind]!;
    if (slab.place === -1) slab.place = roomy.push(slab) - 1;
    if (!slab.empty || roomy.length === 1) return;
    this.#strike(slab);
    this.#slabs--;
    if (this.#spare.length < MOST_SPARE) this.#spare.push(slab.bytes);
  }

  #strike(slab: Slab): void {
    const roomy = this.#roomy[slab.kind]!;
    const last = roomy.pop()!;
    if (last !== slab) {
      roomy[slab.place] = last;
      last.place = slab.place;
    }
    slab.place = -1;
  }
}
