// Opens regular files that are named by a client, lab or archive, or that others can replace: without blocking, and
// with a size limit. A FIFO opened the usual way blocks a thread of Node's pool until a program writes to it; four of
// them block all files and the database.
import { constants, type Stats } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { forbidden, systemCode, tooLarge } from '../../failures.ts';
import { fileFailure } from './atomic-file.ts';
import { at, mustBeRegular, openPlace } from './contained-place.ts';

/** Flags for reading a file that may have become another kind of file since it was checked. */
export const READ_WITHOUT_WAITING = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;
const CHUNK_BYTES = 64 * 1024;

/** A file open for reading, and its status when it was opened. The owner closes the handle. */
export interface OpenFile {
  handle: FileHandle;
  stat: Stats;
}

/**
 * Opens a file for reading that `found` holds without access (O_PATH), by its descriptor: exactly the file that was
 * checked, whatever its name leads to now. Failures: `forbidden` (a device, pipe or socket; not readable), `conflict`
 * (a directory).
 */
export async function openJudged(found: FileHandle, shownAs: string): Promise<OpenFile> {
  const stat = await found.stat();
  mustBeRegular(stat, shownAs);
  try {
    return { handle: await open(at(found), READ_WITHOUT_WAITING), stat };
  } catch (thrown) {
    throw fileFailure(thrown, shownAs);
  }
}

/** Opens a regular file for reading. Links are followed. Failures as for `openJudged`, and `not-found`. */
export async function openRegularFile(path: string, shownAs = path): Promise<OpenFile> {
  await using found = await openPlace(path, 0, shownAs);
  return await openJudged(found, shownAs);
}

/** Reads a regular file of at most `largest` bytes. Failures as for `openRegularFile`, and `too-large`. */
export async function readRegularFile(path: string, largest: number, shownAs = path): Promise<Buffer> {
  const { handle } = await openRegularFile(path, shownAs);
  await using file = handle;
  return await readBounded(file, largest, shownAs);
}

/**
 * Reads an open file from its beginning. `Failure('too-large')` if it has more than `largest` bytes, whatever its
 * status says.
 */
export async function readBounded(handle: FileHandle, largest: number, shownAs: string): Promise<Buffer> {
  const parts: Buffer[] = [];
  let length = 0;
  for (;;) {
    const part = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, largest + 1 - length));
    const { bytesRead } = await handle.read(part, 0, part.length, length).catch((thrown: unknown) => {
      // Files in /proc count as regular, and some of them block for new data.
      if (systemCode(thrown) !== 'EAGAIN') throw fileFailure(thrown, shownAs);
      throw forbidden(`${shownAs}: it is a file of the kernel that has nothing to say; name a regular file`);
    });
    if (bytesRead === 0) return Buffer.concat(parts, length);
    length += bytesRead;
    if (length > largest) throw tooLarge(`${shownAs}: it is longer than ${largest} bytes; name a shorter file`);
    parts.push(part.subarray(0, bytesRead));
  }
}
