// Shared memory that carries capture records from the worker to the main thread and back, without copying or allocating.

import type { CaptureStatistics } from './model.ts';

/** The header: the capture's number and its statistics at handover. */
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

  /** Whether the main thread holds the chunk. */
  get lent(): boolean {
    return Atomics.load(this.#state, 0) === LENT;
  }

  /** Hands the chunk to the main thread (called by the worker). */
  lend({ frames, bytes, drops, filtered }: CaptureStatistics): void {
    this.#figures[0] = frames;
    this.#figures[1] = bytes;
    this.#figures[2] = drops;
    this.#figures[3] = filtered;
    Atomics.store(this.#state, 0, LENT);
  }

  /** Returns the chunk to the worker (called by the main thread). */
  release(): void {
    Atomics.store(this.#state, 0, 0);
  }

  statistics(): CaptureStatistics {
    const [frames = 0, bytes = 0, drops = 0, filtered = 0] = this.#figures;
    return { frames, bytes, drops, filtered };
  }
}
