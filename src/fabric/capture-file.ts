// The main thread's side of a capture: writes the worker's records to the file in order and never blocks the worker.

import { readdir, rename, unlink } from 'node:fs/promises';
import { dirname, join, parse } from 'node:path';
import { Failure, messageOf, systemCode } from '../failures.ts';
import { isPartOfRing } from '../store/captures.ts';
import { CaptureChunk } from './capture-chunk.ts';
import type { CaptureEncoding } from './capture-encoding.ts';
import { ENCODINGS, wholeRecords } from './capture-format.ts';
import { CapturePart } from './capture-part.ts';
import { CaptureReader } from './capture-reader.ts';
import type { CaptureRing, CaptureSettings, CaptureStatistics } from './model.ts';

const NO_SPACE = ['ENOSPC', 'EDQUOT', 'EFBIG'];
/** Number of digits in the file names of a ring. */
const DIGITS = 5;

function captureFailure(error: unknown, path: string): Failure {
  if (error instanceof Failure) return error;
  const code = systemCode(error) ?? '';
  return new Failure(
    NO_SPACE.includes(code) ? 'out-of-space' : 'conflict',
    `The capture file '${path}' cannot be written: ${code === 'ELOOP' ? 'it is a symbolic link' : messageOf(error)}`,
    { cause: error },
  );
}

/** The name of a numbered file of a ring: `web.pcap` becomes `web_00001.pcap`. */
function numbered(path: string, number: number): string {
  const { dir, name, ext } = parse(path);
  return join(dir, `${name}_${String(number).padStart(DIGITS, '0')}${ext}`);
}

interface Lent {
  chunk: CaptureChunk;
  length: number;
}

export interface CaptureFileOptions extends CaptureSettings {
  file: string;
  ring?: CaptureRing;
}

export class CaptureFile {
  /** The file that is being written. Completed files of a ring have numbers in their names. */
  readonly path: string;
  readonly #options: CaptureFileOptions;
  readonly #encoding: CaptureEncoding;
  readonly #failed: (failure: Failure) => void;
  readonly #queue: Lent[] = [];
  readonly #header: Buffer;
  #parts: CapturePart[] = [];
  #completed = 0;
  #statistics: CaptureStatistics = { frames: 0, bytes: 0, drops: 0, filtered: 0 };
  #writing: Promise<void> | undefined;
  #hasFailed = false;
  #ended = false;
  #grown: PromiseWithResolvers<void> | undefined;

  private constructor(options: CaptureFileOptions, failed: (failure: Failure) => void) {
    this.path = options.file;
    this.#options = options;
    this.#encoding = ENCODINGS[options.format ?? 'pcap'];
    this.#header = this.#encoding.header(options);
    this.#failed = failed;
  }

  /**
   * Creates or empties the file and writes its header. Numbered files of an earlier ring with that name are deleted. Symbolic links and
   * special files are refused. `failed` is called at most once, when a later write fails; the file is then cut after the last whole record
   * and closed.
   */
  static async create(options: CaptureFileOptions, failed: (failure: Failure) => void): Promise<CaptureFile> {
    const file = new CaptureFile(options, failed);
    try {
      await file.#begin();
      if (options.ring !== undefined) await file.#removeOldRing();
    } catch (error) {
      throw captureFailure(error, options.file);
    }
    return file;
  }

  get contentType(): string {
    return this.#encoding.contentType;
  }

  /** Whether no more records will come. */
  get ended(): boolean {
    return this.#ended;
  }

  /** The oldest file that still exists. */
  get oldest(): CapturePart {
    return this.#parts[0]!;
  }

  /** Statistics of the records in the file. */
  get statistics(): CaptureStatistics {
    return this.#statistics;
  }

