// Splits a capture stream into frames: pcap in both byte orders and time resolutions, and pcapng.

export interface Frame {
  /** Identifies it in its worker for good, as frames of other captures that come late change its number. */
  id: number;
  /** Number in the list, from 1; set by the list. */
  number: number;
  /** Nanoseconds since the start of the reader's clock. */
  time: number;
  /** Index of its capture in the list, from 0. */
  source: number;
  /** Bytes on the link. */
  length: number;
  /** The captured bytes. */
  bytes: Uint8Array;
  /** pcap link type. */
  link: number;
}

const PCAP = 0xa1b2c3d4;
const NANOSECOND_PCAP = 0xa1b23c4d;
const SECTION = 0x0a0d0d0a;
const BYTE_ORDER = 0x1a2b3c4d;
const PCAP_HEADER_BYTES = 24;
const RECORD_HEADER_BYTES = 16;
/** A longer record is damaged. */
const LARGEST_BLOCK_BYTES = 4 << 20;
const RESOLUTION_OPTION = 9;

/** Origin of times: the second of the first frame among all readers that share the clock. */
export interface Clock {
  second?: number;
}

interface Interface {
  link: number;
  /** Nanoseconds per unit of its timestamps. */
  unit: number;
}

let identified = 0;

/** The stream is no capture or is damaged; the rest cannot be read. */
export class NoCapture extends Error {}

export class FrameReader {
  #rest = new Uint8Array(0);
  #format: 'pcap' | 'pcapng' | undefined;
  #little = true;
  #pcap: Interface = { link: 1, unit: 1000 };
  #interfaces: Interface[] = [];
  readonly #clock: Clock;
  readonly #source: number;

  constructor(clock: Clock = {}, source = 0) {
    this.#clock = clock;
    this.#source = source;
  }

  /** Returns the frames that these bytes complete; they share one copy of the bytes. @throws NoCapture */
  push(bytes: Uint8Array): Frame[] {
    const all = new Uint8Array(this.#rest.length + bytes.length);
    all.set(this.#rest);
    all.set(bytes, this.#rest.length);
    const view = new DataView(all.buffer);
    const frames: Frame[] = [];
    let at = 0;
    for (let next = this.#next(view, at, frames); next !== undefined; next = this.#next(view, at, frames)) at = next;
    this.#rest = all.slice(at);
    return frames;
  }

  /** Offset of the next record; undefined while this one is incomplete. */
  #next(view: DataView, at: number, frames: Frame[]): number | undefined {
    const left = view.byteLength - at;
    if (this.#format === undefined) {
      if (left < 4) return undefined;
      if (view.getUint32(at, true) !== SECTION) return this.#header(view, at);
      this.#format = 'pcapng';
    }
    return this.#format === 'pcap' ? this.#record(view, at, frames) : this.#block(view, at, frames);
  }

  #header(view: DataView, at: number): number | undefined {
    const magic = view.getUint32(at, true);
    const swapped = view.getUint32(at, false);
    this.#little = magic === PCAP || magic === NANOSECOND_PCAP;
    const found = this.#little ? magic : swapped;
    if (found !== PCAP && found !== NANOSECOND_PCAP) throw new NoCapture('This is no capture of pcap or pcapng.');
    if (view.byteLength - at < PCAP_HEADER_BYTES) return undefined;
    this.#format = 'pcap';
    const link = view.getUint32(at + 20, this.#little) & 0xffff;
    this.#pcap = { link, unit: found === PCAP ? 1000 : 1 };
    return at + PCAP_HEADER_BYTES;
  }

  #record(view: DataView, at: number, frames: Frame[]): number | undefined {
    if (view.byteLength - at < RECORD_HEADER_BYTES) return undefined;
    const number = (offset: number): number => view.getUint32(at + offset, this.#little);
    const kept = number(8);
    if (kept > LARGEST_BLOCK_BYTES) throw new NoCapture(`A record of ${kept} bytes: the capture is damaged here.`);
    const end = at + RECORD_HEADER_BYTES + kept;
    if (end > view.byteLength) return undefined;
    const begin = at + RECORD_HEADER_BYTES;
    const [seconds, fraction] = [number(0), number(4) * this.#pcap.unit];
    frames.push(this.#frame(view, { begin, end, length: number(12), link: this.#pcap.link, seconds, fraction }));
    return end;
  }

  #block(view: DataView, at: number, frames: Frame[]): number | undefined {
    if (view.byteLength - at < 12) return undefined;
    const type = view.getUint32(at, true);
    if (type === SECTION) {
      this.#little = view.getUint32(at + 8, true) === BYTE_ORDER;
      this.#interfaces = [];
    }
    const number = (offset: number): number => view.getUint32(at + offset, this.#little);
    const length = number(4);
    if (length < 12 || length % 4 !== 0 || length > LARGEST_BLOCK_BYTES)
      throw new NoCapture(`A block of ${length} bytes: the capture is damaged here.`);
    if (at + length > view.byteLength) return undefined;
    if (number(0) === 1 && length >= 20) this.#interfaces.push(this.#interface(view, at, length));
    else if (number(0) === 6 && length >= 32) this.#packet(view, at, length, frames);
    return at + length;
  }

  #interface(view: DataView, at: number, length: number): Interface {
    const found = { link: view.getUint16(at + 8, this.#little), unit: 1000 };
    for (let option = at + 16; option + 4 <= at + length - 4; ) {
      const code = view.getUint16(option, this.#little);
      const bytes = view.getUint16(option + 2, this.#little);
      if (code === 0) break;
      if (code === RESOLUTION_OPTION && bytes >= 1) {
        const exponent = view.getUint8(option + 4);
        found.unit = exponent & 0x80 ? 1e9 / 2 ** (exponent & 0x7f) : 1e9 / 10 ** exponent;
      }
      option += 4 + ((bytes + 3) & ~3);
    }
    return found;
  }

  #packet(view: DataView, at: number, length: number, frames: Frame[]): void {
    const number = (offset: number): number => view.getUint32(at + offset, this.#little);
    const { link, unit } = this.#interfaces[number(8)] ?? { link: 1, unit: 1000 };
    const kept = number(20);
    if (28 + kept > length - 4) throw new NoCapture(`A frame of ${kept} bytes: the capture is damaged here.`);
    const ticks = (BigInt(number(12)) << 32n) | BigInt(number(16));
    const nanoseconds = unit === 1 ? ticks : BigInt(Math.round(Number(ticks) * unit));
    const [seconds, fraction] = [Number(nanoseconds / 1_000_000_000n), Number(nanoseconds % 1_000_000_000n)];
    const begin = at + 28;
    frames.push(this.#frame(view, { begin, end: begin + kept, length: number(24), link, seconds, fraction }));
  }

  #frame(
    view: DataView,
    {
      begin,
      end,
      length,
      link,
      seconds,
      fraction,
    }: Record<'begin' | 'end' | 'length' | 'link' | 'seconds' | 'fraction', number>,
  ): Frame {
    this.#clock.second ??= seconds;
    identified += 1;
    const bytes = new Uint8Array(view.buffer, begin, end - begin);
    const time = (seconds - this.#clock.second) * 1e9 + fraction;
    return { id: identified, number: 0, time, source: this.#source, length, bytes, link };
  }
}
