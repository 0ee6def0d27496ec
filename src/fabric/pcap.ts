// The classic pcap formats, little endian, with times in microseconds or nanoseconds (draft-ietf-opsawg-pcap).

import { LINK_TYPES, LONGEST_SNAP_BYTES } from '../api/captures.ts';
import type { CaptureEncoding } from './capture-encoding.ts';

const RECORD_HEADER_BYTES = 16;

/** `unit`: nanoseconds in the smallest difference of two times. */
function pcap(magic: number, unit: number): CaptureEncoding {
  return {
    contentType: 'application/vnd.tcpdump.pcap',

    /** The 24 bytes at the start of a file: version 2.4, times in UTC. */
    header: ({ linkType, snapLength = LONGEST_SNAP_BYTES }) => {
      const header = Buffer.alloc(24);
      header.writeUInt32LE(magic, 0);
      header.writeUInt16LE(2, 4);
      header.writeUInt16LE(4, 6);
      header.writeUInt32LE(snapLength, 16);
      header.writeUInt32LE(LINK_TYPES[linkType], 20);
      return header;
    },

    recordBytes: (captured) => RECORD_HEADER_BYTES + captured,

    write(target, offset, { seconds, nanoseconds }, frame, captured, length) {
      target.writeUInt32LE(seconds, offset);
      target.writeUInt32LE(Math.floor(nanoseconds / unit), offset + 4);
      target.writeUInt32LE(captured, offset + 8);
      target.writeUInt32LE(length, offset + 12);
      frame.copy(target, offset + RECORD_HEADER_BYTES, 0, captured);
      return offset + RECORD_HEADER_BYTES + captured;
    },

    nextRecord: (view, offset) =>
      offset + RECORD_HEADER_BYTES > view.byteLength
        ? undefined
        : offset + RECORD_HEADER_BYTES + view.getUint32(offset + 8, true),

    trailer: () => Buffer.alloc(0),
  };
}

export const microsecondPcap = pcap(0xa1b2c3d4, 1000);
export const nanosecondPcap = pcap(0xa1b23c4d, 1);
