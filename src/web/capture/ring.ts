// The last frames of a capture, as many as fit.
import type { Frame } from './frames.ts';

const RING_BYTES = 32 << 20;
/** What a frame costs beside its bytes. */
const FRAME_BYTES = 160;

export class Ring {
  readonly #limit: number;
  #frames: Frame[] = [];
  #head = 0;
  #bytes = 0;

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

  push(frames: readonly Frame[]): void {
    for (const frame of frames) {
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

  /** Frames are numbered without gaps. */
  get(number: number): Frame | undefined {
    const index = this.#head + number - this.first;
    return index < this.#head ? undefined : this.#frames[index];
  }
}
