// What decoders read from and write to: a part of a packet that nobody can read beyond, and the layers and fields that were found.

/** Something that was read: where it lies in the packet, and what it says. */
export interface Field {
  /** The name that display filters know it by, as in Wireshark. */
  key?: string;
  label: string;
  text: string;
  /** Where it is a number. */
  value?: number;
  from: number;
  to: number;
}

/** A protocol's share of a packet. */
export interface Layer {
  /** The name that display filters know it by. */
  key: string;
  name: string;
  from: number;
  to: number;
  fields: Field[];
}

/** Thrown by every read beyond the end, and caught where decoding begins. */
export const CUT_OFF = Symbol('cut off');

/** Layers of a packet at most: tunnels in tunnels without end are an attack. */
const MOST_LAYERS = 24;
/** Fields of a packet at most. */
const MOST_FIELDS = 2000;

/** A segment of TCP as a part of its stream. */
export interface Segment {
  /** `address:port`, of IPv6 `[address]:port`. */
  from: string;
  to: string;
  sequence: number;
  acknowledged: number;
  /** The byte of flags of the header. */
  flags: number;
  /** Where in the packet its data lie. */
  begin: number;
  end: number;
}

export class Packet {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  readonly layers: Layer[] = [];
  protocol = '';
  source = '';
  target = '';
  info = '';
  /** The name of the capture, in a list of several. */
  capture = '';
  /** The innermost one, where there is any. */
  segment: Segment | undefined;
  fields = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** What the list shows of the innermost layer that is understood. */
  says(protocol: string, info: string): void {
    this.protocol = protocol;
    this.info = info;
  }

  between(source: string, target: string): void {
    this.source = source;
    this.target = target;
  }
}

export type Decoder = (part: Part) => void;

export type Show<T> = (value: T) => string;

const plain: Show<number> = String;
export const hex =
  (digits: number): Show<number> =>
  (value) =>
    `0x${value.toString(16).padStart(digits, '0')}`;

/** Shows a number with the name that it has in the table. */
export const named =
  (names: Readonly<Record<number, string>>): Show<number> =>
  (value) =>
    names[value] === undefined ? String(value) : `${names[value]} (${value})`;

export class Part {
  readonly packet: Packet;
  at: number;
  readonly end: number;
  #layer: Layer | undefined;

  constructor(packet: Packet, at = 0, end = packet.bytes.length) {
    this.packet = packet;
    this.at = at;
    this.end = Math.min(end, packet.bytes.length);
  }

  get left(): number {
    return this.end - this.at;
  }

  /** Begins a layer: fields that are read from now on are its. */
  begin(key: string, name: string): this {
    const { layers } = this.packet;
    if (layers.length >= MOST_LAYERS) throw CUT_OFF;
    this.#layer = { key, name, from: this.at, to: this.end, fields: [] };
    layers.push(this.#layer);
    return this;
  }

  /** The fields of this layer end here; what follows is another one's. */
  close(): void {
    if (this.#layer) this.#layer.to = this.at;
  }

  /** What lies ahead: `length` bytes of it, or all. This part goes on behind it. */
  take(length = this.left): Part {
    this.#need(length);
    const part = new Part(this.packet, this.at, this.at + length);
    part.#layer = this.#layer;
    this.at += length;
    return part;
  }

  /** The next bytes as a part that ends there, or where this one ends: lengths in headers may lie. */
  atMost(length: number): Part {
    return this.take(Math.max(0, Math.min(length, this.left)));
  }

  skip(length: number): void {
    this.#need(length);
    this.at += length;
  }

  #need(length: number): void {
    if (!(length >= 0) || this.at + length > this.end) throw CUT_OFF;
  }

  /** A byte ahead, which is not taken. */
  peek(offset = 0): number {
    this.at += offset;
    try {
      this.#need(1);
      return this.packet.view.getUint8(this.at);
    } finally {
      this.at -= offset;
    }
  }

  peek16(offset = 0): number {
    return (this.peek(offset) << 8) | this.peek(offset + 1);
  }

  /** Notes what the last `bytes` bytes say. */
  note(label: string, text: string, key?: string, bytes = 0, value = Number(text)): void {
    if (++this.packet.fields > MOST_FIELDS) throw CUT_OFF;
    const field: Field = { label, text, from: this.at - bytes, to: this.at };
    if (key !== undefined) field.key = key;
    if (Number.isFinite(value)) field.value = value;
    this.#layer?.fields.push(field);
  }

  #number(bytes: 1 | 2 | 3 | 4): number {
    this.#need(bytes);
    const { view } = this.packet;
    const { at } = this;
    this.at += bytes;
    if (bytes === 1) return view.getUint8(at);
    if (bytes === 2) return view.getUint16(at);
    if (bytes === 3) return view.getUint16(at) * 256 + view.getUint8(at + 2);
    return view.getUint32(at);
  }

