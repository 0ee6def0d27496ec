// The newest frames of a list, as many as fit. One capture keeps its order; several are sorted by time.
import type { Frame } from './frames.ts';

const RING_BYTES = 32 << 20;
/** Memory per frame besides its bytes. */
const FRAME_BYTES = 160;
/** How long frames are decoded before other work gets a turn. Some frames take a hundred times as long as others. */
const TURN_MS = 30;

export class Ring {
  readonly #limit: number;
  #frames: Frame[] = [];
  #head = 0;
  #bytes = 0;
  /** Time of the earliest frame ever added. */
  begin: number | undefined;

  constructor(limit = RING_BYTES) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#frames.length - this.#head;
  }

  /** Number of the oldest kept frame, or of the next one if the ring is empty. */
  get first(): number {
    return this.#frames[this.#head]?.number ?? this.last + 1;
  }

  get last(): number {
    return this.#frames.at(-1)?.number ?? 0;
  }

  /** Appends frames and numbers them. */
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

  /** Inserts frames by time. Returns true if that renumbers frames already in the ring. */
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

  /** Removes the frames of one capture and renumbers the others. */
  forget(source: number): void {
    this.#anew(this.#frames.slice(this.#head).filter((frame) => frame.source !== source));
  }

  #anew(frames: readonly Frame[]): void {
    const before = this.first - 1;
    this.#frames = [];
    this.#head = 0;
    this.#bytes = 0;
    if (frames.length === 0) return;
    // Dropped frames still count.
    frames[0]!.number = before + 1;
    this.#frames.push(frames[0]!);
    this.#bytes = frames[0]!.bytes.length + FRAME_BYTES;
    this.push(frames.slice(1));
  }

  /** The kept frames, in order. */
  *[Symbol.iterator](): Generator<Frame> {
    for (let index = this.#head; index < this.#frames.length; index += 1) yield this.#frames[index]!;
  }

  /**
   * Passes the kept frames behind number `looked` to `see`, until other work needs a turn.
   * @returns the number of the last one
   */
  look(looked: number, see: (frame: Frame) => void): number {
    const { last } = this;
    const end = performance.now() + TURN_MS;
    let at = Math.max(looked, this.first - 1);
    while (at < last) {
      at += 1;
      see(this.get(at)!);
      if (performance.now() >= end) break;
    }
    return at;
  }

  find(id: number): Frame | undefined {
    return this.#frames.find((frame, index) => index >= this.#head && frame.id === id);
  }

  /** Frames are numbered without gaps. */
  get(number: number): Frame | undefined {
    const index = this.#head + number - this.first;
    return index < this.#head ? undefined : this.#frames[index];
  }
}
