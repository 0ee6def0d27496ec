// The main thread's end of a worker: requests and answers, its start, its end, and its death, after which a new one is built like it.

import { writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { Failure, messageOf } from '../failures.ts';
import { OpenDescriptors } from '../host/files/open-descriptors.ts';
import { startWorker } from '../host/processes/worker-threads.ts';
import { Blueprint, closes, takesAway } from './blueprint.ts';
import { CaptureChunk } from './capture-chunk.ts';
import type { CaptureFile } from './capture-file.ts';
import { Groups } from './groups.ts';
import type { FabricTotals } from './model.ts';
import { type Report, type Request, SIGNAL, type Verb, type Verbs, type WorkerData } from './protocol.ts';
import { add, noTotals, sumOf } from './totals.ts';

/** A request that is not answered yet. */
interface Asked {
  request: Request;
  resolve: (result: never) => void;
  reject: (failure: Failure) => void;
  /** By whom: a caller, one that asks a second time as the worker died meanwhile, or the thread, which rebuilds a dead worker's ports. */
  by: 'caller' | 'caller again' | 'thread';
}

/** A worker has died. */
export interface Crash {
  reason: string;
  /** Whose cables it had. */
  groups: readonly string[];
}

export interface Recovery extends Crash {
  /** Since the worker's end. */
  milliseconds: number;
  /** What could not be had again, such as a UDP port. */
  failures: readonly string[];
}

export interface ThreadWatcher {
  /** The worker is dead, a new one is on its way. */
  crashed(crash: Crash): void;
  /** It has all that the dead one had. */
  recovered(recovery: Recovery): void;
  /** There will be no new one. */
  lost(crash: Crash): void;
}

/** Megabytes of V8's heap; the frames lie outside of it. */
const LIMITS = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 1 };

/** A thread whose workers die so often in so many milliseconds is given up: what kills them would kill the next one, too. */
const MOST_CRASHES = 3;
const CRASH_PERIOD_MS = 60_000;

/** Milliseconds after which a worker that does not tell its totals has those that it told last. */
const TOTALS_PATIENCE_MS = 1_000;

/** What an eventfd takes: a number of 8 bytes. */
const ONE = Buffer.from([1, 0, 0, 0, 0, 0, 0, 0]);

export class FabricThread {
  /** Open captures, by their number. */
  readonly captures = new Map<number, CaptureFile>();
  /** Who hears what a device in memory or a port says, by its number. */
  readonly listeners = new Map<number, (message: unknown) => void>();
  readonly groups = new Groups();
  readonly #signals = new Int32Array(new SharedArrayBuffer(12));
  readonly #asked = new Map<number, Asked>();
  /** Why TypeScript moves all frames of this thread. */
  withoutLoop: string | undefined;
  readonly #watcher: ThreadWatcher;
  readonly #frameLoop: WorkerData['frameLoop'];
  readonly #leave = (): void => {
    Atomics.store(this.#signals, SIGNAL.leave, 1);
    this.#interrupt();
  };
  #blueprint = new Blueprint();
  /** A worker that listens. */
  #worker: Worker | undefined;
  #ended = Promise.resolve();
  /** Why no request can be answered. */
  #down: Failure | undefined = new Failure('internal', 'The fabric is not started');
  #crashes: number[] = [];
  /** Of workers that are no more, and what the one that is has told last. */
  readonly #past = noTotals();
  #told = noTotals();
  #lastId = 0;

  constructor(frameLoop: WorkerData['frameLoop'], watcher: ThreadWatcher) {
    this.#frameLoop = frameLoop;
    this.#watcher = watcher;
  }

  /** Resolves when frames move. Requests may be made at once. */
  async start(): Promise<void> {
    this.#down = undefined;
    this.#crashes = [];
    this.#blueprint = new Blueprint();
    try {
      await this.#launch();
    } catch (error) {
      this.#giveUp(error as Failure);
      throw error;
    }
  }

  /** Ends the worker and completes the captures' files. */
  async stop(): Promise<void> {
    if (this.#down === undefined) {
      const stopped = this.#worker && this.request('stop', {});
      this.#down = new Failure('internal', 'The fabric is stopped');
      // A worker that is still starting sees this before its first wait.
      if (stopped === undefined) this.#leave();
      await stopped?.catch(() => {});
    }
    await this.#ended;
    this.groups.clear();
    this.listeners.clear();
    await this.#closeCaptures();
  }

  /** A number that nothing else has. */
  nextId(): number {
    return ++this.#lastId;
  }

