// The classic pcap format, little endian, microsecond times (draft-ietf-opsawg-pcap).

import { LINK_TYPES, type LinkType } from './model.ts';

export const RECORD_HEADER_BYTES = 16;
const SNAP_LENGTH = 65_535;

/** The 24 bytes at the start of a file: version 2.4, times in UTC. */
export function fileHeader(linkType: LinkType): Buffer {
  const header = Buffer.alloc(24);
  header.writeUInt32LE(0xa1b2c3d4, 0);
  header.writeUInt16LE(2, 4);
  header.writeUInt16LE(4, 6);
  header.writeUInt32LE(SNAP_LENGTH, 16);
  header.writeUInt32LE(LINK_TYPES[linkType], 20);
  return header;
}

/** Writes one record at `offset` and answers the offset behind it. `time` is in microseconds since 1970. */
export function writeRecord(target: Buffer, offset: number, time: number, frame: Buffer, length: number): number {
  const seconds = Math.floor(time / 1e6);
  target.writeUInt32LE(seconds, offset);
  target.writeUInt32LE(Math.floor(time - seconds * 1e6), offset + 4);
  target.writeUInt32LE(length, offset + 8);
  target.writeUInt32LE(length, offset + 12);
  frame.copy(target, offset + RECORD_HEADER_BYTES, 0, length);
  return offset + RECORD_HEADER_BYTES + length;
}

/** Bytes of the whole records within the first `limit` bytes. */
export function wholeRecords(records: Uint8Array, limit: number): number {
  const view = new DataView(records.buffer, records.byteOffset, records.byteLength);
  let end = 0;
  while (end + RECORD_HEADER_BYTES <= limit) {
    const next = end + RECORD_HEADER_BYTES + view.getUint32(end + 8, true);
    if (next > limit) break;
    end = next;
  }
  return end;
}
