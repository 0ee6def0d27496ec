// Conversations over TCP, made here: segments as frames of Ethernet, with and without mishaps.
import type { Frame } from '../../src/web/capture/frames.ts';

export const FIN = 1;
export const SYN = 2;
export const RST = 4;
export const ACK = 16;

/** One end of a conversation: 0 has 10.0.0.1 and port 40000, 1 has 10.0.0.2 and port 80. */
export type Side = 0 | 1;

export interface SegmentOptions {
  side: Side;
  /** Counted from the sequence number of the SYN, which is 0; data begin at 1. */
  at: number;
  data?: string | Uint8Array;
  flags?: number;
  /** What the other end has sent, counted in the same way; undefined for none. */
  acknowledged?: number;
  isSix?: boolean;
  /** A tag of 802.1Q. */
  vlan?: number;
}

export interface Beginnings {
  /** The sequence numbers of both SYNs. */
  sequences?: readonly [number, number];
  ports?: readonly [number, number];
}

const u16 = (value: number): number[] => [value >> 8, value & 255];
const u32 = (value: number): number[] => [value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255];

/** A frame with a segment of TCP. Checksums are 0, which nobody looks at. */
export function segment(
  options: SegmentOptions,
  { sequences = [1000, 5000], ports = [40_000, 80] }: Beginnings = {},
): Uint8Array {
  const { side, at, data = '', flags = 0, acknowledged, isSix = false, vlan } = options;
  const payload = typeof data === 'string' ? Buffer.from(data) : data;
  const other = side === 0 ? 1 : 0;
  const acknowledges = acknowledged === undefined ? 0 : (sequences[other] + acknowledged) >>> 0;
  const bits = flags | (acknowledged === undefined ? 0 : ACK);
  const header = [
    ...u16(ports[side]),
    ...u16(ports[other]),
    ...u32((sequences[side] + at) >>> 0),
    ...u32(acknowledges),
    0x50,
    bits,
    ...u16(64_000),
    ...u16(0),
    ...u16(0),
  ];
  const address = (end: Side): number[] => (isSix ? [0x20, 1, ...Array(13).fill(0), end + 1] : [10, 0, 0, end + 1]);
  const length = header.length + payload.length;
  const ip = isSix
    ? [0x60, 0, 0, 0, ...u16(length), 6, 64, ...address(side), ...address(other)]
    : [0x45, 0, ...u16(20 + length), ...u16(1), 0x40, 0, 64, 6, 0, 0, ...address(side), ...address(other)];
  const type = isSix ? 0x86dd : 0x800;
  const tag = vlan === undefined ? [] : [0x81, 0, ...u16(vlan)];
  const bytes = [2, 0, 0, 0, 0, other, 2, 0, 0, 0, 0, side, ...tag, ...u16(type), ...ip, ...header, ...payload];
  // The least that Ethernet sends.
  while (bytes.length < 60) bytes.push(0);
  return Uint8Array.from(bytes);
}

/** As a list has it. */
export function frameOf(bytes: Uint8Array, more: Partial<Frame> = {}): Frame {
  return { id: 0, number: 0, time: 0, source: 0, length: bytes.length, bytes, link: 1, ...more };
}
