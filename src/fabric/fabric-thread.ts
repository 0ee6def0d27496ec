// The main thread's end of the worker: requests and answers, captured records, its start, its end and its death.

import { closeSync, writeSync } from 'node:fs';
import type { Worker } from 'node:worker_threads';
import { Failure, messageOf } from '../failures.ts';
import { startWorker } from '../host/workers.ts';
import { CaptureChunk } from './capture-chunk.ts';
import type { CaptureFile } from './capture-file.ts';
import { type Report, type Request, SIGNAL, type Verb, type Verbs, type WorkerData } from './protocol.ts';

interface Waiting {
  resolve: (result: never) => void;
  reject: (failure: Failure) => void;
}

/** Megabytes of V8's heap; the frames lie outside of it. */
const LIMITS = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 1 };

/** What an eventfd takes: a number of 8 bytes. */
const ONE = Buffer.from([1, 0, 0, 0, 0, 0, 0, 0]);

export class FabricThread {
  /** Open captures, by their number. */
  readonly captures = new Map<number, CaptureFile>();
  /** Who hears what a device in memory or a port says, by its number. */
  readonly listeners = new Map<number, (message: unknown) => void>();
  readonly #signals = new Int32Array(new SharedArrayBuffer(8));
  readonly #waiting = new Map<number, Waiting>();
  readonly #crashed: (failure: Failure) => void;
  readonly #leave = (): void => {
    Atomics.store(this.#signals, SIGNAL.leave, 1);
    this.#interrupt();
  };
  #worker: Worker | undefined;
  #wakeUp: number | undefined;
  /** Why no request can be answered. */
  #down: Failure | undefined = new Failure('internal', 'The fabric is not started');
  #lastId = 0;

  /** `crashed` is called when the worker ends without having been asked to. */
  constructor(crashed: (failure: Failure) => void) {
    this.#crashed = crashed;
  }

  async start(): Promise<void> {
    this.#signals.fill(0);
    const workerData: WorkerData = { signals: this.#signals };
    const source = new URL('./worker.ts', import.meta.url);
    const worker = startWorker('fabric', { source, workerData, resourceLimits: LIMITS });
    const ready = Promise.withResolvers<void>();
    let reason = 'its thread has ended';
    worker.on('message', (report: Report) => {
      if (report.kind !== 'ready') return this.#receive(report);
      this.#worker = worker;
      this.#wakeUp = report.wakeUp;
      this.#down = undefined;
      // Node waits for its workers when the process exits, and this one waits for frames.
      process.on('exit', this.#leave);
      ready.resolve();
    });
    worker.on('error', (error) => {
      reason = messageOf(error);
    });
    worker.on('exit', () => {
      const failure = new Failure('internal', `The fabric has stopped unexpectedly: ${reason}`);
      ready.reject(failure);
      this.#ended(failure);
    });
    await ready.promise;
  }

  /** Ends the worker and completes the captures' files. */
  async stop(): Promise<void> {
    const worker = this.#worker;
    if (worker !== undefined && this.#down === undefined) {
      const exit = new Promise((resolve) => worker.once('exit', resolve));
      const stopped = this.request('stop', {});
      this.#down = new Failure('internal', 'The fabric is stopped');
      await stopped;
      await exit;
    }
    await this.#closeCaptures();
  }

  /** A number that nothing else has. */
  nextId(): number {
    return ++this.#lastId;
  }

  /** Has the worker do a verb. */
  request<V extends Verb>(verb: V, body: Verbs[V]['takes']): Promise<Verbs[V]['gives']> {
    if (this.#down !== undefined) return Promise.reject(this.#down);
    const id = this.nextId();
    const { promise, resolve, reject } = Promise.withResolvers<Verbs[V]['gives']>();
    this.#waiting.set(id, { resolve, reject });
    this.#worker!.postMessage({ id, verb, body } as Request);
    if (Atomics.exchange(this.#signals, SIGNAL.posted, 1) === 0) this.#interrupt();
    return promise;
  }

  /** Ends the worker's wait. */
  #interrupt(): void {
    if (this.#wakeUp !== undefined) writeSync(this.#wakeUp, ONE);
  }

  #receive(report: Exclude<Report, { kind: 'ready' }>): void {
    if (report.kind === 'captured') {
      for (const { capture, memory, length } of report.chunks) {
        const file = this.captures.get(capture);
        if (file === undefined) new CaptureChunk(memory).release();
        else file.append(memory, length);
      }
      return;
    }
    if (report.kind === 'told') {
      this.listeners.get(report.device)?.(report.message);
      return;
    }
    const waiting = this.#waiting.get(report.id);
    this.#waiting.delete(report.id);
    if (report.kind === 'answer') waiting?.resolve(report.result as never);
    else waiting?.reject(new Failure(report.code, report.message));
  }

  #ended(failure: Failure): void {
    process.off('exit', this.#leave);
    if (this.#wakeUp !== undefined) closeSync(this.#wakeUp);
    this.#wakeUp = undefined;
    const crashed = this.#worker !== undefined && this.#down === undefined;
    this.#worker = undefined;
    this.#down ??= failure;
    for (const { reject } of this.#waiting.values()) reject(this.#down);
    this.#waiting.clear();
    this.listeners.clear();
    if (!crashed) return;
    void this.#closeCaptures();
    this.#crashed(failure);
  }

  async #closeCaptures(): Promise<void> {
    const files = [...this.captures.values()];
    this.captures.clear();
    await Promise.all(files.map((file) => file.close()));
  }
}
