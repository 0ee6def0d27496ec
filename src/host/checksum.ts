// Checksums of files, made in a thread of their own: a large image takes seconds of a processor, and the main thread has consoles
// and clients to serve. The thread reads by descriptor, so that it reads the very file that was opened here; no content passes
// between the threads. It starts with the first file and ends when there has been none for a while.
import type { Worker } from 'node:worker_threads';
import { startWorker } from './workers.ts';

export type ChecksumRequest =
  /** Bytes up to `length` may be read; `last`: those are all. */
  | { id: number; descriptor: number; length: number; last: boolean }
  /** The file will not be completed. */
  | { id: number; forget: true };

export type ChecksumAnswer = { id: number; md5sum: string } | { id: number; failure: string };

/** Milliseconds without work after which the thread ends and gives back its memory. */
const IDLE_MS = 2000;
const LIMITS = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 4 };

class ChecksumThread {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, PromiseWithResolvers<string>>();
  #lastId = 0;
  #idle: NodeJS.Timeout | undefined;

  constructor() {
    this.#worker = startWorker('checksum', {
      source: new URL('./checksum-worker.ts', import.meta.url),
      resourceLimits: LIMITS,
    });
    this.#worker.on('message', (answer: ChecksumAnswer) => this.#receive(answer));
    this.#worker.on('error', (error) => this.#ended(error));
    this.#worker.on('exit', () => this.#ended(new Error('the thread has ended')));
  }

  begin(): { id: number; md5sum: Promise<string> } {
    clearTimeout(this.#idle);
    // It holds up the end of the process only as long as somebody waits.
    this.#worker.ref();
    const id = ++this.#lastId;
    const result = Promise.withResolvers<string>();
    this.#waiting.set(id, result);
    return { id, md5sum: result.promise };
  }

  post(request: ChecksumRequest): void {
    this.#worker.postMessage(request);
  }

  forget(id: number): void {
    if (!this.#waiting.delete(id)) return;
    this.post({ id, forget: true });
    this.#rest();
  }

  #receive(answer: ChecksumAnswer): void {
    const waiting = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    if ('md5sum' in answer) waiting?.resolve(answer.md5sum);
    else waiting?.reject(new Error(`No checksum could be made: ${answer.failure}`));
    this.#rest();
  }

  #rest(): void {
    if (this.#waiting.size > 0) return;
    this.#worker.unref();
    this.#idle = setTimeout(() => {
      if (thread === this) thread = undefined;
      void this.#worker.terminate();
    }, IDLE_MS).unref();
  }

  #ended(reason: Error): void {
    clearTimeout(this.#idle);
    if (thread === this) thread = undefined;
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { reject } of waiting) reject(new Error(`No checksum could be made: ${reason.message}`));
  }
}

let thread: ChecksumThread | undefined;

/** The MD5 of a file that is being written; to be disposed of before the file is closed. */
export class RunningChecksum implements Disposable {
  readonly #thread: ChecksumThread;
  readonly #descriptor: number;
  readonly #id: number;
  readonly #md5sum: Promise<string>;

  /** @param descriptor of a regular file, open for reading */
  constructor(descriptor: number) {
    thread ??= new ChecksumThread();
    this.#thread = thread;
    this.#descriptor = descriptor;
    const { id, md5sum } = thread.begin();
    this.#id = id;
    this.#md5sum = md5sum;
    // Whoever gives up does not wait for it.
    md5sum.catch(() => {});
  }

  /** The first `length` bytes of the file are as they will stay. */
  advance(length: number): void {
    this.#post(length, false);
  }

  /** The checksum of the whole file, which is as it will stay, in hexadecimal. */
  finish(): Promise<string> {
    this.#post(Number.MAX_SAFE_INTEGER, true);
    return this.#md5sum;
  }

  [Symbol.dispose](): void {
    this.#thread.forget(this.#id);
  }

  #post(length: number, last: boolean): void {
    this.#thread.post({ id: this.#id, descriptor: this.#descriptor, length, last });
  }
}

/** MD5 of a whole file in hexadecimal. `descriptor` is open for reading, and stays open until then. */
export async function md5Of(descriptor: number): Promise<string> {
  using checksum = new RunningChecksum(descriptor);
  return await checksum.finish();
}
