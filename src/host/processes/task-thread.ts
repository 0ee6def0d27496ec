// A thread for occasional tasks: it starts with the first one and ends after an idle time.
import { parentPort, type ResourceLimits, type Transferable, type Worker } from 'node:worker_threads';
import { Failure, type FailureCode, messageOf } from '../../failures.ts';
import { log } from '../log.ts';
import { startWorker } from './worker-threads.ts';

interface Task {
  id: number;
  request: unknown;
}

type Answer = { id: number; answer: unknown } | { id: number; message: string; code?: FailureCode };

/** The thread itself failed, not the task. */
export class ThreadEnded extends Error {}

export interface TaskThreadOptions {
  /** Name of the script in build.mjs, and its source. */
  name: string;
  source: URL;
  resourceLimits: ResourceLimits;
  /** Idle time (ms) after which the thread ends and releases its memory. Default: 2 s. */
  idleMs?: number;
  /** Time limit (ms) of a task; exceeding it ends the thread. Default: unlimited. */
  longestTaskMs?: number;
}

export class TaskThread<Request, Result> {
  readonly #options: TaskThreadOptions;
  #worker: Worker | undefined;
  #waiting = new Map<number, PromiseWithResolvers<Result>>();
  #lastId = 0;
  #holds = 0;
  #idle: NodeJS.Timeout | undefined;

  constructor(options: TaskThreadOptions) {
    this.#options = options;
  }

  /** Keeps the thread and its state between tasks until disposed of. Does not keep the process alive. */
  hold(): Disposable {
    this.#holds += 1;
    clearTimeout(this.#idle);
    return {
      [Symbol.dispose]: () => {
        this.#holds -= 1;
        this.#rest();
      },
    };
  }

  /** @throws Failure as the task does, ThreadEnded */
  run(request: Request): Promise<Result> {
    clearTimeout(this.#idle);
    const worker = this.#worker ?? this.#start();
    // It keeps the process alive only while a caller waits.
    worker.ref();
    const id = ++this.#lastId;
    const result = Promise.withResolvers<Result>();
    this.#waiting.set(id, result);
    worker.postMessage({ id, request } satisfies Task);
    return this.#limited(worker, result.promise);
  }

  /** As `run`. If the thread has ended, that is logged, and the task is done otherwise. */
  async runOr<Other>(request: Request, otherwise: () => Other, warning: string): Promise<Result | Awaited<Other>> {
    try {
      return await this.run(request);
    } catch (error) {
      if (!(error instanceof ThreadEnded)) throw error;
      log.warn(warning, { reason: error.message });
      return await otherwise();
    }
  }

  async #limited(worker: Worker, result: Promise<Result>): Promise<Result> {
    const limit = this.#options.longestTaskMs;
    if (limit === undefined) return result;
    const timer = setTimeout(() => {
      this.#ended(worker, new ThreadEnded(`a task took more than ${limit} ms`));
      void worker.terminate();
    }, limit);
    return result.finally(() => clearTimeout(timer));
  }

  #start(): Worker {
    const { name, source, resourceLimits } = this.#options;
    const worker = startWorker(name, { source, resourceLimits });
    const ended = (reason: unknown): void => this.#ended(worker, new ThreadEnded(messageOf(reason)));
    worker.on('message', (answer: Answer) => this.#receive(worker, answer));
    worker.on('error', ended);
    worker.on('exit', () => ended('the thread has ended'));
    this.#worker = worker;
    return worker;
  }

  #receive(worker: Worker, answer: Answer): void {
    const task = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    if ('answer' in answer) task?.resolve(answer.answer as Result);
    else if (answer.code) task?.reject(new Failure(answer.code, answer.message));
    else task?.reject(new Error(answer.message));
    if (this.#worker === worker) this.#rest();
  }

  /** If no caller waits any more, the thread ends soon. */
  #rest(): void {
    const worker = this.#worker;
    if (worker === undefined || this.#waiting.size > 0) return;
    worker.unref();
    clearTimeout(this.#idle);
    if (this.#holds > 0) return;
    this.#idle = setTimeout(() => {
      this.#worker = undefined;
      void worker.terminate();
    }, this.#options.idleMs ?? 2_000).unref();
  }

  #ended(worker: Worker, reason: ThreadEnded): void {
    if (this.#worker !== worker) return;
    clearTimeout(this.#idle);
    this.#worker = undefined;
    const waiting = this.#waiting;
    this.#waiting = new Map();
    for (const { reject } of waiting.values()) reject(reason);
  }
}

/**
 * In such a thread: runs its tasks, started in the order of arrival. `transfer` lists the objects to transfer to the
 * other thread without a copy.
 */
export function serveTasks<Request, Result>(
  task: (request: Request) => Result | Promise<Result>,
  transfer: (result: Result) => Transferable[] = () => [],
): void {
  parentPort?.on('message', async ({ id, request }: Task) => {
    try {
      const answer = await task(request as Request);
      parentPort?.postMessage({ id, answer } satisfies Answer, transfer(answer));
    } catch (error) {
      const code = error instanceof Failure ? { code: error.code } : {};
      parentPort?.postMessage({ id, message: messageOf(error), ...code } satisfies Answer);
    }
  });
}
