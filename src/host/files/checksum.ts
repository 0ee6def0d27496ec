// Checksums of files, made in a thread of their own: a large image takes seconds of a processor, and the main thread has consoles
// and clients to serve. The thread reads by descriptor, so that it reads the very file that was opened here; no content passes
// between the threads.
import { messageOf } from '../../failures.ts';
import { log } from '../log.ts';
import { TaskThread, ThreadEnded } from '../processes/task-thread.ts';

export type ChecksumRequest =
  /** Bytes up to `length` may be read; `last`: those are all, and the checksum is wanted. */
  | { id: number; descriptor: number; length: number; last: boolean }
  /** The file will not be completed. */
  | { id: number; forget: true };

/** Bytes that have to have come in before the thread is told of them: a client may send them one by one. */
const STEP_BYTES = 256 * 1024;

const thread = new TaskThread<ChecksumRequest, string | undefined>({
  name: 'checksum',
  source: new URL('./checksum-worker.ts', import.meta.url),
  resourceLimits: { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 4 },
  idleMs: 2_000,
});

let lastId = 0;

/** The MD5 of a file that is being written; to be disposed of before the file is closed. */
export class RunningChecksum implements Disposable {
  readonly #descriptor: number;
  readonly #id = ++lastId;
  readonly #hold = thread.hold();
  /** The thread is at work on what it was told. */
  #isAtWork = false;
  /** The thread remembers what it has read so far. */
  #isRemembered = false;
  /** Bytes that it was told of, and those that there are. */
  #told = 0;
  #length = 0;

  /** @param descriptor of a regular file, open for reading */
  constructor(descriptor: number) {
    this.#descriptor = descriptor;
  }

  /** The first `length` bytes of the file are as they will stay. */
  advance(length: number): void {
    this.#length = length;
    if (this.#isAtWork || length - this.#told < STEP_BYTES) return;
    this.#isAtWork = true;
    this.#isRemembered = true;
    this.#told = length;
    void thread
      .run({ id: this.#id, descriptor: this.#descriptor, length, last: false })
      // What failed fails again, and is told, at the end.
      .catch(() => {})
      .then(() => {
        this.#isAtWork = false;
        this.advance(this.#length);
      });
  }

  /** The checksum of the whole file, which is as it will stay, in hexadecimal. @throws Error with the reason when it cannot be read */
  async finish(): Promise<string> {
    this.#told = Number.POSITIVE_INFINITY;
    const request = { id: this.#id, descriptor: this.#descriptor, length: Number.MAX_SAFE_INTEGER, last: true };
    this.#isRemembered = true;
    try {
      const md5sum = await this.#asked(request);
      this.#isRemembered = false;
      return md5sum ?? '';
    } catch (error) {
      throw new Error(`No checksum could be made: ${messageOf(error)}`, { cause: error });
    }
  }

  /** A thread that has ended has lost what it had read, and nothing else: another one begins anew. */
  async #asked(request: ChecksumRequest): Promise<string | undefined> {
    try {
      return await thread.run(request);
    } catch (error) {
      if (!(error instanceof ThreadEnded)) throw error;
      log.warn('the thread that makes checksums has ended; another one begins anew', { reason: error.message });
      return thread.run(request);
    }
  }

  [Symbol.dispose](): void {
    this.#told = Number.POSITIVE_INFINITY;
    this.#hold[Symbol.dispose]();
    if (this.#isRemembered) thread.run({ id: this.#id, forget: true }).catch(() => {});
  }
}

/** MD5 of a whole file in hexadecimal. `descriptor` is open for reading, and stays open until then. */
export async function md5Of(descriptor: number): Promise<string> {
  using checksum = new RunningChecksum(descriptor);
  return await checksum.finish();
}
