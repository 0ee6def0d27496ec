// Event buses: each has a typed map from action to payload, and a bounded queue per listener. Recent events are kept, so that a listener
// can resume after a lost connection.
import { randomBytes } from 'node:crypto';
import { type ActionOf, KEPT_CHARACTERS, KEPT_EVENTS, type Relayed } from '../api/events.ts';
import { Histogram } from '../host/metrics.ts';
import { frozen } from '../host/values/frozen.ts';
import { jsonCopy } from '../host/values/json-copy.ts';
import { Message } from './message.ts';
import { Subscription } from './subscription.ts';

const LAG_BUCKETS_SECONDS = [0.0001, 0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30];

/** Stands in a history for the beginning of an epoch; no listener gets it. */
export const BEGIN = '';

/** Makes a bus continue the events of the previous controller. */
export interface Continuation {
  /** The previous controllers' last events, oldest first. */
  former: readonly Message[];
  /** Called with each event from now on, before any listener gets it. */
  keep: (message: Message) => void;
  /** The action by which listeners get an event; undefined if they know it from the previous controller. */
  actionOf: (message: Message) => string | undefined;
}

/** `Events` maps each action (`node.created` ...) to its payload. */
export class EventBus<Events extends { [Action in keyof Events]: object }> {
  /** Distinguishes this bus's event numbers from those before a restart. */
  readonly epoch = randomBytes(6).toString('hex');
  /** The recent events, oldest first. */
  #history: Message[] = [];
  /** Characters of the history's payloads. */
  #characters = 0;
  /** The number of the last event of each epoch that is not kept any more, in the order of the epochs. */
  readonly #dropped = new Map([[this.epoch, 0]]);
  #continuation: Continuation | undefined;
  /** Seconds from an event to its delivery to a listener's stream. */
  readonly lag = new Histogram(LAG_BUCKETS_SECONDS);
  readonly #subscriptions = new Set<Subscription>();
  readonly #observers: ((message: Message) => void)[] = [];
  #sequence = 0;
  /** Makes a payload immutable. */
  readonly #payload: <T extends object>(event: T) => T;

  /** @param copies for payloads that their owners continue to change: a copy is sent */
  constructor({ copies = false }: { copies?: boolean } = {}) {
    this.#payload = copies ? (event) => frozen(jsonCopy(event)) : frozen;
  }

  /** Emits an event to all listeners, or to those of one project and those of all projects. The payload is frozen. */
  emit<Action extends ActionOf<Events>>(action: Action, event: Events[Action], projectId?: string): void {
    this.#emit(action, event, projectId);
  }

  /** Emits a compute's event unchanged. */
  relay({ action, event, project_id: projectId }: Relayed): void {
    this.#emit(action, event, projectId);
  }

  /**
   * Sends a transient event, such as progress, to listeners that want these. It has no number and is not kept: a returning listener reads
   * the current state instead.
   */
  tell<Action extends ActionOf<Events>>(action: Action, event: Events[Action]): void {
    this.#tell(action, event);
  }

  /** Sends a compute's transient event. */
  relayPassing({ action, event }: Relayed): void {
    this.#tell(action, event);
  }

