// The main thread's side of a worker: requests and answers, start and end. Replaces a crashed worker by an identical new one.

import { writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { Failure, internal, messageOf } from '../failures.ts';
import { OpenDescriptors } from '../host/files/open-descriptors.ts';
import { type Relay, removeElsewhere } from '../host/network/interface-removals.ts';
import { startWorker } from '../host/processes/worker-threads.ts';
import { Blueprint, closes, takesAway } from './blueprint.ts';
import { CaptureChunk } from './capture-chunk.ts';
import type { CaptureFile } from './capture-file.ts';
import { Groups } from './groups.ts';
import type { FabricTotals } from './model.ts';
import { type Report, type Request, SIGNAL, type Verb, type Verbs, type WorkerData } from './protocol.ts';
import { add, noTotals, sumOf } from './totals.ts';

/** A request without an answer yet. */
interface Asked {
  request: Request;
  resolve: (result: never) => void;
  reject: (failure: Failure) => void;
  /** Who sent it: a caller, a caller whose first attempt died with the worker, or this class while it rebuilds a worker. */
  by: 'caller' | 'caller again' | 'thread';
}

/** A worker has crashed. */
export interface Crash {
  reason: string;
  /** The groups on that worker. */
  groups: readonly string[];
}

export interface Recovery extends Crash {
  /** Time since the crash. */
  milliseconds: number;
  /** What could not be restored, for example a taken UDP port. */
  failures: readonly string[];
}

export type ThreadOptions = Pick<WorkerData, 'frameLoop' | 'kernelLinks'>;

export interface ThreadWatcher {
  /** The worker has crashed; a new one is starting. */
  crashed(crash: Crash): void;
  /** The new worker has everything that the old one had. */
  recovered(recovery: Recovery): void;
  /** No new worker will be started. */
  lost(crash: Crash): void;
}

/** V8 heap limits in megabytes; frames are stored outside the heap. */
const LIMITS = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 1 };

/** A thread is given up after this many crashes within this time (ms), as the next worker would crash for the same reason. */
const MOST_CRASHES = 3;
const CRASH_PERIOD_MS = 60_000;

/** If a worker does not report totals within this time (ms), its last report is used. */
const TOTALS_PATIENCE_MS = 1_000;

/** The 8-byte number to write to an eventfd. */
const ONE = Buffer.from([1, 0, 0, 0, 0, 0, 0, 0]);

export class FabricThread {
  /** Running captures, by number. */
  readonly captures = new Map<number, CaptureFile>();
  /** Receivers of the messages of devices in memory and ports, by number. */
  readonly listeners = new Map<number, (message: unknown) => void>();
  readonly groups = new Groups();
  readonly #signals = new Int32Array(new SharedArrayBuffer(12));
  readonly #asked = new Map<number, Asked>();
  /** Why the native frame loop is not used; undefined if it is. */
  withoutLoop: string | undefined;
  readonly #watcher: ThreadWatcher;
  readonly #options: ThreadOptions;
  readonly #leave = (): void => {
    Atomics.store(this.#signals, SIGNAL.leave, 1);
    this.#interrupt();
  };
  #blueprint = new Blueprint();
  /** The worker, once it accepts requests. */
  #worker: Worker | undefined;
  #ended = Promise.resolve();
  /** Why requests are refused at present. */
  #down: Failure | undefined = internal('The fabric is not started');
  #crashes: number[] = [];
  /** Totals of ended workers, and the last report of the present one. */
  readonly #past = noTotals();
  #told = noTotals();
  #lastId = 0;
  /** The worker's TAPs, by descriptor. */
  readonly #relays = new Map<number, Relay>();
  /** Resolves when those are removed that the worker has closed. */
  #removals = Promise.resolve();

  constructor(options: ThreadOptions, watcher: ThreadWatcher) {
    this.#options = options;
    this.#watcher = watcher;
  }

  /** Starts the worker; resolves when frames move. Requests may be made at once. */
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

  /** Ends the worker and completes its capture files. */
  async stop(): Promise<void> {
    if (this.#down === undefined) {
      const stopped = this.#worker && this.request('stop', {});
      this.#down = internal('The fabric is stopped');
      // A worker that is still starting sees this before its first wait.
      if (stopped === undefined) this.#leave();
      await stopped?.catch(() => {});
    }
    await this.#ended;
    await this.#removals;
    this.groups.clear();
    this.listeners.clear();
    await this.#closeCaptures();
  }

