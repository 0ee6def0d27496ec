// Uploads of images in several pieces: an interrupted one is resumed. Until it is complete it counts as unfinished: it
// is not listed and no node finds it. An extension of the release's interface.
import { stat } from 'node:fs/promises';
import { posix } from 'node:path';
import type { ImageKind } from '../../api/kinds/kinds.ts';
import type { UploadAnnounced, UploadObject } from '../../api/routes/compute-images.ts';
import type { Operation, Operations } from '../../events/operations.ts';
import { conflict, notFound, outOfSpace, timedOut, unavailable } from '../../failures.ts';
import { writeContained } from '../../host/files/contained-files.ts';
import { freeSpace } from '../../host/files/free-space.ts';
import type { Images } from './images.ts';

/** Milliseconds without data after which an upload is dropped. */
const REST_MS = 3_600_000;
/** Limit of concurrent uploads: each keeps a file open. */
const MOST = 64;

export class Uploads {
  readonly #images: Images;
  readonly #operations: Operations;
  readonly #restMs: number;
  readonly #uploads = new Map<string, Upload>();

  constructor(images: Images, operations: Operations, restMs = REST_MS) {
    this.#images = images;
    this.#operations = operations;
    this.#restMs = restMs;
  }

  /**
   * Starts an upload. A known one is returned unchanged, and waits for its next piece.
   * @throws Failure `forbidden` for an invalid image name, `out-of-space` before any data is sent, `conflict` for an
   * identifier that another upload has
   */
  async announce(kind: ImageKind, id: string, announced: UploadAnnounced): Promise<UploadObject> {
    const known = this.#uploads.get(id);
    if (known) {
      // The client wants to resume: ignore the rest of an earlier piece.
      if (known.isOf(kind, announced)) {
        await known.endPiece();
        return known.json();
      }
      throw conflict(`upload_id: ${id} is the identifier of another upload; make a new one.`);
    }
    if (this.#uploads.size >= MOST) {
      throw unavailable(`${MOST} uploads are under way; end some of them, or try again later.`);
    }
    const { filename, filesize, md5sum } = announced;
    const checksum = md5sum?.toLowerCase() ?? undefined;
    const { root, path, options } = await this.#images.incoming(kind, filename, checksum);
    const { bytes, reserveBytes } = await freeSpace(root);
    const { dev: fileSystem } = await stat(root);
    const beside = [...this.#uploads.values()].filter((upload) => upload.fileSystem === fileSystem);
    const pending = beside.reduce((sum, upload) => sum + upload.pendingBytes, 0);
    const free = bytes - reserveBytes - pending;
    if (filesize > free) {
      const others = pending > 0 ? `, and ${pending} for other uploads` : '';
      const message = `filesize: ${filesize} bytes are needed in ${root}, ${Math.max(0, free)} are free, as ${reserveBytes} are kept for the disks of nodes${others}; free some and try again.`;
      throw outOfSpace(message);
    }
    const again = this.#uploads.get(id);
    if (again) return again.json();
    const operation = this.#operations.begin({ kind: 'upload', name: posix.basename(path), id });
    const upload = new Upload({ id, kind, announced, fileSystem, operation, restMs: this.#restMs });
    this.#uploads.set(id, upload);
    const written = writeContained(root, path, upload.content, options).then(() =>
      this.#images.checksum({ root, path }),
    );
    upload
      .settle(written)
      .then(
        () => operation.end(),
        (error: unknown) => operation.end(error),
      )
      .finally(() => {
        // Keep it for clients that ask again because the last answer was lost.
        setTimeout(() => this.#uploads.delete(id), upload.isWhole ? this.#restMs : 0).unref();
      });
    return upload.json();
  }

  /** @throws Failure `not-found` */
  get(id: string): Upload {
    const upload = this.#uploads.get(id);
    if (upload) return upload;
    throw notFound(`upload_id: there is no upload ${id}; begin it with PUT to this address.`);
  }

  /** Ends an upload and removes its data. A complete image stays. @throws Failure `not-found` */
  async remove(id: string): Promise<void> {
    await this.get(id).cancel();
    this.#uploads.delete(id);
  }
}

interface UploadParts {
  id: string;
  kind: ImageKind;
  announced: UploadAnnounced;
  /** The device number of the file system that it goes to. */
  fileSystem: number;
  operation: Operation;
  restMs: number;
}

export class Upload {
  readonly #parts: UploadParts;
  readonly #pieces = new TransformStream<Uint8Array, Uint8Array>();
  readonly #writer = this.#pieces.writable.getWriter();
  #offset = 0;
  #md5sum: string | undefined;
  #done: Promise<unknown> = Promise.resolve();
  #failed = false;
  #feeding: { abort: AbortController; ended: Promise<void> } | undefined;
  #rest: NodeJS.Timeout | undefined;

  constructor(parts: UploadParts) {
    const { operation, announced } = parts;
    this.#parts = parts;
    operation.expect(announced.filesize, 'bytes');
    operation.signal.addEventListener('abort', () => this.#giveUp(operation.signal.reason));
    this.#restAgain();
  }

  /** The whole content as it arrives. */
  get content(): AsyncIterable<Uint8Array> {
    return this.#pieces.readable;
  }

  get isWhole(): boolean {
    return this.#md5sum !== undefined;
  }

  get fileSystem(): number {
    return this.#parts.fileSystem;
  }

  /** Bytes that are to come. */
  get pendingBytes(): number {
    return this.#failed || this.isWhole ? 0 : this.#parts.announced.filesize - this.#offset;
  }

  isOf({ type }: ImageKind, { filename, filesize }: UploadAnnounced): boolean {
    const { kind, announced } = this.#parts;
    return kind.type === type && announced.filename === filename && announced.filesize === filesize;
  }

  json(): UploadObject {
    const { id, announced } = this.#parts;
    const { filename, filesize } = announced;
    return { upload_id: id, filename, filesize, offset: this.#offset, md5sum: this.#md5sum ?? null };
  }

  /** Waits for `written`, which resolves to the checksum. */
  async settle(written: Promise<string>): Promise<void> {
    this.#done = written;
    try {
      this.#md5sum = await written;
    } catch (error) {
      this.#failed = true;
      this.#giveUp(error);
      throw error;
    } finally {
      clearTimeout(this.#rest);
    }
  }

  /** Ignores the rest of the present piece: the server may notice a broken connection only much later. */
  async endPiece(): Promise<void> {
    this.#feeding?.abort.abort();
    await this.#feeding?.ended;
  }

  /**
   * Writes the bytes from `offset` on. An earlier piece that is still arriving ends. Returns the upload afterwards.
   * @throws Failure `conflict` for a wrong offset, `out-of-space` ..., which also ends the upload
   */
  async append(offset: number, content: ReadableStream<Uint8Array> | null): Promise<UploadObject> {
    // Another piece may have begun meanwhile.
    while (this.#feeding) await this.endPiece();
    if (this.#failed) await this.#done;
    if (offset !== this.#offset) {
      await content?.cancel();
      throw conflict(`offset: ${this.#offset} bytes are here; go on with the byte ${this.#offset}.`);
    }
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    const abort = new AbortController();
    this.#feeding = { abort, ended };
    clearTimeout(this.#rest);
    try {
      if (content !== null) await this.#take(content, abort.signal);
    } finally {
      this.#feeding = undefined;
      this.#restAgain();
      resolve();
    }
    if (this.#offset === this.#parts.announced.filesize) {
      await this.#writer.close().catch(() => {});
      await this.#done;
    }
    return this.json();
  }

  async #take(content: ReadableStream<Uint8Array>, signal: AbortSignal): Promise<void> {
    const { announced, operation } = this.#parts;
    const reader = content.getReader();
    const stop = (): void => void reader.cancel().catch(() => {});
    signal.addEventListener('abort', stop);
    try {
      for (;;) {
        const { done, value } = await reader.read().catch(brokenOff);
        if (done || signal.aborted) return;
        if (this.#offset + value.length > announced.filesize) {
          const message = `filesize: more than the ${announced.filesize} bytes that were announced; the upload was given up.`;
          this.#giveUp(conflict(message));
          await this.#done;
        }
        // Fails if the disk is full. The failed write has the reason.
        await this.#writer.write(value).catch(() => this.#done);
        this.#offset += value.length;
        operation.advance(value.length, 'bytes');
      }
    } finally {
      signal.removeEventListener('abort', stop);
      await reader.cancel().catch(() => {});
    }
  }

  /** Ends it; resolves when all its data is removed. */
  async cancel(): Promise<void> {
    if (this.#md5sum === undefined) this.#giveUp(conflict('The upload was cancelled.'));
    await this.#done.catch(() => {});
  }

  #giveUp(reason: unknown): void {
    clearTimeout(this.#rest);
    this.#writer.abort(reason).catch(() => {});
  }

  #restAgain(): void {
    clearTimeout(this.#rest);
    const late = timedOut('The upload was given up: nothing came for a long time.');
    this.#rest = setTimeout(() => this.#giveUp(late), this.#parts.restMs).unref();
  }
}

function brokenOff(cause: unknown): never {
  throw timedOut('The connection broke off; ask how much is here, and go on.', { cause });
}
