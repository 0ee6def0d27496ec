// Files with holes: disks of labs are mostly empty, and zeros need no space.
import type { FileHandle } from 'node:fs/promises';

const ZEROS = Buffer.alloc(64 * 1024);

function isZero(chunk: Buffer): boolean {
  return chunk.length <= ZEROS.length && chunk.equals(ZEROS.subarray(0, chunk.length));
}

/** Writes a chunk at an offset of a new file unless it is all zeros. The caller sets the file's length at the end. */
export async function writeSparsely(file: FileHandle, chunk: Buffer, place: number): Promise<void> {
  if (isZero(chunk)) return;
  for (let written = 0; written < chunk.length; ) {
    written += (await file.write(chunk, written, chunk.length - written, place + written)).bytesWritten;
  }
}
