// The first frames of a link's capture, read while the capture goes on.
import { type CapturedFrame, capturedFrames } from './pcap-stream.ts';

export interface CaptureReaderOptions {
  /** Opens the capture's stream, to be ended by the signal. */
  open(signal: AbortSignal): Promise<ReadableStream<Uint8Array>>;
  /** So many frames are enough. */
  count: number;
}

export class CaptureReader {
  readonly #options: CaptureReaderOptions;
  readonly #end = new AbortController();
  readonly #frames: CapturedFrame[] = [];
  #reading: Promise<void> = Promise.resolve();

  constructor(options: CaptureReaderOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    const stream = await this.#options.open(this.#end.signal);
    this.#reading = this.#read(stream);
    // Whoever waits for the frames is told.
    this.#reading.catch(() => {});
  }

  /** The frames so far, after a wait of at most `milliseconds` for those that are still missing. Ends the reading. */
  async stop(milliseconds: number): Promise<CapturedFrame[]> {
    const timer = setTimeout(() => this.#end.abort(), milliseconds);
    try {
      await this.#reading;
    } finally {
      clearTimeout(timer);
      this.#end.abort();
    }
    return this.#frames;
  }

  async #read(stream: ReadableStream<Uint8Array>): Promise<void> {
    try {
      for await (const frame of capturedFrames(stream)) {
        this.#frames.push(frame);
        if (this.#frames.length >= this.#options.count) return;
      }
    } catch (thrown) {
      if (!this.#end.signal.aborted) throw thrown;
    }
  }
}
