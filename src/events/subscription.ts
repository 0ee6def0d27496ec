// A listener's queue: bounded, emptied at the listener's own pace. One that cannot keep up is ended and told why, never skipped in silence.
import type { Message } from './message.ts';

/** Messages that may wait for one listener: minutes of a busy lab, a few MiB at most. */
const QUEUE_LIMIT = 10_000;

/** What `take` gives: the next message, that nothing came for a while, or that it is over and why. */
export type Taken = { kind: 'message'; message: Message } | { kind: 'silence' } | { kind: 'end'; reason: string };

/** How the events of a bus are numbered: `<epoch>-<sequence>`. */
export interface Numbering {
  epoch: string;
  /** The number of the last event. */
  position: () => number;
}

/** What a listener that came back has missed and cannot be told any more. */
export interface Gap {
  /** The number that it named. */
  since: string;
  /** The number from which on it hears everything. */
  position: string;
}

export interface SubscriptionParts {
  projectId: string | undefined;
  numbering: Numbering | undefined;
  hearsPassing: boolean;
  /** Whether its listener may be told this; everything without it. */
  admits?: ((message: Message) => boolean) | undefined;
  /** Called for each message that its listener takes. */
  taken: (message: Message) => void;
  /** Called when it is over. */
  forget: () => void;
}

export class Subscription {
  readonly projectId: string | undefined;
  /** Of a listener that wants to be able to come back. */
  readonly numbering: Numbering | undefined;
  /** Of one that asked for what is not kept, too. */
  readonly hearsPassing: boolean;
  gap: Gap | undefined;
  #queue: Message[] = [];
  #head = 0;
  #ended: string | undefined;
  #wake: (() => void) | undefined;
  #arrived: (() => void) | undefined;
  readonly #parts: SubscriptionParts;

  constructor(parts: SubscriptionParts) {
    this.#parts = parts;
    this.projectId = parts.projectId;
    this.numbering = parts.numbering;
    this.hearsPassing = parts.hearsPassing;
  }

  /** Whether the event is of its project, or of none, and one that its listener may be told. */
  wants(message: Message): boolean {
    const { projectId } = message;
    const isMeant = this.projectId === undefined || projectId === undefined || this.projectId === projectId;
    return isMeant && this.admits(message);
  }

  /** Whether its listener may be told this. */
  admits(message: Message): boolean {
    return this.#parts.admits?.(message) ?? true;
  }

  push(message: Message): void {
    if (this.#ended !== undefined) return;
    if (this.#queue.length - this.#head >= QUEUE_LIMIT) {
      this.#queue = [];
      this.#head = 0;
      this.end(
        `This listener is too slow: ${QUEUE_LIMIT} events were waiting for it. Connect again and read the current state.`,
      );
      return;
    }
    this.#queue.push(message);
    this.#wake?.();
    this.#arrived?.();
  }

  /** Ends the subscription; what already waits is still delivered. */
  end(reason = ''): void {
    if (this.#ended !== undefined) return;
    this.#ended = reason;
    this.#parts.forget();
    this.#wake?.();
    this.#arrived?.();
  }

  /** Calls `arrived` within each `push`, and at the end; for who takes by {@link takeAll}. */
  onArrival(arrived: () => void): void {
    this.#arrived = arrived;
    if (this.#queue.length > this.#head || this.#ended !== undefined) arrived();
  }

  /** What waits now, at most so many messages. */
  takeAll(most: number): Message[] {
    const end = Math.min(this.#queue.length, this.#head + most);
    const taken = this.#queue.slice(this.#head, end);
    this.#head = end;
    if (this.#head === this.#queue.length) {
      this.#queue = [];
      this.#head = 0;
    }
    for (const message of taken) this.#parts.taken(message);
    return taken;
  }

  /** Why it is over, when everything has been taken; undefined while it is not. */
  get reasonOfEnd(): string | undefined {
    return this.#head === this.#queue.length ? this.#ended : undefined;
  }

  /** The next message, or `silence` when `patience` milliseconds pass without one. */
  async take(patience: number): Promise<Taken> {
    if (this.#head === this.#queue.length && this.#ended === undefined) await this.#arrival(patience);
    if (this.#head < this.#queue.length) {
      const message = this.#queue[this.#head] as Message;
      this.#head += 1;
      if (this.#head === this.#queue.length || this.#head > 1024) {
        this.#queue = this.#queue.slice(this.#head);
        this.#head = 0;
      }
      this.#parts.taken(message);
      return { kind: 'message', message };
    }
    return this.#ended === undefined ? { kind: 'silence' } : { kind: 'end', reason: this.#ended };
  }

  #arrival(patience: number): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        this.#wake = undefined;
        resolve();
      };
      const timer = setTimeout(done, patience);
      this.#wake = done;
    });
  }
}
