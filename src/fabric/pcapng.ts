// The pcapng format, little endian, with times in nanoseconds (draft-ietf-opsawg-pcapng).

import { LINK_TYPES, LONGEST_SNAP_BYTES } from '../api/captures.ts';
import type { CaptureEncoding, RecordTime } from './capture-encoding.ts';

const BLOCK = { section: 0x0a0d0d0a, interface: 1, statistics: 5, packet: 6 } as const;
const BYTE_ORDER = 0x1a2b3c4d;

/** The block's type and its two lengths. */
const FRAMING_BYTES = 12;
/** Fields before a packet's bytes: type, length, interface, time (64 bits), captured and original length. */
const PACKET_HEADER_BYTES = 28;
/** Field after the packet's bytes: the length again. */
const PACKET_TRAILER_BYTES = 4;
/** The direction option and the end of options. */
const FLAGS_BYTES = 12;
const FLAGS_OPTION = 2;
const INBOUND = 1;
const OUTBOUND = 2;
const HIGH = 2 ** 32;

const padded = (length: number): number => (length + 3) & ~3;

function option(code: number, value: Buffer | string): Buffer {
  const bytes = Buffer.from(value);
  const whole = Buffer.alloc(4 + padded(bytes.length));
  whole.writeUInt16LE(code, 0);
  whole.writeUInt16LE(bytes.length, 2);
  bytes.copy(whole, 4);
  return whole;
}

/** Longest text of an option; its length has 16 bits. */
const text = (code: number, value: string): Buffer => option(code, Buffer.from(value).subarray(0, 4096));

const END_OF_OPTIONS = Buffer.alloc(4);

function block(type: number, ...parts: Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  const whole = Buffer.alloc(FRAMING_BYTES + body.length);
  whole.writeUInt32LE(type, 0);
  whole.writeUInt32LE(whole.length, 4);
  body.copy(whole, 8);
  whole.writeUInt32LE(whole.length, whole.length - 4);
  return whole;
}

function unsigned64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}

/** Nanoseconds since 1970 in the format's order: upper half first. */
function timestamp(): Buffer {
  const nanoseconds = BigInt(Date.now()) * 1_000_000n;
  const bytes = Buffer.alloc(8);
  bytes.writeUInt32LE(Number(nanoseconds >> 32n), 0);
  bytes.writeUInt32LE(Number(nanoseconds & 0xffffffffn), 4);
  return bytes;
}

/** The section header block, which starts a file. */
export function sectionBlock(): Buffer {
  const section = Buffer.alloc(16);
  section.writeUInt32LE(BYTE_ORDER, 0);
  section.writeUInt16LE(1, 4);
  // The length of the section is not known.
  section.writeBigInt64LE(-1n, 8);
  return block(BLOCK.section, section, text(3, 'Linux'), text(4, 'Labwire'), END_OF_OPTIONS);
}

export interface Interface {
  /** Link type number. */
  linkType: number;
  /** Bytes kept of a frame; 0: all. */
  snapLength: number;
  name?: string | undefined;
  description?: string | undefined;
  /** The expression of its packet filter. */
  filter?: string | undefined;
}

/** The block of the section's next interface, whose packet times are in nanoseconds. */
export function interfaceBlock({ linkType, snapLength, name, description, filter }: Interface): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt16LE(linkType, 0);
  head.writeUInt32LE(snapLength, 4);
  return block(
    BLOCK.interface,
    head,
    ...(name === undefined ? [] : [text(2, name)]),
    ...(description ? [text(3, description)] : []),
    // Times in units of 10^-9 s.
    option(9, Buffer.of(9)),
    // 0: a filter expression as text follows.
    ...(filter ? [text(11, `\0${filter}`)] : []),
    END_OF_OPTIONS,
  );
}

/** Statistics of an interface, by option code, and an optional comment. */
export function statisticsBlock(
  number: number,
  comment: string | undefined,
  figures: readonly (readonly [code: number, value: number])[],
): Buffer {
  const head = Buffer.alloc(4);
  head.writeUInt32LE(number);
  return block(
    BLOCK.statistics,
    head,
    timestamp(),
    ...(comment === undefined ? [] : [text(1, comment)]),
    ...figures.map(([code, value]) => option(code, unsigned64(value))),
    END_OF_OPTIONS,
  );
}

export interface Packet {
  /** Number of its interface in the section. */
  number: number;
  time: RecordTime;
  frame: Buffer;
  /** Captured bytes. */
  captured: number;
  /** Bytes on the link. */
  length: number;
  /** Includes the direction; undefined if unknown. */
  flags: number | undefined;
}

/** Size of a packet's block. */
export function packetBytes(captured: number, flags: number | undefined): number {
  return PACKET_HEADER_BYTES + padded(captured) + (flags === undefined ? 0 : FLAGS_BYTES) + PACKET_TRAILER_BYTES;
}

/** Writes a packet's block at `offset` and returns the offset after it. */
export function writePacket(
  target: Buffer,
  offset: number,
  { number, time: { seconds, nanoseconds }, frame, captured, length, flags }: Packet,
): number {
  const end = offset + packetBytes(captured, flags);
  target.writeUInt32LE(BLOCK.packet, offset);
  target.writeUInt32LE(end - offset, offset + 4);
  target.writeUInt32LE(number, offset + 8);
  // seconds * 10^9 + nanoseconds as two 32-bit halves, computed within the exact range of a double.
  const upper = Math.floor(seconds / 0x10000) * 1e9;
  const low = (seconds % 0x10000) * 1e9 + nanoseconds + (upper % 0x10000) * 0x10000;
  target.writeUInt32LE(Math.floor(upper / 0x10000) + Math.floor(low / HIGH), offset + 12);
  target.writeUInt32LE(low % HIGH, offset + 16);
  target.writeUInt32LE(captured, offset + 20);
  target.writeUInt32LE(length, offset + 24);
  let at = offset + PACKET_HEADER_BYTES;
  frame.copy(target, at, 0, captured);
  at += captured;
  while ((at & 3) !== (offset & 3)) target[at++] = 0;
  if (flags !== undefined) {
    target.writeUInt16LE(FLAGS_OPTION, at);
    target.writeUInt16LE(4, at + 2);
    target.writeUInt32LE(flags, at + 4);
    target.writeUInt32LE(0, at + 8);
    at += FLAGS_BYTES;
  }
  target.writeUInt32LE(end - offset, at);
  return end;
}

export const pcapng: CaptureEncoding = {
  contentType: 'application/x-pcapng',

  /** A section with its one interface. */
  header: ({ linkType, snapLength = LONGEST_SNAP_BYTES, filter, interface: captured }) =>
    Buffer.concat([
      sectionBlock(),
      interfaceBlock({ linkType: LINK_TYPES[linkType], snapLength, ...captured, filter: filter?.expression }),
    ]),

  recordBytes: (captured) => packetBytes(captured, OUTBOUND),

  write: (target, offset, time, frame, captured, length, outgoing) =>
    writePacket(target, offset, { number: 0, time, frame, captured, length, flags: outgoing ? OUTBOUND : INBOUND }),

  nextRecord: (view, offset) =>
    offset + FRAMING_BYTES > view.byteLength ? undefined : offset + view.getUint32(offset + 4, true),

  /** Interface statistics: received, dropped, accepted by the filter, recorded. */
  trailer: ({ frames, drops, filtered }) =>
    statisticsBlock(0, drops > 0 ? `${drops} frames were dropped from the capture: the disk was slow.` : undefined, [
      [4, frames + drops + filtered],
      [5, drops],
      [6, frames + drops],
      [8, frames],
    ]),
};
