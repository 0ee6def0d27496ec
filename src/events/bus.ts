// Tells what happens to whoever listens. Each bus has one typed map from action to payload; each listener has a bounded queue. The last
// events are kept, so that a listener whose connection broke can go on where it was.
import { randomBytes } from 'node:crypto';
import type { ActionOf, Relayed } from '../api/events.ts';
import { Histogram } from '../host/metrics.ts';
import { frozen } from '../host/values/frozen.ts';
import { jsonCopy } from '../host/values/json-copy.ts';
import { Message } from './message.ts';
import { Subscription } from './subscription.ts';

/** Events that are kept for listeners that come back: minutes of a busy lab. */
const HISTORY = 4_096;

const LAG_BUCKETS_SECONDS = [0.0001, 0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30];

/** `Events` maps each action (`node.created` ...) to its payload. */
export class EventBus<Events extends { [Action in keyof Events]: object }> {
  /** Tells the numbers of this bus from those of one before a restart. */
  readonly epoch = randomBytes(6).toString('hex');
  /** The last events, the oldest first from `oldest` on, round and round. */
  readonly #history: (Message | undefined)[] = [];
  #oldest = 0;
  /** Seconds from an event to the moment at which a listener's stream takes it. */
  readonly lag = new Histogram(LAG_BUCKETS_SECONDS);
  readonly #subscriptions = new Set<Subscription>();
  readonly #observers: ((message: Message) => void)[] = [];
  #sequence = 0;
  /** Makes of a payload one that nobody changes any more. */
  readonly #payload: <T extends object>(event: T) => T;

  /** @param copies for payloads whose owners go on changing them: a copy is sent */
  constructor({ copies = false }: { copies?: boolean } = {}) {
    this.#payload = copies ? (event) => frozen(jsonCopy(event)) : frozen;
  }

  /** Announces an event to all listeners, or to those of one project and those of all projects. The payload is frozen. */
  emit<Action extends ActionOf<Events>>(action: Action, event: Events[Action], projectId?: string): void {
    this.#emit(action, event, projectId);
  }

  /** Announces what a compute has said, unchanged. */
  relay({ action, event, project_id: projectId }: Relayed): void {
    this.#emit(action, event, projectId);
  }

  /**
   * Sends something transient, such as progress, to listeners that asked for it. It has no number of its own and is not kept: a listener
   * that comes back reads the current state.
   */
  tell<Action extends ActionOf<Events>>(action: Action, event: Events[Action]): void {
    this.#tell(action, event);
  }

  /** The same with what a compute has said. */
  relayPassing({ action, event }: Relayed): void {
    this.#tell(action, event);
  }

  #emit(action: string, event: object, projectId: string | undefined): void {
    this.#sequence += 1;
    const message = new Message(action, this.#payload(event), projectId, this.#sequence);
    this.#keep(message);
    for (const observer of this.#observers) observer(message);
    for (const subscription of this.#subscriptions) if (subscription.wants(message)) subscription.push(message);
  }

  #tell(action: string, event: object): void {
    const message = new Message(action, this.#payload(event), undefined, this.#sequence);
    for (const subscription of this.#subscriptions)
      if (subscription.hearsPassing && subscription.admits(message)) subscription.push(message);
  }

  /**
   * A queue of what is emitted from now on: of one project (and of what names none), or of everything.
   * @param since undefined for a listener without numbers; 'now' for one that wants them from now on; or the number of the last event that it
   * had, to begin with what it has missed. What is no longer known is told as the subscription's gap.
   * @param hearsPassing also of what is told by `tell`
   * @param admits whether the listener may be told a message; everything without it
   */
  subscribe(
    projectId?: string,
    since?: string,
    hearsPassing = false,
    admits?: (message: Message) => boolean,
  ): Subscription {
    const numbering = since === undefined ? undefined : { epoch: this.epoch, position: () => this.#sequence };
    const subscription = new Subscription({
      projectId,
      numbering,
      hearsPassing,
      admits,
      taken: ({ at }) => this.lag.observe((performance.now() - at) / 1000),
      forget: () => this.#subscriptions.delete(subscription),
    });
    if (since !== undefined && since !== 'now') this.#catchUp(subscription, since);
    this.#subscriptions.add(subscription);
    return subscription;
  }

  /** Has a part of this process told of everything that is emitted, at once and for good. It must be quick and never throw. */
  observe(observer: (message: Message) => void): void {
    this.#observers.push(observer);
  }

  /** Keeps some events no longer: listeners that come back are not told them. */
  forget(isMeant: (message: Message) => boolean): void {
    for (const [index, message] of this.#history.entries())
      if (message !== undefined && isMeant(message)) this.#history[index] = undefined;
  }

  /** Events so far. */
  get emitted(): number {
    return this.#sequence;
  }

  get listenerCount(): number {
    return this.#subscriptions.size;
  }

  /** Listeners of this project's events. */
  listeners(projectId: string): number {
    let count = 0;
    for (const subscription of this.#subscriptions) if (subscription.projectId === projectId) count += 1;
    return count;
  }

  #keep(message: Message): void {
    if (this.#history.length < HISTORY) {
      this.#history.push(message);
      return;
    }
    this.#history[this.#oldest] = message;
    this.#oldest = (this.#oldest + 1) % HISTORY;
  }

  #catchUp(subscription: Subscription, since: string): void {
    const [epoch, number] = since.split('-');
    const last = Number(number);
    const kept = this.#sequence - this.#history.length;
    if (epoch !== this.epoch || !(last >= kept && last <= this.#sequence)) {
      subscription.gap = { since, position: `${this.epoch}-${this.#sequence}` };
      return;
    }
    for (let index = last - kept; index < this.#history.length; index++) {
      const message = this.#history[(this.#oldest + index) % this.#history.length];
      if (message !== undefined && subscription.wants(message)) subscription.push(message);
    }
  }

  /** Ends every subscription, saying why. */
  close(reason: string): void {
    for (const subscription of [...this.#subscriptions]) subscription.end(reason);
  }
}
