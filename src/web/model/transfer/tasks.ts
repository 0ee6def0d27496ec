// Long operations of the server and uploads of this page in one list, with progress, rate and remaining time.
import { signal } from '@preact/signals';
import type { OperationObject } from '../../../api/objects.ts';
import { sentenceOf } from '../server/sentence.ts';

export type TaskState = 'waiting' | 'running' | 'paused' | 'cancelling' | 'done' | 'failed' | 'cancelled';

/** Actions of a task; omitted ones are unavailable. */
export interface TaskActions {
  cancel?: (() => void) | undefined;
  pause?: (() => void) | undefined;
  resume?: (() => void) | undefined;
  retry?: (() => void) | undefined;
  /** Asks the user to choose the file again, which the page can no longer read. */
  choose?: (() => void) | undefined;
}

export interface TaskBeginning {
  id: string;
  kind: string;
  name: string;
  projectId?: string | null;
}

/** Milliseconds over which the rate is measured. */
const WINDOW_MS = 5_000;
/** Server operations are shown only after this many milliseconds; most are done by then. */
const SHORT_MS = 700;
/** How long the end of an operation is remembered: a list that the server made before may arrive after it. */
const ENDED_MS = 60_000;
/** Most ended tasks kept. */
const MOST_ENDED = 20;

export class Task {
  readonly id: string;
  readonly kind: string;
  readonly name: string;
  readonly projectId: string | null;
  /** Started by this page: shown at once, and the page must stay open while `isSending`. */
  readonly isOurs: boolean;
  /** This page is sending data; leaving it would interrupt that. */
  isSending = false;
  state: TaskState = 'running';
  message = '';
  unit: 'bytes' | 'nodes' | undefined;
  total: number | undefined;
  actions: TaskActions = {};
  /** Set once the answer to this page's request is lost: the server's reports hold then. The message if it does not know the operation. */
  lost: string | undefined;
  readonly begun: number;
  #done = 0;
  #shown = 0;
  #samples: { at: number; done: number }[] = [];
  readonly #now: () => number;

  constructor({ id, kind, name, projectId = null }: TaskBeginning, isOurs: boolean, now: () => number) {
    this.id = id;
    this.kind = kind;
    this.name = name;
    this.projectId = projectId;
    this.isOurs = isOurs;
    this.#now = now;
    this.begun = now();
  }

  get isOver(): boolean {
    return this.state === 'done' || this.state === 'failed' || this.state === 'cancelled';
  }

  get done(): number {
    return this.#done;
  }

