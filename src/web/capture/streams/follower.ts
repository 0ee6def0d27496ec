// Collects the segments of one stream from the frames of a list, including later ones.
import { decode } from '../decode/decode.ts';
import type { Segment } from '../decode/packet-part.ts';
import type { Frame } from '../frames.ts';
import type { Ring } from '../ring.ts';
import { Reassembly, type SideFigures, type StreamPart } from './reassembly.ts';

/** Most bytes kept per stream, both directions together. */
export const STREAM_BYTES = 2 << 20;
const SYN_AND_ACK = 0x12;
const SYN = 2;

/** A stream as the page shows it. */
export interface StreamObject {
  ends: readonly [string, string];
  parts: readonly StreamPart[];
  sides: readonly [SideFigures, SideFigures];
  /** Bytes that wait for a gap to be filled, and bytes beyond the limit. */
  waiting: number;
  dropped: number;
  /** Whether dropped frames may have belonged to it. */
  isCut: boolean;
}

export class Follower {
  readonly #ring: Ring;
  readonly #limit: number;
  readonly #source: number;
  readonly #ends: readonly string[];
  /** The selected frame; it identifies the connection if the same ports were used several times. */
  readonly #chosen: Frame;
  #found: Reassembly | undefined;
  /** Initial sequence number of the connection. */
  #opening: number | undefined;
  #isPast = false;
  #isOver = false;
  #looked: number;
  readonly #isCut: boolean;

  /** @param frame a frame of the stream @throws Error when it has no TCP segment */
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

  /** Processes new frames. Returns true while there are more. */
  look(): boolean {
    this.#looked = this.#ring.look(this.#looked, (frame) => {
      if (frame.source === this.#source && !this.#isOver) this.#see(frame);
    });
    return this.#looked < this.#ring.last && !this.#isOver;
  }

  #see(frame: Frame): void {
    const { segment } = decode(frame.bytes, frame.link, frame.length);
    if (!segment || !this.#ends.includes(segment.from) || !this.#ends.includes(segment.to)) return;
    if (this.#isAnother(segment)) {
      // A new connection on these ports: after the selected frame it ends ours, before it everything so far was another one.
      if (this.#isPast) {
        this.#isOver = true;
        return;
      }
      this.#found = undefined;
    }
    if (!this.#found) this.#found = new Reassembly(segment, this.#limit);
    if ((segment.flags & SYN_AND_ACK) === SYN) this.#opening = segment.sequence;
    if (frame === this.#chosen) this.#isPast = true;
    const data = frame.bytes.subarray(segment.begin, segment.end);
    this.#found.push({ segment, data, frame: frame.number });
  }

  /** Whether another connection between the same ports starts here. */
  #isAnother({ flags, sequence }: Segment): boolean {
    return this.#found !== undefined && (flags & SYN_AND_ACK) === SYN && sequence !== this.#opening;
  }

  get stream(): StreamObject | undefined {
    if (!this.#found) return undefined;
    const { ends, parts, sides, waiting, dropped } = this.#found;
    return { ends, parts, sides, waiting, dropped, isCut: this.#isCut };
  }
}
