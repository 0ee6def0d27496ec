// Long operations that clients can watch and cancel, such as imports and uploads: the running ones, those that have ended recently, and
// their progress events.
import { randomUUID } from 'node:crypto';
import type { OperationObject } from '../api/objects.ts';
import { conflict, Failure, messageOf } from '../failures.ts';
import { ongoing, type Progress, type ProgressUnit, within } from '../host/values/progress.ts';

export interface Wanted {
  kind: string;
  name: string;
  projectId?: string | undefined;
  /** Chosen by the client to recognize its operation. */
  id?: string | undefined;
}

export type OperationAction = 'operation.started' | 'operation.progress' | 'operation.ended';

export interface OperationsOptions {
  tell: (action: OperationAction, operation: OperationObject) => void;
  /** How long (ms) an ended operation stays listed. */
  keptMs?: number;
}

/** Least time (ms) between two progress events of an operation. */
const PACE_MS = 250;
const KEPT_MS = 60_000;
/** Maximum ended operations in the list. */
const MOST_KEPT = 100;

export class Operation implements Progress {
  readonly id: string;
  readonly #wanted: Wanted;
  readonly #tell: (action: OperationAction) => void;
  readonly #abort = new AbortController();
  #state: OperationObject['state'] = 'running';
  #cancellable = true;
  #message = '';
  #done = 0;
  #total: number | undefined;
  #unit: ProgressUnit | undefined;
  #toldAt = performance.now();
  #timer: NodeJS.Timeout | undefined;

  constructor(wanted: Wanted, tell: (operation: Operation, action: OperationAction) => void) {
    this.id = wanted.id ?? randomUUID();
    this.#wanted = wanted;
    this.#tell = (action) => tell(this, action);
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get isOver(): boolean {
    return this.#state !== 'running' && this.#state !== 'cancelling';
  }

  json(): OperationObject {
    const { kind, name, projectId } = this.#wanted;
    return {
      operation_id: this.id,
      kind,
      name,
      project_id: projectId ?? null,
      done: this.#done,
      total: this.#total ?? null,
      unit: this.#unit ?? null,
      state: this.#state,
      cancellable: this.#cancellable && this.#state === 'running',
      message: this.#message,
    };
  }

  expect(more: number, unit: ProgressUnit): void {
    this.#unit ??= unit;
    if (unit !== this.#unit) return;
    this.#total = Math.max(this.#done, (this.#total ?? 0) + more);
    this.#changed();
  }

  advance(more: number, unit: ProgressUnit): void {
    this.#unit ??= unit;
    if (unit !== this.#unit) return;
    this.#done += more;
    if (this.#total !== undefined) this.#total = Math.max(this.#total, this.#done);
    this.#changed();
  }

  /** Sets count and total to values counted elsewhere. */
  set(done: number, total: number, unit: ProgressUnit): void {
    this.#unit = unit;
    this.#done = done;
    this.#total = Math.max(done, total);
    this.#changed();
  }

  say(message: string): void {
    if (message === this.#message) return;
    this.#message = message;
    this.#changed();
  }

  check(): void {
    if (this.signal.aborted) throw this.#cancelled();
  }

  commit(): void {
    this.check();
    this.#cancellable = false;
    this.#changed();
  }

  /** @throws Failure `conflict` if it is too late to cancel */
  cancel(): void {
    if (this.#state === 'cancelling') return;
    if (this.isOver) throw conflict('operation_id: the operation has ended already.');
    if (!this.#cancellable) {
      throw conflict('operation_id: the operation is about to end and cannot be cancelled any more.');
    }
    this.#state = 'cancelling';
    this.#now('operation.progress');
    this.#abort.abort(this.#cancelled());
  }

  /** Cancels the operation if possible. */
  giveUp(): void {
    if (this.#cancellable && this.#state === 'running') this.cancel();
  }

  /**
   * Ends the operation; a second call does nothing.
   * @returns the error for the client
   */
  end(...[thrown]: [thrown?: unknown]): unknown {
    if (this.isOver) return thrown;
    const failed = thrown !== undefined;
    // If the work finished although it was cancelled, the operation counts as done.
    const cancelled = failed && this.signal.aborted;
    this.#state = cancelled ? 'cancelled' : failed ? 'failed' : 'done';
    if (failed && !cancelled) {
      this.#message = thrown instanceof Failure ? messageOf(thrown) : 'Internal error: the server log has the details.';
    } else if (!failed) this.#message = '';
    if (!failed && this.#total !== undefined) this.#done = this.#total;
    this.#now('operation.ended');
    return cancelled ? this.#cancelled() : thrown;
  }

  #cancelled(): Failure {
    return conflict('The operation was cancelled; nothing of it is left.');
  }

  #changed(): void {
    if (this.#timer !== undefined || this.isOver) return;
    const left = Math.max(0, this.#toldAt + PACE_MS - performance.now());
    this.#timer = setTimeout(() => this.#now('operation.progress'), left).unref();
  }

  #now(action: OperationAction): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#toldAt = performance.now();
    this.#tell(action);
  }
}

export class Operations {
  readonly #options: OperationsOptions;
  readonly #operations = new Map<string, Operation>();

  constructor(options: OperationsOptions) {
    this.#options = options;
  }

  /** Running and recently ended operations, oldest first. */
  list(): OperationObject[] {
    return [...this.#operations.values()].map((operation) => operation.json());
  }

  /**
   * @throws Failure `conflict` if it is too late to cancel
   * @returns whether there is such an operation
   */
  cancel(id: string): boolean {
    const operation = this.#operations.get(id);
    operation?.cancel();
    return operation !== undefined;
  }

  /**
   * Starts an operation, which the caller must end.
   * @throws Failure `conflict` if the id is taken
   */
  begin(wanted: Wanted): Operation {
    const known = wanted.id === undefined ? undefined : this.#operations.get(wanted.id);
    if (known && !known.isOver) {
      throw conflict(`X-Operation-Id: ${known.id} is the identifier of another operation; make a new one.`);
    }
    // Cancelled when the client loses its right to the request.
    const { signal } = ongoing();
    const giveUp = (): void => operation.giveUp();
    const operation = new Operation(wanted, (one, action) => {
      if (action === 'operation.ended') {
        signal.removeEventListener('abort', giveUp);
        this.#forgetLater(one);
      }
      this.#options.tell(action, one.json());
    });
    signal.addEventListener('abort', giveUp);
    this.#operations.delete(operation.id);
    this.#operations.set(operation.id, operation);
    this.#options.tell('operation.started', operation.json());
    return operation;
  }

  /**
   * Runs `work` as an operation, which the work gets by `ongoing`.
   * @throws Failure `conflict` if it was cancelled
   */
  async run<T>(wanted: Wanted, work: (operation: Operation) => Promise<T>): Promise<T> {
    const operation = this.begin(wanted);
    try {
      const result = await within(operation, () => work(operation));
      operation.end();
      return result;
    } catch (error) {
      throw operation.end(error);
    }
  }

  #forgetLater(operation: Operation): void {
    const forget = (one: Operation): void => {
      if (this.#operations.get(one.id) === one) this.#operations.delete(one.id);
    };
    setTimeout(() => forget(operation), this.#options.keptMs ?? KEPT_MS).unref();
    const over = [...this.#operations.values()].filter(({ isOver }) => isOver);
    for (const one of over.slice(0, Math.max(0, over.length - MOST_KEPT))) forget(one);
  }
}