  /** A number of some bytes; noted where it has a label. */
  number(bytes: 1 | 2 | 3 | 4, label?: string, key?: string, show: Show<number> = plain): number {
    const value = this.#number(bytes);
    if (label !== undefined) this.note(label, show(value), key, bytes, value);
    return value;
  }

  u8(label?: string, key?: string, show?: Show<number>): number {
    return this.number(1, label, key, show);
  }

  u16(label?: string, key?: string, show?: Show<number>): number {
    return this.number(2, label, key, show);
  }

  u32(label?: string, key?: string, show?: Show<number>): number {
    return this.number(4, label, key, show);
  }

  raw(length: number): Uint8Array {
    this.#need(length);
    this.at += length;
    return this.packet.bytes.subarray(this.at - length, this.at);
  }

  #shown(length: number, show: Show<Uint8Array>, label?: string, key?: string): string {
    const text = show(this.raw(length));
    if (label !== undefined) this.note(label, text, key, length);
    return text;
  }

  mac(label?: string, key?: string): string {
    return this.#shown(6, macText, label, key);
  }

  ip4(label?: string, key?: string): string {
    return this.#shown(4, ip4Text, label, key);
  }

  ip6(label?: string, key?: string): string {
    return this.#shown(16, ip6Text, label, key);
  }

  hex(length: number, label?: string, key?: string): string {
    return this.#shown(length, hexText, label, key);
  }

  text(length: number, label?: string, key?: string): string {
    return this.#shown(length, asciiText, label, key);
  }
}

const byteText = (byte: number): string => byte.toString(16).padStart(2, '0');
const LONGEST_SHOWN_BYTES = 64;

export const macText: Show<Uint8Array> = (bytes) => Array.from(bytes, byteText).join(':');
export const ip4Text: Show<Uint8Array> = (bytes) => bytes.join('.');
export const hexText: Show<Uint8Array> = (bytes) =>
  Array.from(bytes.subarray(0, LONGEST_SHOWN_BYTES), byteText).join('') +
  (bytes.length > LONGEST_SHOWN_BYTES ? '…' : '');

/** Text as it stands there, but for what could not be shown; it ends with the first zero byte. */
export const asciiText: Show<Uint8Array> = (bytes) => {
  const end = bytes.indexOf(0);
  const shown = bytes.subarray(0, Math.min(end === -1 ? bytes.length : end, 256));
  return Array.from(shown, (byte) => (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : '.')).join('');
};

/** RFC 5952: the longest run of two or more zero groups is left out. */
export const ip6Text: Show<Uint8Array> = (bytes) => {
  const groups = Array.from({ length: 8 }, (_, index) => (bytes[index * 2]! << 8) | bytes[index * 2 + 1]!);
  let best = { from: 0, length: 1 };
  for (let from = 0; from < 8; from++) {
    let length = 0;
    while (from + length < 8 && groups[from + length] === 0) length++;
    if (length > best.length) best = { from, length };
  }
  const text = (some: number[]): string => some.map((group) => group.toString(16)).join(':');
  if (best.length < 2) return text(groups);
  return `${text(groups.slice(0, best.from))}::${text(groups.slice(best.from + best.length))}`;
};
