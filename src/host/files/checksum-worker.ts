// The checksum thread: reads files by descriptor as they grow, several at a time.
import { createHash } from 'node:crypto';
import { read } from 'node:fs';
import { promisify } from 'node:util';
import { serveTasks } from '../processes/task-thread.ts';
import type { ChecksumRequest } from './checksum.ts';

const PIECE_BYTES = 256 * 1024;
const readAt = promisify(read);

class Job {
  readonly #hash = createHash('md5');
  readonly #buffer = Buffer.allocUnsafeSlow(PIECE_BYTES);
  #position = 0;
  #working: Promise<void> = Promise.resolve();

  /** Hashes the file up to `length`. Steps run one after the other. */
  advance(descriptor: number, length: number): Promise<void> {
    this.#working = this.#working.then(() => this.#readUpTo(descriptor, length));
    return this.#working;
  }

  digest(): string {
    return this.#hash.digest('hex');
  }

  async #readUpTo(descriptor: number, length: number): Promise<void> {
    while (this.#position < length) {
      const wanted = Math.min(PIECE_BYTES, length - this.#position);
      const { bytesRead } = await readAt(descriptor, this.#buffer, 0, wanted, this.#position);
      if (bytesRead === 0) return;
      this.#hash.update(this.#buffer.subarray(0, bytesRead));
      this.#position += bytesRead;
    }
  }
}

const jobs = new Map<number, Job>();

serveTasks(async (request: ChecksumRequest): Promise<string | undefined> => {
  const { id } = request;
  if ('forget' in request) {
    jobs.delete(id);
    return undefined;
  }
  const job = jobs.get(id) ?? new Job();
  jobs.set(id, job);
  await job.advance(request.descriptor, request.length);
  if (!request.last) return undefined;
  jobs.delete(id);
  return job.digest();
});
