// Replaces files atomically: temporary file in the same folder, fsync, rename, fsync of the folder.
import { randomBytes } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, rm, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Failure, type FailureCode, messageOf, systemCode } from '../../failures.ts';
import { renameUnheld } from './held-names.ts';

const TEMPORARY_NAME = /^\..*\.[0-9a-f]{12}\.labwire-tmp$/s;

function temporaryName(name: string): string {
  // Fifty characters take at most 200 bytes, so the whole name stays below the limit of 255 bytes.
  return `.${[...name].slice(0, 50).join('')}.${randomBytes(6).toString('hex')}.labwire-tmp`;
}

/** Names of the temporary files that this process is writing now. They must not be removed as leftovers. */
const beingWritten = new Set<string>();

const FAILURES: Record<string, [FailureCode, string]> = {
  ENOSPC: ['out-of-space', 'no space is left on the device; free some and try again'],
  EDQUOT: ['out-of-space', 'the disk quota is used up; free some space and try again'],
  EROFS: ['conflict', 'the file system is read-only; make it writable'],
  EACCES: ['forbidden', 'permission denied; give the user that runs labwired access to it'],
  EPERM: ['forbidden', 'the operation is not permitted; give the user that runs labwired access to it'],
  ELOOP: ['forbidden', 'it is a symbolic link where none is followed, or too many of them'],
  ENAMETOOLONG: ['forbidden', 'the name is too long; use at most 255 bytes for each part of a path'],
  ENOENT: ['not-found', 'there is no such file or directory'],
  ENOTDIR: ['conflict', 'a part of its path is a file, not a directory'],
  EISDIR: ['conflict', 'it is a directory, not a file'],
  EMFILE: ['unavailable', 'too many files are open; raise LimitNOFILE or try again later'],
  ENFILE: ['unavailable', 'too many files are open on this host; try again later'],
};

/**
 * Converts the error of a system call on a file to a `Failure`. `shownAs` is the client's name for the file. Unexpected
 * errors are returned unchanged.
 */
export function fileFailure(thrown: unknown, shownAs: string): unknown {
  const known = thrown instanceof Failure ? undefined : FAILURES[systemCode(thrown) ?? ''];
  return known === undefined ? thrown : new Failure(known[0], `${shownAs}: ${known[1]}`, { cause: thrown });
}

/** For `catch` of a call on a file. */
export function throwFileFailure(shownAs: string): (thrown: unknown) => never {
  return (thrown) => {
    throw fileFailure(thrown, shownAs);
  };
}

/** Whether this process is writing the temporary file of this name. */
export function isBeingWritten(name: string): boolean {
  return beingWritten.has(name);
}

/** Whether a file of this name is a temporary file of this module. */
export function isTemporaryName(name: string): boolean {
  return TEMPORARY_NAME.test(name);
}

export interface AtomicFileOptions {
  /** Exact permission bits of the new file. Default: 0644 less the umask. */
  mode?: number;
  /** The file's name in error messages: its path, unless the real path means nothing to the client. */
  shownAs?: string;
}

/** A file that appears (or replaces the old one) at `commit`. Without a commit nothing of it stays. */
export class AtomicFile implements AsyncDisposable {
  readonly #path: string;
  readonly #temporary: string;
  readonly #handle: FileHandle;
  readonly #shownAs: string;
  #failure: unknown;
  #finished = false;

  /** Use `createAtomicFile`. */
  constructor(path: string, temporary: string, handle: FileHandle, shownAs: string) {
    this.#path = path;
    this.#temporary = temporary;
    this.#handle = handle;
    this.#shownAs = shownAs;
  }

  /** For reading the data written so far, until `commit` or `abort`. */
  get descriptor(): number {
    return this.#handle.fd;
  }

