// Finds the segments of one stream among the frames of a list, those that come later as well.
import { decode } from '../decode/decode.ts';
import type { Segment } from '../decode/part.ts';
import type { Frame } from '../frames.ts';
import type { Ring } from '../ring.ts';
import { Reassembly, type SideFigures, type StreamPart } from './reassembly.ts';

/** Bytes of a stream that are kept, both directions together. */
export const STREAM_BYTES = 2 << 20;
/** Frames that are looked at before others have their turn. */
const AT_ONCE = 2000;
const SYN_AND_ACK = 0x12;
const SYN = 2;

/** A stream as the page shows it. */
export interface StreamObject {
  ends: readonly [string, string];
  parts: readonly StreamPart[];
  sides: readonly [SideFigures, SideFigures];
  /** Bytes that wait for others in front of them, and those beyond what is kept. */
  waiting: number;
  dropped: number;
  /** Whether frames from before those that are kept may belong to it. */
  isCut: boolean;
}

export class Follower {
  readonly #ring: Ring;
  readonly #limit: number;
  readonly #source: number;
  readonly #ends: readonly string[];
  /** The frame that was chosen: of several connections between the same ports, its one is meant. */
  readonly #chosen: Frame;
  #found: Reassembly | undefined;
  /** Where the connection began. */
  #opening: number | undefined;
  #isPast = false;
  #isOver = false;
  #looked: number;
  readonly #isCut: boolean;

  /** @param frame one of the stream's. @throws Error when there is no segment of TCP in it */
  constructor(ring: Ring, frame: Frame, limit = STREAM_BYTES) {
    const { segment } = decode(frame.bytes, frame.link);
    if (!segment) throw new Error('not a segment of TCP');
    this.#ring = ring;
    this.#limit = limit;
    this.#source = frame.source;
    this.#ends = [segment.from, segment.to];
    this.#chosen = frame;
    this.#looked = ring.first - 1;
    this.#isCut = ring.first > 1;
  }

  /** Looks at frames that have come. True as long as there are more. */
  look(): boolean {
    const { first, last } = this.#ring;
    this.#looked = Math.max(this.#looked, first - 1);
    const end = Math.min(last, this.#looked + AT_ONCE);
    while (this.#looked < end && !this.#isOver) {
      this.#looked += 1;
      const frame = this.#ring.get(this.#looked);
      if (frame && frame.source === this.#source) this.#see(frame);
    }
    return this.#looked < last && !this.#isOver;
  }

  #see(frame: Frame): void {
    const { segment } = decode(frame.bytes, frame.link);
    if (!segment || !this.#ends.includes(segment.from) || !this.#ends.includes(segment.to)) return;
    if (this.#isAnother(segment)) {
      // Once the chosen one was passed, its connection is over; before that, it was not this one.
      if (this.#isPast) {
        this.#isOver = true;
        return;
      }
      this.#found = undefined;
    }
    if (!this.#found) this.#found = new Reassembly(segment, this.#limit);
    if ((segment.flags & SYN_AND_ACK) === SYN) this.#opening = segment.sequence;
    if (frame === this.#chosen) this.#isPast = true;
    const cut = Math.max(0, frame.length - frame.bytes.length);
    const data = frame.bytes.subarray(segment.begin, segment.end);
    this.#found.push({ segment, data, cut, frame: frame.number });
  }

  /** Whether another connection between the same ports begins here. */
  #isAnother({ flags, sequence }: Segment): boolean {
    return this.#found !== undefined && (flags & SYN_AND_ACK) === SYN && sequence !== this.#opening;
  }

  get stream(): StreamObject | undefined {
    if (!this.#found) return undefined;
    const { ends, parts, sides, waiting, dropped } = this.#found;
    return { ends, parts, sides, waiting, dropped, isCut: this.#isCut };
  }
}
