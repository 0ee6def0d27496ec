// Reads a capture while it is being written.
import type { Readable } from 'node:stream';
import { CaptureRecords } from '../../fabric/capture-records.ts';
import { Failure, invalid } from '../../failures.ts';

const PIECE_BYTES = 64 << 10;

export interface CapturedFrame {
  /** Microseconds since 1970. */
  time: number;
  bytes: Buffer;
}

/**
 * The frames of a capture's stream, each as soon as it is whole.
 * @throws Failure `invalid` when the bytes are no capture
 */
export async function* capturedFrames(stream: AsyncIterable<Uint8Array>): AsyncGenerator<CapturedFrame> {
  const chunks = stream[Symbol.asyncIterator]();
  let left = Buffer.alloc(0);
  const read = async (target: Buffer, offset: number): Promise<number> => {
    if (left.length === 0) left = Buffer.from((await chunks.next()).value ?? []);
    const count = left.copy(target, offset);
    left = left.subarray(count);
    return count;
  };
  const close = async (): Promise<void> => void (await chunks.return?.());
  const records = new CaptureRecords({ read, close }, PIECE_BYTES);
  try {
    do {
      for (let record = records.take(); record; record = records.take())
        yield { time: record.seconds * 1e6 + record.nanoseconds / 1000, bytes: Buffer.from(record.frame) };
    } while (await records.fill());
  } finally {
    await close();
  }
  if (records.damage !== undefined) throw invalid(`The capture is damaged, or not in pcap format: ${records.damage}.`);
}

/**
 * The first frames of a stream, at most `count`; fewer when it ends, or is destroyed, before. It is destroyed afterwards.
 * @throws Failure `invalid` when the bytes are no capture
 */
export async function firstFrames(stream: Readable, count: number): Promise<CapturedFrame[]> {
  const frames: CapturedFrame[] = [];
  try {
    for await (const frame of capturedFrames(stream)) {
      frames.push(frame);
      if (frames.length === count) break;
    }
  } catch (error) {
    if (!stream.destroyed || error instanceof Failure) throw error;
  } finally {
    stream.destroy();
  }
  return frames;
}
