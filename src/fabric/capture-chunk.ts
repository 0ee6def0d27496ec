// Memory in which records go from the worker to the main thread and, emptied, back: no byte is copied and nothing is allocated.

import type { CaptureStatistics } from './model.ts';

/** Before the records: whose the chunk is, and the capture's figures when it was handed over. */
const HEADER_BYTES = 64;
const RECORDS_BYTES = 256 << 10;
const LENT = 1;

export class CaptureChunk {
  readonly memory: SharedArrayBuffer;
  readonly records: Buffer<SharedArrayBuffer>;
  readonly #state: Int32Array<SharedArrayBuffer>;
  readonly #figures: Float64Array<SharedArrayBuffer>;

  constructor(memory = new SharedArrayBuffer(HEADER_BYTES + RECORDS_BYTES)) {
    this.memory = memory;
    this.records = Buffer.from(memory, HEADER_BYTES);
    this.#state = new Int32Array(memory, 0, 1);
    this.#figures = new Float64Array(memory, 8, 4);
  }

  /** Whether the main thread has it. */
  get lent(): boolean {
    return Atomics.load(this.#state, 0) === LENT;
  }

  /** The worker hands it over. */
  lend({ frames, bytes, drops, filtered }: CaptureStatistics): void {
    this.#figures[0] = frames;
    this.#figures[1] = bytes;
    this.#figures[2] = drops;
    this.#figures[3] = filtered;
    Atomics.store(this.#state, 0, LENT);
  }

  /** The main thread gives it back. */
  release(): void {
    Atomics.store(this.#state, 0, 0);
  }

  statistics(): CaptureStatistics {
    const [frames, bytes, drops, filtered] = this.#figures as unknown as [number, number, number, number];
    return { frames, bytes, drops, filtered };
  }
}