  /** Has the worker do a verb. */
  request<V extends Verb>(verb: V, body: Verbs[V]['takes']): Promise<Verbs[V]['gives']> {
    const request = { id: this.nextId(), verb, body } as Request;
    if (this.#down !== undefined) {
      if (!takesAway(verb)) return Promise.reject(this.#down);
      this.#note(request);
      return Promise.resolve(undefined as Verbs[V]['gives']);
    }
    return this.#ask(request, 'caller') as Promise<Verbs[V]['gives']>;
  }

  /** What has passed since the start, all workers together; of the last moments of one that has died nothing is known. */
  async totals(): Promise<FabricTotals> {
    const worker = this.#worker;
    if (worker !== undefined) {
      const told = this.request('totals', {}).catch(() => undefined);
      const totals = await Promise.race([told, sleep(TOTALS_PATIENCE_MS, undefined, { ref: false })]);
      if (totals !== undefined && worker === this.#worker) this.#told = totals;
    }
    return sumOf([this.#past, this.#told]);
  }

  #ask(request: Request, by: Asked['by']): Promise<unknown> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    this.#asked.set(request.id, { request, resolve, reject, by });
    // Otherwise it waits for a worker.
    if (this.#worker !== undefined) this.#post(request);
    return promise;
  }

  #post(request: Request): void {
    this.#worker!.postMessage(request);
    if (Atomics.exchange(this.#signals, SIGNAL.posted, 1) === 0) this.#interrupt();
  }

  /** Ends the worker's wait. */
  #interrupt(): void {
    const wakeUp = Atomics.load(this.#signals, SIGNAL.wakeUp);
    if (wakeUp !== 0) writeSync(wakeUp, ONE);
  }

  /** Starts a worker. Resolves when it listens; fails when it dies before. */
  #launch(): Promise<void> {
    this.#signals.fill(0);
    const descriptors = new OpenDescriptors();
    const workerData: WorkerData = {
      signals: this.#signals,
      descriptors: descriptors.bits,
      frameLoop: this.#frameLoop,
    };
    const source = new URL('./worker.ts', import.meta.url);
    const worker = startWorker('fabric', { source, workerData, resourceLimits: LIMITS });
    const ready = Promise.withResolvers<void>();
    const end = Promise.withResolvers<void>();
    this.#ended = end.promise;
    // Node waits for its workers when the process exits, and this one waits for frames.
    process.on('exit', this.#leave);
    let reason = 'its thread has ended';
    worker.on('message', (report: Report) => {
      if (report.kind !== 'ready') return this.#receive(report);
      this.#worker = worker;
      this.withoutLoop = report.withoutLoop;
      ready.resolve();
    });
    worker.on('error', (error) => {
      reason = messageOf(error);
    });
    worker.on('exit', () => {
      process.off('exit', this.#leave);
      this.#signals.fill(0);
      descriptors.close();
      this.#worker = undefined;
      add(this.#past, this.#told);
      this.#told = noTotals();
      end.resolve();
      if (this.#down !== undefined) this.#rejectAll(this.#down);
      else
        ready.promise.then(
          () => this.#crashed(reason),
          () => {},
        );
      ready.reject(new Failure('internal', `The fabric's thread has stopped unexpectedly: ${reason}`));
    });
    return ready.promise.then(() => this.#postAll());
  }

  /** Gives the worker what was asked for before it listened. */
  #postAll(): void {
    for (const { request } of this.#asked.values()) this.#post(request);
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
    const asked = this.#asked.get(report.id);
    if (asked === undefined) return;
    this.#asked.delete(report.id);
    if (report.kind === 'failure') {
      asked.reject(new Failure(report.code, report.message));
      return;
    }
    if (asked.by !== 'thread') this.#note(asked.request);
    asked.resolve(report.result as never);
  }

  /** Notes what is done. */
  #note({ verb, body }: Request): void {
    this.#blueprint.note(verb, body);
    const closed = closes(verb, body);
    if (closed !== undefined) this.groups.leave(closed);
  }

  /** Builds a new worker like the one that has died, unless they die again and again. */
  #crashed(reason: string): void {
    const now = performance.now();
    const crash = { reason, groups: this.groups.names };
    this.#crashes = [...this.#crashes.filter((time) => now - time < CRASH_PERIOD_MS), now];
    if (this.#crashes.length >= MOST_CRASHES) {
      const often = `The fabric's thread has crashed ${MOST_CRASHES} times within a minute and is given up: ${reason}`;
      this.#giveUp(new Failure('internal', often));
      this.#watcher.lost(crash);
      return;
    }
    this.#watcher.crashed(crash);
    // What was asked of the dead one is asked once more, behind all that it had; whatever kills a second one is not asked again.
    const asked = [...this.#asked.values()];
    this.#asked.clear();
    const rebuilt = this.#blueprint
      .verbs()
      .map((verb) => this.#ask({ id: this.nextId(), ...verb } as Request, 'thread'));
    for (const one of asked) {
      if (one.by === 'caller') this.#asked.set(one.request.id, { ...one, by: 'caller again' });
      else one.reject(new Failure('internal', `The fabric's thread has crashed: ${reason}`));
    }
    const results = Promise.allSettled(rebuilt);
    this.#launch().then(
      async () => {
        const failures = (await results).flatMap((result) =>
          result.status === 'rejected' ? [messageOf(result.reason)] : [],
        );
        // If the new one has died meanwhile, the next one tells.
        if (this.#crashes.at(-1) === now)
          this.#watcher.recovered({ ...crash, milliseconds: performance.now() - now, failures });
      },
      (error: unknown) => this.#down === undefined && this.#crashed(messageOf(error)),
    );
  }

  #giveUp(failure: Failure): void {
    this.#down = failure;
    this.#rejectAll(failure);
    void this.#closeCaptures();
  }

  #rejectAll(failure: Failure): void {
    const asked = [...this.#asked.values()];
    this.#asked.clear();
    for (const { reject } of asked) reject(failure);
  }

  async #closeCaptures(): Promise<void> {
    const files = [...this.captures.values()];
    this.captures.clear();
    await Promise.all(files.map((file) => file.close()));
  }
}
