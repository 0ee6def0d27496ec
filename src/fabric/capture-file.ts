// The main thread's half of a capture: records from the worker go to the file, in order, without ever holding anybody up.

import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { Failure, messageOf, systemCode } from '../failures.ts';
import type { LinkType } from './model.ts';
import { fileHeader, wholeRecords } from './pcap.ts';

const { O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_TRUNC, O_WRONLY } = constants;

function captureFailure(error: unknown, path: string): Failure {
  if (error instanceof Failure) return error;
  const code = systemCode(error) ?? '';
  return new Failure(
    ['ENOSPC', 'EDQUOT', 'EFBIG'].includes(code) ? 'out-of-space' : 'conflict',
    `The capture file '${path}' cannot be written: ${code === 'ELOOP' ? 'it is a symbolic link' : messageOf(error)}`,
    { cause: error },
  );
}

export class CaptureFile {
  readonly path: string;
  /** Bytes that the worker has handed over and that are not in the file; the worker reads it too. */
  readonly backlog = new Int32Array(new SharedArrayBuffer(4));
  readonly #handle: FileHandle;
  readonly #failed: (failure: Failure) => void;
  readonly #queue: Uint8Array[] = [];
  #size: number;
  #writing: Promise<void> | undefined;
  #ended = false;

  private constructor(path: string, handle: FileHandle, size: number, failed: (failure: Failure) => void) {
    this.path = path;
    this.#handle = handle;
    this.#size = size;
    this.#failed = failed;
  }

  /**
   * Creates the file, or empties it, and writes its header. Symbolic links and anything but plain files are refused.
   * `failed` is called at most once, when a later write fails: the file then ends with the last whole packet and is closed.
   */
  static async create(path: string, linkType: LinkType, failed: (failure: Failure) => void): Promise<CaptureFile> {
    try {
      // Without O_NONBLOCK a named pipe would wait for its reader.
      const handle = await open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK, 0o640);
      try {
        if (!(await handle.stat()).isFile()) throw new Error('it is not a plain file');
        const header = fileHeader(linkType);
        await handle.writeFile(header);
        return new CaptureFile(path, handle, header.length, failed);
      } catch (error) {
        await handle.close();
        throw error;
      }
    } catch (error) {
      throw captureFailure(error, path);
    }
  }

  /** Queues whole records. */
  append(records: Uint8Array): void {
    if (this.#ended) return;
    this.#queue.push(records);
    this.#writing ??= this.#drain();
  }

  /** Writes what is queued and closes the file. */
  async close(): Promise<void> {
    await this.#writing;
    if (this.#ended) return;
    this.#ended = true;
    await this.#handle.close();
  }

  async #drain(): Promise<void> {
    for (let records = this.#queue.shift(); records !== undefined; records = this.#queue.shift()) {
      try {
        await this.#write(records);
      } catch (error) {
        this.#ended = true;
        this.#queue.length = 0;
        await this.#handle.close().catch(() => {});
        this.#failed(captureFailure(error, this.path));
      }
      Atomics.sub(this.backlog, 0, records.length);
    }
    this.#writing = undefined;
  }

  async #write(records: Uint8Array): Promise<void> {
    let written = 0;
    try {
      while (written < records.length)
        written += (await this.#handle.write(records, written, records.length - written)).bytesWritten;
    } catch (error) {
      await this.#handle.truncate(this.#size + wholeRecords(records, written)).catch(() => {});
      throw error;
    }
    this.#size += written;
  }
}
