// The rows of the list: all kept frames, or those that match the filter.
import { decode } from './decode/decode.ts';
import type { Packet } from './decode/packet-part.ts';
import type { Filter } from './filter.ts';
import type { Frame } from './frames.ts';
import type { Row } from './messages.ts';
import type { Ring } from './ring.ts';

export class Rows {
  readonly #ring: Ring;
  /** Name of a capture by its index. */
  readonly #nameOf: (source: number) => string;
  #filter: Filter | undefined;
  /** Numbers of the frames that match the filter. */
  #matches: number[] = [];
  #gone = 0;
  #looked = 0;

  constructor(ring: Ring, nameOf: (source: number) => string = () => '') {
    this.#ring = ring;
    this.#nameOf = nameOf;
  }

  get shown(): number {
    return this.#filter ? this.#matches.length : this.#ring.size;
  }

  /** Rows dropped before the first kept one. */
  get gone(): number {
    return this.#filter ? this.#gone : this.#ring.first - 1;
  }

  filter(filter: Filter | undefined): void {
    this.#filter = filter;
    this.#matches = [];
    this.#gone = 0;
    this.#looked = this.#ring.first - 1;
  }

  /** Filters new frames. Returns true while there are more. */
  look(): boolean {
    const filter = this.#filter;
    if (!filter) return false;
    const { first, last } = this.#ring;
    const old = this.#matches.findIndex((number) => number >= first);
    const left = old === -1 ? this.#matches.length : old;
    this.#matches.splice(0, left);
    this.#gone += left;
    this.#looked = this.#ring.look(this.#looked, (frame) => {
      if (filter(this.packetOf(frame))) this.#matches.push(frame.number);
    });
    return this.#looked < last;
  }

  /** Rows by index, dropped ones counted; fewer at the end of the list. */
  get(from: number, count: number): Row[] {
    const rows: Row[] = [];
    for (let place = Math.max(from, this.gone); place < from + count; place++) {
      const number = this.#filter ? this.#matches[place - this.#gone] : place + 1;
      const frame = number === undefined ? undefined : this.#ring.get(number);
      if (!frame) break;
      const { id, length } = frame;
      const { source, target, protocol, info, capture: link } = this.packetOf(frame);
      rows.push({ id, number: frame.number, time: this.timeOf(frame), source, target, protocol, info, length, link });
    }
    return rows;
  }

  /** Nanoseconds since the first frame. */
  timeOf(frame: Frame): number {
    return frame.time - (this.#ring.begin ?? frame.time);
  }

  /** The decoded frame, with the name of its capture if there are several. */
  packetOf(frame: Frame): Packet {
    const packet = decode(frame.bytes, frame.link, frame.length);
    const name = this.#nameOf(frame.source);
    if (name === '') return packet;
    packet.capture = name;
    const field = { key: 'link', label: 'Link', text: name, from: 0, to: 0 } as const;
    packet.layers.unshift({ key: 'link', name: `Captured on ${name}`, from: 0, to: 0, fields: [field] });
    return packet;
  }
}
