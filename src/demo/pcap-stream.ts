// Reads a capture while it is being written.
import { Failure } from '../failures.ts';

const FILE_HEADER_BYTES = 24;
const RECORD_HEADER_BYTES = 16;
/** The first four bytes of a classic pcap file, little endian, times in microseconds. */
const MAGIC = 0xa1b2c3d4;
/** More than any frame has: the stream is not what it says. */
const LONGEST_RECORD_BYTES = 262_144;

export interface CapturedFrame {
  /** Microseconds since 1970. */
  time: number;
  bytes: Buffer;
}

/**
 * The frames of a pcap stream, each as soon as it is whole.
 * @throws Failure `invalid` when the bytes are no classic pcap
 */
export async function* capturedFrames(stream: AsyncIterable<Uint8Array>): AsyncGenerator<CapturedFrame> {
  let waiting = Buffer.alloc(0);
  let headerSeen = false;
  for await (const chunk of stream) {
    waiting = Buffer.concat([waiting, chunk]);
    if (!headerSeen) {
      if (waiting.length < FILE_HEADER_BYTES) continue;
      if (waiting.readUInt32LE(0) !== MAGIC) throw new Failure('invalid', 'The capture is not in pcap format.');
      waiting = waiting.subarray(FILE_HEADER_BYTES);
      headerSeen = true;
    }
    while (waiting.length >= RECORD_HEADER_BYTES) {
      const length = waiting.readUInt32LE(8);
      if (length > LONGEST_RECORD_BYTES) throw new Failure('invalid', 'The capture is damaged: no frame is that long.');
      const end = RECORD_HEADER_BYTES + length;
      if (waiting.length < end) break;
      const time = waiting.readUInt32LE(0) * 1e6 + waiting.readUInt32LE(4);
      yield { time, bytes: waiting.subarray(RECORD_HEADER_BYTES, end) };
      waiting = waiting.subarray(end);
    }
  }
}