  /**
   * Appends a piece, or all pieces of a stream. `progress` receives the number of bytes written. After an error all
   * later calls fail with the same error.
   */
  async write(data: AtomicFileData, progress: (written: number) => void = () => {}): Promise<void> {
    await this.#step(async () => {
      if (typeof data === 'string' || data instanceof Uint8Array) await this.#handle.writeFile(data);
      else await writePieces(this.#handle, data, progress);
    });
  }

  /** Waits until the written data is on disk. Returns the file's status, which `commit` does not change. */
  async sync(): Promise<BigIntStats> {
    return await this.#step(async () => {
      await this.#handle.sync();
      return await this.#handle.stat({ bigint: true });
    });
  }

  /** Moves the file to its place durably. Returns its status (inode, size, times) there. */
  async commit(): Promise<BigIntStats> {
    const status = await this.sync();
    await this.#step(async () => {
      await this.#handle.close();
      await renameUnheld(this.#temporary, this.#path, this.#shownAs);
    });
    this.#finished = true;
    beingWritten.delete(basename(this.#temporary));
    await syncDirectory(dirname(this.#path), this.#shownAs);
    return status;
  }

  /** Removes the temporary file and keeps the old content. Does nothing after `commit`. */
  async abort(): Promise<void> {
    if (this.#finished) return;
    this.#finished = true;
    // The first error matters more than a failed cleanup. The next start removes leftovers.
    await this.#handle.close().catch(() => {});
    await unlink(this.#temporary).catch(() => {});
    beingWritten.delete(basename(this.#temporary));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.abort();
  }

  async #step<T>(work: () => Promise<T>): Promise<T> {
    if (this.#failure !== undefined) throw this.#failure;
    try {
      return await work();
    } catch (thrown) {
      this.#failure = fileFailure(thrown, this.#shownAs);
      await this.abort();
      throw this.#failure;
    }
  }
}

/** Bytes, text (written as UTF-8), or a stream of either (Node's or the web's). */
export type AtomicFileData = string | Uint8Array | AsyncIterable<Uint8Array | string>;

/** Bytes to collect before a write. */
const GATHERED_BYTES = 256 * 1024;

/** Appends all pieces of a stream. Pieces that arrive during a write are collected for the next one. */
async function writePieces(
  handle: FileHandle,
  pieces: AsyncIterable<Uint8Array | string>,
  progress: (written: number) => void,
): Promise<void> {
  let [gathering, spare] = [Buffer.allocUnsafeSlow(GATHERED_BYTES), Buffer.allocUnsafeSlow(GATHERED_BYTES)];
  let filled = 0;
  let written = 0;
  let writing = Promise.resolve();
  const write = async (): Promise<void> => {
    const full = gathering.subarray(0, filled);
    await handle.writeFile(full);
    written += full.length;
    progress(written);
  };
  const next = async (): Promise<void> => {
    await writing;
    writing = write();
    // The next write or the end awaits it. If the stream breaks off first, the caller gets the stream's error.
    writing.catch(() => {});
    [gathering, spare] = [spare, gathering];
    filled = 0;
  };
  for await (const piece of pieces) {
    const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece;
    for (let taken = 0; taken < bytes.length; ) {
      const part = bytes.subarray(taken, taken + GATHERED_BYTES - filled);
      gathering.set(part, filled);
      taken += part.length;
      filled += part.length;
      if (filled === GATHERED_BYTES) await next();
    }
  }
  await next();
  await writing;
}

/** Starts a file at `path`. Its folder must exist. */
export async function createAtomicFile(path: string, options: AtomicFileOptions = {}): Promise<AtomicFile> {
  const shownAs = options.shownAs ?? path;
  const name = temporaryName(basename(path));
  const temporary = join(dirname(path), name);
  const { O_RDWR, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
  beingWritten.add(name);
  let handle: FileHandle;
  try {
    handle = await open(temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, options.mode ?? 0o644);
  } catch (thrown) {
    beingWritten.delete(name);
    throw fileFailure(thrown, shownAs);
  }
  const file = new AtomicFile(path, temporary, handle, shownAs);
  if (options.mode !== undefined) {
    try {
      await handle.chmod(options.mode);
    } catch (thrown) {
      await file.abort();
      throw fileFailure(thrown, shownAs);
    }
  }
  return file;
}

/** Replaces the whole content of the file. On failure the old content stays. Returns the new file's status. */
export async function writeFileAtomically(
  path: string,
  data: AtomicFileData,
  options: AtomicFileOptions = {},
): Promise<BigIntStats> {
  await using file = await createAtomicFile(path, options);
  await file.write(data);
  return await file.commit();
}

/** Creates a directory in `folder` for unfinished files. Disposing of it removes it with its content. */
export async function createTemporaryDirectory(folder: string): Promise<AsyncDisposable & { path: string }> {
  const name = temporaryName('files');
  const path = join(folder, name);
  beingWritten.add(name);
  try {
    await mkdir(path, 0o700);
  } catch (thrown) {
    beingWritten.delete(name);
    throw fileFailure(thrown, folder);
  }
  return {
    path,
    async [Symbol.asyncDispose]() {
      // As with a file, the first error matters more.
      await rm(path, { recursive: true, force: true }).catch(() => {});
      beingWritten.delete(name);
    },
  };
}

async function syncDirectory(directory: string, shownAs: string): Promise<void> {
  try {
    const handle = await open(directory, constants.O_RDONLY | constants.O_DIRECTORY);
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch (thrown) {
    // Some network and FUSE file systems cannot sync a folder. The rename has succeeded.
    if (!['EINVAL', 'ENOTSUP', 'EOPNOTSUPP', 'EACCES'].includes(systemCode(thrown) ?? messageOf(thrown)))
      throw fileFailure(thrown, shownAs);
  }
}
