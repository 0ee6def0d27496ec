// The last frames of a list, as many as fit. Those of one capture lie as they came, those of several by their times.
import type { Frame } from './frames.ts';

const RING_BYTES = 32 << 20;
/** What a frame costs beside its bytes. */
const FRAME_BYTES = 160;

export class Ring {
  readonly #limit: number;
  #frames: Frame[] = [];
  #head = 0;
  #bytes = 0;
  /** The time of the earliest frame that was ever here. */
  begin: number | undefined;

  constructor(limit = RING_BYTES) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#frames.length - this.#head;
  }

  /** The number of the oldest frame that is left; that of the next one when there is none. */
  get first(): number {
    return this.#frames[this.#head]?.number ?? this.last + 1;
  }

  get last(): number {
    return this.#frames.at(-1)?.number ?? 0;
  }

  /** Frames behind those that are there. They are numbered here. */
  push(frames: readonly Frame[]): void {
    let { last } = this;
    for (const frame of frames) {
      last += 1;
      frame.number = last;
      this.begin ??= frame.time;
      this.#frames.push(frame);
      this.#bytes += frame.bytes.length + FRAME_BYTES;
      while (this.#bytes > this.#limit && this.size > 1) {
        this.#bytes -= this.#frames[this.#head]!.bytes.length + FRAME_BYTES;
        this.#head += 1;
      }
    }
    if (this.#head > this.#frames.length / 2) {
      this.#frames = this.#frames.slice(this.#head);
      this.#head = 0;
    }
  }

  /** Frames in the order of their times. True if some went before others that were there, which have other numbers then. */
  insert(frames: readonly Frame[]): boolean {
    const earliest = frames[0]?.time ?? 0;
    const latest = this.#frames.at(-1)?.time;
    if (latest === undefined || earliest >= latest) {
      this.push(frames);
      return false;
    }
    this.begin = Math.min(this.begin ?? earliest, earliest);
    const kept = this.#frames.slice(this.#head);
    this.#anew([...kept, ...frames].toSorted((one, other) => one.time - other.time));
    return true;
  }

  /** Forgets the frames of one capture; the others are numbered anew. */
  forget(source: number): void {
    this.#anew(this.#frames.slice(this.#head).filter((frame) => frame.source !== source));
  }

  #anew(frames: readonly Frame[]): void {
    const before = this.first - 1;
    this.#frames = [];
    this.#head = 0;
    this.#bytes = 0;
    if (frames.length === 0) return;
    // The count of those that are gone goes on.
    frames[0]!.number = before + 1;
    this.#frames.push(frames[0]!);
    this.#bytes = frames[0]!.bytes.length + FRAME_BYTES;
    this.push(frames.slice(1));
  }

  /** Those that are left, in their order. */
  *[Symbol.iterator](): Generator<Frame> {
    for (let index = this.#head; index < this.#frames.length; index += 1) yield this.#frames[index]!;
  }

  /** Frames are numbered without gaps. */
  get(number: number): Frame | undefined {
    const index = this.#head + number - this.first;
    return index < this.#head ? undefined : this.#frames[index];
  }
}