  /** The amount done. It drops after a lost connection; the rate then starts again. */
  set done(done: number) {
    if (done < this.#done) this.#samples = [];
    this.#done = done;
    const at = this.#now();
    this.#samples.push({ at, done });
    if (this.total) this.#shown = Math.max(this.#shown, Math.min(1, done / this.total));
    while (this.#samples.length > 2 && this.#samples[1]!.at < at - WINDOW_MS) this.#samples.shift();
  }

  /** From 0 to 1, never decreasing; undefined while the total is unknown. */
  get fraction(): number | undefined {
    if (this.state === 'done') return 1;
    return this.total ? this.#shown : undefined;
  }

  /** Per second, over the last seconds; undefined while paused or not known yet. */
  get rate(): number | undefined {
    const [first] = this.#samples;
    const last = this.#samples.at(-1);
    if (this.state !== 'running' || !first || !last || last.at - first.at < 500) return undefined;
    return ((last.done - first.done) * 1000) / (last.at - first.at);
  }

  /** Remaining seconds at this rate. */
  get left(): number | undefined {
    const { rate, total } = this;
    return rate && total ? Math.max(0, (total - this.#done) / rate) : undefined;
  }

  /** Pauses the task; the rate starts again afterwards. */
  rest(state: 'paused' | 'waiting', message: string): void {
    this.state = state;
    this.message = message;
    this.#samples = [];
  }
}

export interface TasksOptions {
  /** Asks the server to cancel an operation. */
  cancel: (id: string) => Promise<unknown>;
  /** Milliseconds. */
  now?: () => number;
}

function hasEnded({ state }: OperationObject): boolean {
  return state !== 'running' && state !== 'cancelling';
}

export class Tasks {
  /** Counts changes; read it to be notified. */
  readonly changes = signal(0);
  readonly #options: TasksOptions;
  readonly #now: () => number;
  readonly #tasks = new Map<string, Task>();
  /** Ids of ended operations, with the time. */
  readonly #ended = new Map<string, number>();

  constructor(options: TasksOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  /** The tasks to show, newest first. */
  list(): Task[] {
    const due = (task: Task): boolean => task.isOurs || this.#now() - task.begun >= SHORT_MS;
    return [...this.#tasks.values()].filter((task) => task.isOver || due(task)).reverse();
  }

  get isSending(): boolean {
    return [...this.#tasks.values()].some(({ isSending }) => isSending);
  }

  /** Adds a task of this page. The caller updates it and calls `changed`. */
  add(beginning: TaskBeginning): Task {
    const task = new Task(beginning, true, this.#now);
    this.#tasks.delete(task.id);
    this.#tasks.set(task.id, task);
    this.changed();
    return task;
  }

  changed(): void {
    const over = [...this.#tasks.values()].filter(({ isOver }) => isOver);
    for (const { id } of over.slice(0, Math.max(0, over.length - MOST_ENDED))) this.#tasks.delete(id);
    this.changes.value += 1;
  }

  /** Removes one or all ended tasks from the list. */
  dismiss(id?: string): void {
    for (const task of [...this.#tasks.values()]) {
      if (task.isOver && (id === undefined || task.id === id)) this.#tasks.delete(task.id);
    }
    this.changed();
  }

  /** Applies the server's report on an operation. */
  apply(operation: OperationObject): void {
    const known = this.#tasks.get(operation.operation_id);
    const isOver = hasEnded(operation);
    if (isOver) this.#ended.set(operation.operation_id, this.#now());
    else this.#ended.delete(operation.operation_id);
    for (const [id, at] of this.#ended) if (this.#now() - at > ENDED_MS) this.#ended.delete(id);
    if (!known && isOver) return;
    const task = known ?? this.#ofServer(operation);
    // The result of our request is in its answer, and an upload keeps its own state.
    const isOwn = task.isSending || task.actions.choose !== undefined;
    const isAnswered = task.isOurs && task.lost === undefined;
    if (task.isOver || (isAnswered && (isOver || isOwn))) {
      if (task.isSending && !isOver && task.kind === 'import') {
        // The page has sent more than the server has received; the server's count is for the steps after the upload.
        task.total = operation.total ?? undefined;
        if (operation.done > task.done) task.done = operation.done;
        task.message = operation.message;
      }
      this.changed();
      return;
    }
    if (!task.isOurs && isOver && this.#now() - task.begun < SHORT_MS) {
      this.#tasks.delete(task.id);
      this.changed();
      return;
    }
    this.#count(task, operation);
    task.state = operation.state;
    task.message = operation.message;
    if (!task.isOurs) task.actions = { cancel: operation.cancellable ? () => this.#cancel(task) : undefined };
    this.changed();
  }

  /** Applies the server's whole list: missing operations ended while the connection was lost. */
  read(operations: readonly OperationObject[]): void {
    const listed = new Set(operations.map(({ operation_id: id }) => id));
    for (const task of [...this.#tasks.values()]) {
      if (task.isOver || listed.has(task.id)) continue;
      if (!task.isOurs) this.#tasks.delete(task.id);
      if (task.lost === undefined) continue;
      task.state = 'failed';
      task.message = task.lost;
    }
    for (const operation of operations) {
      if (hasEnded(operation) || !this.#ended.has(operation.operation_id)) this.apply(operation);
    }
    this.changed();
  }

  #ofServer({ operation_id: id, kind, name, project_id: projectId }: OperationObject): Task {
    const task = new Task({ id, kind, name, projectId }, false, this.#now);
    this.#tasks.set(id, task);
    setTimeout(() => this.changed(), SHORT_MS);
    return task;
  }

  #count(task: Task, { done, total, unit }: OperationObject): void {
    task.unit = unit ?? undefined;
    task.total = total ?? undefined;
    if (done !== task.done) task.done = done;
  }

  #cancel(task: Task): void {
    this.#options.cancel(task.id).catch((error: unknown) => {
      task.message = sentenceOf(error);
      this.changed();
    });
  }
}
