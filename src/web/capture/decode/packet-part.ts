// What decoders read from and write to: a bounded part of a packet, and the decoded layers and fields.
import type { FieldName, Protocol } from './field-names.ts';

/** A decoded value and its position in the packet. */
export interface Field {
  key?: FieldName;
  label: string;
  text: string;
  /** What filters compare besides the text: always that of Wireshark. */
  value?: number | string;
  from: number;
  to: number;
}

/** One protocol's header and fields in a packet. */
export interface Layer {
  key: Protocol;
  name: string;
  from: number;
  to: number;
  fields: Field[];
}

/** Thrown by reads beyond the end; caught where decoding starts. */
export const CUT_OFF = Symbol('cut off');

/** Most layers around a layer, as a guard against endlessly nested tunnels. */
const MOST_NESTED = 24;
/** Most fields per packet. */
const MOST_FIELDS = 2000;

/** A TCP segment, for following its stream. */
export interface Segment {
  /** `address:port`, for IPv6 `[address]:port`. */
  from: string;
  to: string;
  sequence: number;
  acknowledged: number;
  /** Flags byte of the header. */
  flags: number;
  /** Offset of the data in the packet. */
  begin: number;
  end: number;
  /** Bytes at the end of the data that the capture did not keep. */
  cut: number;
}

export class Packet {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  readonly layers: Layer[] = [];
  protocol = '';
  source = '';
  target = '';
  info = '';
  /** Name of the capture, in a list of several. */
  capture = '';
  /** The innermost TCP segment, if any. */
  segment: Segment | undefined;
  fields = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** Sets the list's protocol and info. The innermost decoded layer wins. */
  says(protocol: string, info: string): void {
    this.protocol = protocol;
    this.info = info;
  }

  /** Appends to the info. */
  adds(text: string): void {
    this.info += this.info === '' ? text : `, ${text}`;
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

/** Shows a number with its name from the table. */
export const named =
  (names: Readonly<Record<number, string>>): Show<number> =>
  (value) =>
    names[value] === undefined ? String(value) : `${names[value]} (${value})`;

export class Part {
  readonly packet: Packet;
  at: number;
  readonly end: number;
  /** The end on the link, which a capture with a snap length may not have kept. */
  readonly sentEnd: number;
  #layer: Layer | undefined;
  /** Number of parts around this one; each layer inside another has a part of its own. */
  #depth = 0;

  constructor(packet: Packet, at = 0, end = packet.bytes.length, sentEnd = end) {
    this.packet = packet;
    this.at = at;
    this.end = Math.min(end, packet.bytes.length);
    this.sentEnd = Math.max(this.end, sentEnd);
  }

  get left(): number {
    return this.end - this.at;
  }

  /** Bytes left on the link. */
  get sent(): number {
    return this.sentEnd - this.at;
  }

  /** Starts a layer; the fields read from now on belong to it. */
  begin(key: Protocol, name: string): this {
    const { layers } = this.packet;
    if (this.#depth >= MOST_NESTED) throw CUT_OFF;
    this.#layer = { key, name, from: this.at, to: this.end, fields: [] };
    layers.push(this.#layer);
    return this;
  }

  /** Ends the fields of this layer. */
  close(): void {
    if (this.#layer) this.#layer.to = this.at;
  }

  /** The next `length` bytes, or all, as a part. This part continues behind it. */
  take(length?: number): Part {
    return length === undefined ? this.#take(this.left, this.sentEnd) : this.#take(length, this.at + length);
  }

  #take(length: number, sentEnd: number): Part {
    this.#need(length);
    const part = new Part(this.packet, this.at, this.at + length, sentEnd);
    part.#layer = this.#layer;
    part.#depth = this.#depth + 1;
    this.at += length;
    return part;
  }

  /** Like `take`, but never beyond the end of this part: header lengths may be wrong. */
  atMost(length: number): Part {
    const sent = Math.max(0, Math.min(length, this.sent));
    return this.#take(Math.min(sent, this.left), this.at + sent);
  }

  skip(length: number): void {
    this.#need(length);
    this.at += length;
  }

  #need(length: number): void {
    if (!(length >= 0) || this.at + length > this.end) throw CUT_OFF;
  }

  /** Reads a byte ahead without consuming it. */
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

  /** Adds a field for the last `bytes` bytes. */
  note(label: string, text: string, key?: FieldName, bytes = 0, value?: number | string): void {
    if (++this.packet.fields > MOST_FIELDS) throw CUT_OFF;
    const field: Field = { label, text, from: this.at - bytes, to: this.at };
    if (key !== undefined) field.key = key;
    if (value !== undefined) field.value = value;
    this.#layer?.fields.push(field);
  }

  /** Adds a number as a field, computed from the last `bytes` bytes. */
  noteNumber(label: string, value: number, key?: FieldName, bytes = 0, show: Show<number> = plain): void {
    this.note(label, show(value), key, bytes, value);
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

  /** Reads a big-endian number. With a label it becomes a field. */
  number(bytes: 1 | 2 | 3 | 4, label?: string, key?: FieldName, show?: Show<number>): number {
    const value = this.#number(bytes);
    if (label !== undefined) this.noteNumber(label, value, key, bytes, show);
    return value;
  }

  u8(label?: string, key?: FieldName, show?: Show<number>): number {
    return this.number(1, label, key, show);
  }

  u16(label?: string, key?: FieldName, show?: Show<number>): number {
    return this.number(2, label, key, show);
  }

  u32(label?: string, key?: FieldName, show?: Show<number>): number {
    return this.number(4, label, key, show);
  }

  raw(length: number): Uint8Array {
    this.#need(length);
    this.at += length;
    return this.packet.bytes.subarray(this.at - length, this.at);
  }

  #shown(length: number, show: Show<Uint8Array>, label?: string, key?: FieldName): string {
    const text = show(this.raw(length));
    if (label !== undefined) this.note(label, text, key, length);
    return text;
  }

  mac(label?: string, key?: FieldName): string {
    return this.#shown(6, macText, label, key);
  }

  ip4(label?: string, key?: FieldName): string {
    return this.#shown(4, ip4Text, label, key);
  }

  ip6(label?: string, key?: FieldName): string {
    return this.#shown(16, ip6Text, label, key);
  }

  hex(length: number, label?: string, key?: FieldName): string {
    return this.#shown(length, hexText, label, key);
  }

  text(length: number, label?: string, key?: FieldName): string {
    return this.#shown(length, asciiText, label, key);
  }
}

const byteText = (byte: number): string => byte.toString(16).padStart(2, '0');
const LONGEST_SHOWN_BYTES = 64;
const LONGEST_SHOWN_TEXT = 256;

export const macText: Show<Uint8Array> = (bytes) => Array.from(bytes, byteText).join(':');
export const ip4Text: Show<Uint8Array> = (bytes) => bytes.join('.');
export const hexText: Show<Uint8Array> = (bytes) =>
  Array.from(bytes.subarray(0, LONGEST_SHOWN_BYTES), byteText).join('') +
  (bytes.length > LONGEST_SHOWN_BYTES ? '…' : '');

/** Text up to the first zero byte; unprintable characters are replaced. */
export const asciiText: Show<Uint8Array> = (bytes) => {
  let text = '';
  for (const byte of bytes.subarray(0, LONGEST_SHOWN_TEXT)) {
    if (byte === 0) break;
    text += byte >= 32 && byte < 127 ? String.fromCharCode(byte) : '.';
  }
  return text;
};

/** RFC 5952: the longest run of two or more zero groups is omitted. */
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