  /** Returns an unused number. */
  nextId(): number {
    return ++this.#lastId;
  }

  /** Sends a verb to the worker and returns its answer. */
  request<V extends Verb>(verb: V, body: Verbs[V]['takes']): Promise<Verbs[V]['gives']> {
    const request = { id: this.nextId(), verb, body } as Request;
    if (this.#down !== undefined) {
      if (!takesAway(verb)) return Promise.reject(this.#down);
      this.#note(request);
      return Promise.resolve(undefined as Verbs[V]['gives']);
    }
    return this.#ask(request, 'caller') as Promise<Verbs[V]['gives']>;
  }

  /** Totals since the start, over all workers. The last moments of a crashed one are not included. */
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
    // Without a worker the request waits for the next one.
    if (this.#worker !== undefined) this.#post(request);
    return promise;
  }

  #post(request: Request): void {
    this.#worker!.postMessage(request);
    if (Atomics.exchange(this.#signals, SIGNAL.posted, 1) === 0) this.#interrupt();
  }

  /** Wakes the worker from its wait. */
  #interrupt(): void {
    const wakeUp = Atomics.load(this.#signals, SIGNAL.wakeUp);
    if (wakeUp !== 0) writeSync(wakeUp, ONE);
  }

  /** Starts a worker. Resolves when it accepts requests; fails if it ends before that. */
  #launch(): Promise<void> {
    this.#signals.fill(0);
    const descriptors = new OpenDescriptors();
    const workerData: WorkerData = {
      signals: this.#signals,
      descriptors: descriptors.bits,
      ...this.#options,
    };
    const source = new URL('./worker.ts', import.meta.url);
    const worker = startWorker('fabric', { source, workerData, resourceLimits: LIMITS });
    const ready = Promise.withResolvers<void>();
    const end = Promise.withResolvers<void>();
    this.#ended = end.promise;
    // At exit Node waits for its workers, and this one waits for frames.
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
      // Before others are closed, as the kernel would remove each of these by itself.
      for (const relay of this.#relays.values()) {
        descriptors.delete(relay.descriptor);
        this.#remove(relay);
      }
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
      ready.reject(internal(`The fabric's thread has stopped unexpectedly: ${reason}`));
    });
    return ready.promise.then(() => this.#postAll());
  }

  /** Sends the requests that were made before the worker was ready. */
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
    if (report.kind === 'relay') {
      this.#relays.set(report.relay.descriptor, report.relay);
      return;
    }
    if (report.kind === 'remove') {
      this.#remove(report.relay);
      return;
    }
    if (report.kind === 'message') {
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

  #remove(relay: Relay): void {
    this.#relays.delete(relay.descriptor);
    this.#removals = removeElsewhere(relay);
  }

  /** Notes a completed verb in the blueprint. */
  #note({ verb, body }: Request): void {
    this.#blueprint.note(verb, body);
    const closed = closes(verb, body);
    if (closed !== undefined) this.groups.leave(closed);
  }

  /** Starts an identical new worker, unless workers keep crashing. */
  #crashed(reason: string): void {
    const now = performance.now();
    const crash = { reason, groups: this.groups.names };
    this.#crashes = [...this.#crashes.filter((time) => now - time < CRASH_PERIOD_MS), now];
    if (this.#crashes.length >= MOST_CRASHES) {
      const often = `The fabric's thread has crashed ${MOST_CRASHES} times within a minute and is given up: ${reason}`;
      this.#giveUp(internal(often));
      this.#watcher.lost(crash);
      return;
    }
    this.#watcher.crashed(crash);
    // Pending requests are repeated once, after everything is rebuilt. One that was pending in two crashes is not repeated again.
    const asked = [...this.#asked.values()];
    this.#asked.clear();
    const rebuilt = this.#blueprint
      .verbs()
      .map((verb) => this.#ask({ id: this.nextId(), ...verb } as Request, 'thread'));
    for (const one of asked) {
      if (one.by === 'caller') this.#asked.set(one.request.id, { ...one, by: 'caller again' });
      else one.reject(internal(`The fabric's thread has crashed: ${reason}`));
    }
    const results = Promise.allSettled(rebuilt);
    this.#launch().then(
      async () => {
        const failures = (await results).flatMap((result) =>
          result.status === 'rejected' ? [messageOf(result.reason)] : [],
        );
        // If the new worker has crashed meanwhile, its successor reports.
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