  /** Resolves when there is more to read or the capture has ended. */
  grown(): Promise<void> {
    if (this.#ended) return Promise.resolve();
    this.#grown ??= Promise.withResolvers();
    return this.#grown.promise;
  }

  /** Creates a reader that follows the growing capture, from its beginning or from the header plus about the `last` bytes. */
  reader(last?: number): CaptureReader {
    return new CaptureReader(this, last);
  }

  /** Queues whole records. The chunk is released once they are written. */
  append(memory: SharedArrayBuffer, length: number): void {
    const chunk = new CaptureChunk(memory);
    if (this.#ended || this.#hasFailed) chunk.release();
    else {
      this.#queue.push({ chunk, length });
      this.#writing ??= this.#drain();
    }
  }

  /** Writes the queued records and closes the file, with the capture's final statistics if they are known. */
  async close(statistics?: CaptureStatistics): Promise<void> {
    await this.#writing;
    if (this.#ended) return;
    if (statistics !== undefined) this.#statistics = statistics;
    await this.#end();
  }

  get #current(): CapturePart {
    return this.#parts.at(-1)!;
  }

  /** Completes and closes the current file. */
  async #end(): Promise<void> {
    await this.#complete(this.#current);
    this.#ended = true;
    this.#tell();
    await this.#current.release();
  }

  /** Writes the trailer, which is left out if the disk is full. */
  async #complete(part: CapturePart): Promise<void> {
    if (part.complete) return;
    part.complete = true;
    await part.write(this.#encoding.trailer(this.#statistics)).catch(() => {});
  }

  #tell(): void {
    this.#grown?.resolve();
    this.#grown = undefined;
  }

  async #drain(): Promise<void> {
    for (let lent = this.#queue.shift(); lent !== undefined; lent = this.#queue.shift()) {
      try {
        const records = lent.chunk.records.subarray(0, lent.length);
        this.#statistics = lent.chunk.statistics();
        await this.#write(records);
        this.#tell();
      } catch (error) {
        this.#hasFailed = true;
        for (const { chunk } of this.#queue.splice(0)) chunk.release();
        await this.#end().catch(() => {});
        this.#failed(captureFailure(error, this.path));
      } finally {
        lent.chunk.release();
      }
    }
    this.#writing = undefined;
  }

  /** Writes whole records to the current file, and to the next ones when a file of the ring is full. */
  async #write(records: Uint8Array): Promise<void> {
    const encoding = this.#encoding;
    const { ring } = this.#options;
    for (let rest = records; rest.length > 0; ) {
      const part = this.#current;
      const room = (ring?.fileBytes ?? Infinity) - part.size;
      const fits = rest.length <= room ? rest.length : wholeRecords(encoding, rest, room);
      // A record that is larger than any file gets a file of its own.
      if (fits === 0 && part.size > part.begin) {
        await this.#rotate();
        continue;
      }
      const before = part.size;
      try {
        await part.write(rest.subarray(0, fits || wholeRecords(encoding, rest, rest.length)), (written) =>
          wholeRecords(encoding, rest, written),
        );
      } catch (error) {
        await this.#makeRoom(error);
      }
      rest = rest.subarray(part.size - before);
    }
  }

  /** Completes and numbers the current file and starts the next one. */
  async #rotate(): Promise<void> {
    const complete = this.#current;
    await this.#complete(complete);
    const path = numbered(this.path, ++this.#completed);
    await rename(complete.path, path);
    complete.path = path;
    while (this.#current === complete) await this.#begin().catch((error: unknown) => this.#makeRoom(error));
    await complete.release();
    while (this.#parts.length > this.#options.ring!.files) await this.#removeOldest();
  }

  /**
   * Deletes the ring's oldest file when the disk is full.
   * @throws the error if it is a different one or there is no file to delete
   */
  async #makeRoom(error: unknown): Promise<void> {
    if (!NO_SPACE.includes(systemCode(error) ?? '') || this.#parts.length < 2) throw error;
    await this.#removeOldest();
  }

  async #begin(): Promise<void> {
    const part = new CapturePart(this.path);
    await part.create();
    try {
      await part.write(this.#header);
    } catch (error) {
      await part.release();
      throw error;
    }
    part.begin = part.size;
    const before = this.#parts.at(-1);
    this.#parts.push(part);
    if (before !== undefined) before.next = part;
  }

  async #removeOldest(): Promise<void> {
    const part = this.#parts.shift()!;
    part.removed = true;
    await unlink(part.path).catch(() => {});
  }

  async #removeOldRing(): Promise<void> {
    const directory = dirname(this.path);
    const { base } = parse(this.path);
    for (const name of await readdir(directory))
      if (isPartOfRing(base, name)) await unlink(join(directory, name)).catch(() => {});
  }
}
