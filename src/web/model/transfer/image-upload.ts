// The upload of an image. It resumes after a pause or a lost connection, until it is complete, cancelled or rejected.
import type { UploadObject } from '../../../api/routes/compute-images.ts';
import { isUnanswered, Refusal } from '../server/api.ts';
import { sentenceOf } from '../server/sentence.ts';
import type { Task } from './tasks.ts';

/** The requests of an upload. They reject with a `Refusal`, of status 0 without an answer. */
export interface UploadWire {
  /** Starts the upload, or asks how many bytes the server has. */
  announce(): Promise<UploadObject>;
  /** Sends everything from `offset`; `sent` gets the number of bytes sent by this request. */
  send(offset: number, sent: (bytes: number) => void, signal: AbortSignal): Promise<UploadObject>;
  /** Rejects if the file can no longer be read, which requests report as a lost connection. */
  readable(): Promise<unknown>;
  /** Why the server ended the upload, if it knows. */
  reason(): Promise<string | undefined>;
  remove(): Promise<unknown>;
}

export interface ImageUploadOptions {
  task: Task;
  wire: UploadWire;
  /** Called after each change of the task. */
  changed: () => void;
  words: { queued: string; paused: string; cut: string; unreadable: string; done: (md5sum: string) => string };
  /** Does the work when its turn comes; rejects if the signal is aborted before. */
  turn: <T>(work: () => Promise<T>, signal: AbortSignal) => Promise<T>;
  wait?: (milliseconds: number) => Promise<void>;
}

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;

const sleep = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

export class ImageUpload {
  readonly #options: ImageUploadOptions;
  #abort = new AbortController();
  #isPaused = false;
  #isCancelled = false;
  #wake: (() => void) | undefined;
  /** Bytes that the server has confirmed. */
  #kept = 0;

  constructor(options: ImageUploadOptions) {
    this.#options = options;
    const { task, words } = options;
    task.isSending = true;
    task.unit = 'bytes';
    task.rest('waiting', words.queued);
    this.#offer();
  }

  /** Resolves when the upload has ended: with the image's checksum, or undefined. Never rejects. */
  async run(): Promise<string | undefined> {
    const { task, changed } = this.#options;
    try {
      const md5sum = await this.#whole();
      if (md5sum !== undefined) {
        task.state = 'done';
        task.message = this.#options.words.done(md5sum);
      }
      return md5sum;
    } catch (error) {
      task.state = 'failed';
      task.message = sentenceOf(error);
      return undefined;
    } finally {
      task.isSending = false;
      task.actions = { retry: task.state === 'failed' ? task.actions.retry : undefined };
      changed();
    }
  }

  async #whole(): Promise<string | undefined> {
    let pause = FIRST_PAUSE_MS;
    for (;;) {
      if (await this.#mustEnd()) return undefined;
      this.#abort = new AbortController();
      const { signal } = this.#abort;
      try {
        // Not while paused: others may send then.
        const { md5sum, offset } = await this.#options.turn(() => this.#piece(signal), signal);
        if (md5sum !== null) return md5sum;
        if (offset > this.#kept) pause = FIRST_PAUSE_MS;
        this.#kept = Math.max(this.#kept, offset);
      } catch (error) {
        if (this.#isCancelled || this.#isPaused) continue;
        if (!isCut(error)) throw error;
        await this.#mustBeReadable();
        this.#options.task.rest('waiting', this.#options.words.cut);
        this.#options.changed();
        await (this.#options.wait ?? sleep)(pause);
        pause = Math.min(2 * pause, LONGEST_PAUSE_MS);
      }
    }
  }

  async #mustBeReadable(): Promise<void> {
    const { wire, words } = this.#options;
    try {
      await wire.readable();
    } catch {
      throw new Error(words.unreadable);
    }
  }

  async #piece(signal: AbortSignal): Promise<UploadObject> {
    const { task, wire, changed } = this.#options;
    // Paused or cancelled just when its turn came.
    signal.throwIfAborted();
    const begun = await wire.announce();
    if (begun.md5sum !== null) return begun;
    // The server started from the beginning: it lost or ended the upload, and may know why.
    if (begun.offset < this.#kept) {
      const reason = await wire.reason();
      if (reason !== undefined) throw new Error(reason);
    }
    this.#kept = begun.offset;
    task.state = 'running';
    task.message = '';
    task.total = begun.filesize;
    task.done = begun.offset;
    this.#offer();
    const sent = (bytes: number): void => {
      task.done = begun.offset + bytes;
      changed();
    };
    try {
      return await wire.send(begun.offset, sent, signal);
    } catch (error) {
      // The connection may be lost before the error answer is read.
      const reason = isCut(error) && !signal.aborted ? await wire.reason().catch(() => undefined) : undefined;
      throw reason === undefined ? error : new Error(reason);
    }
  }

  /** Waits while paused. Returns true if the upload is over. */
  async #mustEnd(): Promise<boolean> {
    const { task, wire, changed, words } = this.#options;
    if (this.#isPaused && !this.#isCancelled) {
      task.rest('paused', words.paused);
      this.#offer();
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      task.rest('waiting', words.queued);
      changed();
    }
    if (!this.#isCancelled) return false;
    await wire.remove().catch(() => {});
    task.state = 'cancelled';
    task.message = '';
    changed();
    return true;
  }

  #offer(): void {
    const { task, changed } = this.#options;
    task.actions = {
      ...task.actions,
      pause: this.#isPaused
        ? undefined
        : () => {
            this.#isPaused = true;
            this.#abort.abort();
          },
      resume: this.#isPaused
        ? () => {
            this.#isPaused = false;
            this.#offer();
            this.#wake?.();
          }
        : undefined,
      cancel: () => {
        this.#isCancelled = true;
        task.state = 'cancelling';
        this.#abort.abort();
        this.#wake?.();
        changed();
      },
    };
    changed();
  }
}

/** No answer, or an incomplete one: a retry may succeed. */
function isCut(error: unknown): boolean {
  if (isUnanswered(error)) return true;
  // An earlier request got further than was known when this one started.
  return error instanceof Refusal && error.status === 409 && error.message.startsWith('offset:');
}
