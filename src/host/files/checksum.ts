// Checksums of files, computed in a separate thread: a large image takes seconds of CPU time, and the main thread must
// serve consoles and clients. The thread reads by descriptor, so it reads exactly the file opened here. No content
// passes between the threads.
import { messageOf } from '../../failures.ts';
import { TaskThread } from '../processes/task-thread.ts';

export type ChecksumRequest =
  /** Bytes up to `length` may be read. `last`: the file is complete, return the checksum. */
  | { id: number; descriptor: number; length: number; last: boolean }
  /** The file will not be completed. */
  | { id: number; forget: true };

/** Bytes that must arrive before the thread is notified: a client may send them one at a time. */
const STEP_BYTES = 256 * 1024;

const thread = new TaskThread<ChecksumRequest, string | undefined>({
  name: 'checksum',
  source: new URL('./checksum-worker.ts', import.meta.url),
  resourceLimits: { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 4 },
});

let lastId = 0;

/** The MD5 of a file that is being written. Dispose of it before the file is closed. */
export class RunningChecksum implements Disposable {
  readonly #descriptor: number;
  readonly #id = ++lastId;
  readonly #hold = thread.hold();
  /** The thread is processing a request. */
  #isAtWork = false;
  /** The thread holds the state of this checksum. */
  #isRemembered = false;
  /** Bytes announced to the thread, and bytes available. */
  #told = 0;
  #length = 0;

  /** @param descriptor of a regular file, open for reading */
  constructor(descriptor: number) {
    this.#descriptor = descriptor;
  }

  /** The first `length` bytes of the file are final. */
  advance(length: number): void {
    this.#length = length;
    if (this.#isAtWork || length - this.#told < STEP_BYTES) return;
    this.#isAtWork = true;
    this.#isRemembered = true;
    this.#told = length;
    void thread
      .run({ id: this.#id, descriptor: this.#descriptor, length, last: false })
      // The failure repeats, and is reported, at the end.
      .catch(() => {})
      .then(() => {
        this.#isAtWork = false;
        this.advance(this.#length);
      });
  }

  /**
   * The hexadecimal checksum of the whole file, whose content is final.
   * @throws Error with the reason when it cannot be read
   */
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

  /** If the thread has ended, only its progress is lost: a new thread starts from the beginning. */
  #asked(request: ChecksumRequest): Promise<string | undefined> {
    const warning = 'the thread that makes checksums has ended; another one starts again';
    return thread.runOr(request, () => thread.run(request), warning);
  }

  [Symbol.dispose](): void {
    this.#told = Number.POSITIVE_INFINITY;
    this.#hold[Symbol.dispose]();
    if (this.#isRemembered) thread.run({ id: this.#id, forget: true }).catch(() => {});
  }
}

/** MD5 of a whole file in hexadecimal. `descriptor` must be open for reading until the result is there. */
export async function md5Of(descriptor: number): Promise<string> {
  using checksum = new RunningChecksum(descriptor);
  return await checksum.finish();
}
