// A listener's bounded queue. A listener that is too slow is ended with a reason; no message is skipped silently.
import type { Message } from './message.ts';

/** Maximum queued messages: minutes of a busy lab, a few MiB at most. */
const QUEUE_LIMIT = 10_000;

/** Maximum characters in a queue: more than the pictures of a lab that is opened, and the events kept for a listener that returns. */
const CHARACTERS_LIMIT = 128 * 1024 * 1024;

/** Result of `take`: the next message, a timeout without messages, or the end with its reason. */
export type Taken = { kind: 'message'; message: Message } | { kind: 'silence' } | { kind: 'end'; reason: string };

/** The numbering of a bus's events: `<epoch>-<sequence>`. */
export interface Numbering {
  epoch: string;
  /** Number of the last event. */
  position: () => number;
}

/** Events that a returning listener has missed and that are no longer kept. */
export interface Gap {
  /** The number that the listener gave. */
  since: string;
  /** The number after which it receives everything. */
  position: string;
}

export interface SubscriptionParts {
  projectId: string | undefined;
  numbering: Numbering | undefined;
  wantsProgress: boolean;
  /** Whether the listener may receive a message; all if not given. */
  admits?: ((message: Message) => boolean) | undefined;
  /** Called for each message taken. */
  taken: (message: Message) => void;
  /** Called at the end. */
  forget: () => void;
}

export class Subscription {
  readonly projectId: string | undefined;
  /** Set for a listener that can resume. */
  readonly numbering: Numbering | undefined;
  /** Whether the listener receives transient events, too. */
  readonly wantsProgress: boolean;
  gap: Gap | undefined;
  #queue: Message[] = [];
  #head = 0;
  /** Characters of the messages that were queued and are not taken. */
  #characters = 0;
  #ended: string | undefined;
  #wake: (() => void) | undefined;
  #arrived: (() => void) | undefined;
  readonly #parts: SubscriptionParts;

  constructor(parts: SubscriptionParts) {
    this.#parts = parts;
    this.projectId = parts.projectId;
    this.numbering = parts.numbering;
    this.wantsProgress = parts.wantsProgress;
  }

  /** Whether the event is for this listener: of its project or of none, and allowed. */
  wants(message: Message): boolean {
    const { projectId } = message;
    const isMeant = this.projectId === undefined || projectId === undefined || this.projectId === projectId;
    return isMeant && this.admits(message);
  }

  /** Whether the listener may receive the message. */
  admits(message: Message): boolean {
    return this.#parts.admits?.(message) ?? true;
  }

  push(message: Message): void {
    if (this.#ended !== undefined) return;
    const waiting = this.#queue.length - this.#head;
    if (waiting >= QUEUE_LIMIT || this.#characters > CHARACTERS_LIMIT) {
      this.#queue = [];
      this.#head = 0;
      this.end(
        `This listener is too slow: ${waiting} events were waiting for it. Connect again and read the current state.`,
      );
      return;
    }
    this.#queue.push(message);
    this.#characters += message.characters;
    this.#wake?.();
    this.#arrived?.();
  }

  /** Ends the subscription; queued messages are still delivered. */
  end(reason = ''): void {
    if (this.#ended !== undefined) return;
    this.#ended = reason;
    this.#parts.forget();
    this.#wake?.();
    this.#arrived?.();
  }

  /** Calls `arrived` synchronously at each `push` and at the end, for use with {@link takeAll}. */
  onArrival(arrived: () => void): void {
    this.#arrived = arrived;
    if (this.#queue.length > this.#head || this.#ended !== undefined) arrived();
  }

  /** Takes the queued messages, at most `most`. */
  takeAll(most: number): Message[] {
    const end = Math.min(this.#queue.length, this.#head + most);
    const taken = this.#queue.slice(this.#head, end);
    this.#head = end;
    if (this.#head === this.#queue.length) {
      this.#queue = [];
      this.#head = 0;
    }
    for (const message of taken) this.#take(message);
    return taken;
  }

  /** The reason of the end, once all messages are taken; undefined before. */
  get reasonOfEnd(): string | undefined {
    return this.#head === this.#queue.length ? this.#ended : undefined;
  }

  /** The next message, or `silence` after `patience` milliseconds without one. */
  async take(patience: number): Promise<Taken> {
    if (this.#head === this.#queue.length && this.#ended === undefined) await this.#arrival(patience);
    if (this.#head < this.#queue.length) {
      const message = this.#queue[this.#head] as Message;
      this.#head += 1;
      if (this.#head === this.#queue.length || this.#head > 1024) {
        this.#queue = this.#queue.slice(this.#head);
        this.#head = 0;
      }
      this.#take(message);
      return { kind: 'message', message };
    }
    return this.#ended === undefined ? { kind: 'silence' } : { kind: 'end', reason: this.#ended };
  }

  #take(message: Message): void {
    this.#characters -= message.characters;
    this.#parts.taken(message);
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