  #emit(action: string, event: object, projectId: string | undefined): void {
    this.#sequence += 1;
    const original = new Message(action, this.#payload(event), projectId, this.#sequence, this.epoch);
    const message = this.#continuation ? this.#continued(original, this.#continuation) : original;
    if (message) this.#keep(message);
    for (const observer of this.#observers) observer(original);
    if (!message) return;
    for (const subscription of this.#subscriptions) if (subscription.wants(message)) subscription.push(message);
  }

  #tell(action: string, event: object): void {
    const message = new Message(action, this.#payload(event), undefined, this.#sequence, this.epoch);
    for (const subscription of this.#subscriptions)
      if (subscription.wantsProgress && subscription.admits(message)) subscription.push(message);
  }

  /**
   * Subscribes to the events of one project (and those without a project), or to all.
   * @param since undefined: without event numbers; 'now': numbered from now on; otherwise the number of the last event received, to resume
   * after it. Events no longer kept are reported as the subscription's gap.
   * @param wantsProgress whether to receive transient events, too (see `tell`)
   * @param admits whether the listener may receive a message; all if not given
   */
  subscribe(
    projectId?: string,
    since?: string,
    wantsProgress = false,
    admits?: (message: Message) => boolean,
  ): Subscription {
    const numbering = since === undefined ? undefined : { epoch: this.epoch, position: () => this.#sequence };
    const subscription = new Subscription({
      projectId,
      numbering,
      wantsProgress,
      admits,
      taken: ({ at }) => this.lag.observe((performance.now() - at) / 1000),
      forget: () => this.#subscriptions.delete(subscription),
    });
    if (since !== undefined && since !== 'now') this.#catchUp(subscription, since);
    this.#subscriptions.add(subscription);
    return subscription;
  }

  /** Adds a permanent in-process observer, called synchronously for each event. It must be fast and never throw. */
  observe(observer: (message: Message) => void): void {
    this.#observers.push(observer);
  }

  /** Removes some events from the history, so that returning listeners do not get them. */
  forget(isMeant: (message: Message) => boolean): void {
    this.#history = this.#history.filter((message) => !isMeant(message));
    this.#characters = this.#history.reduce((sum, { characters }) => sum + characters, 0);
  }

  /** Number of events emitted. */
  get emitted(): number {
    return this.#sequence;
  }

  get listenerCount(): number {
    return this.#subscriptions.size;
  }

  /** Number of listeners of this project's events. */
  listeners(projectId: string): number {
    let count = 0;
    for (const subscription of this.#subscriptions) if (subscription.projectId === projectId) count += 1;
    return count;
  }

  #keep(message: Message): void {
    this.#history.push(message);
    this.#characters += message.characters;
    while (this.#history.length > KEPT_EVENTS || this.#characters > KEPT_CHARACTERS)
      this.#drop(this.#history.shift() as Message);
  }

  #drop({ epoch, sequence, characters }: Message): void {
    this.#characters -= characters;
    // A listener of an earlier epoch would miss this event.
    for (const earlier of this.#dropped.keys()) {
      if (earlier === epoch) break;
      this.#dropped.delete(earlier);
    }
    this.#dropped.set(epoch, sequence);
  }

  /** Continues the events of the previous controller; what was emitted here so far is dropped. Before the first listener. */
  resume(continuation: Continuation): void {
    this.#dropped.clear();
    for (const { epoch, sequence } of continuation.former)
      if (!this.#dropped.has(epoch)) this.#dropped.set(epoch, sequence - 1);
    this.#dropped.set(this.epoch, this.#sequence);
    this.#history = [];
    this.#characters = 0;
    for (const message of continuation.former) this.#keep(message);
    this.#continuation = continuation;
  }

  #continued(message: Message, { keep, actionOf }: Continuation): Message | undefined {
    const action = actionOf(message);
    if (action === undefined) return undefined;
    const { event, projectId, sequence, epoch } = message;
    const continued = action === message.action ? message : new Message(action, event, projectId, sequence, epoch);
    keep(continued);
    return continued;
  }

  #catchUp(subscription: Subscription, since: string): void {
    const [epoch = '', number] = since.split('-');
    const last = Number(number);
    const dropped = this.#dropped.get(epoch);
    if (dropped === undefined || !(last >= dropped) || (epoch === this.epoch && last > this.#sequence)) {
      subscription.gap = { since, position: `${this.epoch}-${this.#sequence}` };
      return;
    }
    const epochs = [...this.#dropped.keys()];
    const later = new Set(epochs.slice(epochs.indexOf(epoch) + 1));
    for (const message of this.#history) {
      const isMissed = message.epoch === epoch ? message.sequence > last : later.has(message.epoch);
      if (isMissed && message.action !== BEGIN && subscription.wants(message)) subscription.push(message);
    }
  }

  /** Ends all subscriptions with this reason. */
  close(reason: string): void {
    for (const subscription of [...this.#subscriptions]) subscription.end(reason);
  }
}
