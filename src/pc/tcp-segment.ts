// Encodes and decodes TCP segments.

import { fold, pseudoSum, sumOf } from './checksum.ts';
import { type Arrived, PROTOCOL } from './packet.ts';

export const FLAG = { fin: 1, syn: 2, rst: 4, psh: 8, ack: 16, urg: 32, ece: 64, cwr: 128 } as const;

const HEADER_BYTES = 20;
/** VPCS 0.5b2 counts so many bytes too much in the checksums of its answers. */
const VPCS_EXCESS_BYTES = 14;

export interface Segment {
  from: number;
  to: number;
  sequence: number;
  acknowledgement: number;
  flags: number;
  window: number;
  data: Buffer;
}

/** The segment of a packet, undefined if it is damaged. */
export function parseSegment({ source, destination, payload }: Arrived): Segment | undefined {
  if (payload.length < HEADER_BYTES) return undefined;
  const offset = (payload[12]! >> 4) * 4;
  if (offset < HEADER_BYTES || offset > payload.length) return undefined;
  const isRight = (length: number): boolean =>
    fold(sumOf(payload, pseudoSum(source, destination, PROTOCOL.tcp, length))) === 0;
  if (!isRight(payload.length) && !isRight(payload.length + VPCS_EXCESS_BYTES)) return undefined;
  return {
    from: payload.readUInt16BE(0),
    to: payload.readUInt16BE(2),
    sequence: payload.readUInt32BE(4),
    acknowledgement: payload.readUInt32BE(8),
    flags: payload[13]!,
    window: payload.readUInt16BE(14),
    data: payload.subarray(offset),
  };
}

/** The segment as a packet's payload; a SYN includes the maximum segment size. */
export function segmentBytes(source: Buffer, destination: Buffer, segment: Segment): Buffer {
  const { from, to, sequence, acknowledgement, flags, window, data } = segment;
  const largest = source.length === 4 ? 1460 : 1440;
  const options = (flags & FLAG.syn) === 0 ? [] : [2, 4, largest >> 8, largest & 0xff];
  const bytes = Buffer.concat([Buffer.alloc(HEADER_BYTES), Buffer.from(options), data]);
  bytes.writeUInt16BE(from, 0);
  bytes.writeUInt16BE(to, 2);
  bytes.writeUInt32BE(sequence >>> 0, 4);
  bytes.writeUInt32BE(acknowledgement >>> 0, 8);
  bytes[12] = ((HEADER_BYTES + options.length) / 4) << 4;
  bytes[13] = flags;
  bytes.writeUInt16BE(window, 14);
  bytes.writeUInt16BE(fold(sumOf(bytes, pseudoSum(source, destination, PROTOCOL.tcp, bytes.length))), 16);
  return bytes;
}

/** `left - right` as TCP counts: negative if `left` is before. */
export function distance(left: number, right: number): number {
  return (left - right) | 0;
}
