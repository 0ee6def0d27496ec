// Where another host can become the controller: keeps events in the replicated log, and acknowledges a change only when its events are there.
// The next controller continues them, so that a client that comes back with `?since=` gets what it missed.
import { KEPT_EVENTS } from '../api/events.ts';
import { BEGIN, type EventBus } from '../events/bus.ts';
import { Message } from '../events/message.ts';
import { messageOf } from '../failures.ts';
import { log } from '../host/log.ts';
import type { StoredEvent, StoredEvents } from '../store/events.ts';
import type { Announcer } from './events.ts';

/** Events in one change of the log: while that takes none, each attempt costs no more. */
const AT_ONCE = 256;
/** A larger event, such as of a drawing with a large picture, is not kept: the next controller reports a gap. */
const LARGEST_CHARACTERS = 64 * 1024;
const GAP = 'notifications.gap';
/** Not kept: the next controller has its own. */
const LOG = /^log\./;
const STATISTICS = /_usage_percent$/;

const withoutStatistics = (event: object): string =>
  JSON.stringify(Object.entries(event).filter(([name]) => !STATISTICS.test(name)));

type Bus = Pick<EventBus<object>, 'resume' | 'relay' | 'epoch' | 'emitted'>;

interface KeptEventsParts {
  announcer: Announcer;
  stored: StoredEvents;
  /** Ids of the labs that the previous controller had open. */
  leftOpen: () => readonly string[];
  /** Whether the lab is not open again yet. */
  isReopening: (projectId: string) => boolean;
}

export class KeptEvents {
  readonly #parts: KeptEventsParts;
  #isStarted = false;
  #waiting: StoredEvent[] = [];
  #storing: Promise<void> | undefined;
  #requests = 0;
  /** Buses that lost events which waited to be stored. */
  #cut = new Set<string>();
  /** Labs deleted since the last events were taken to be stored. */
  readonly #forgotten = new Set<string>();
  /** Labs whose clients know that they are open. */
  #reopening = new Set<string>();
  /** The last event of each compute, without statistics. */
  readonly #computes = new Map<unknown, string>();

  constructor(parts: KeptEventsParts) {
    this.#parts = parts;
  }

  /** Continues the events of the previous controller. Before the first listener. */
  async start(): Promise<void> {
    const { stored, announcer, leftOpen } = this.#parts;
    const [former, areComplete] = [await stored.list(), await stored.areComplete()];
    stored.countChanges();
    this.#reopening = new Set(leftOpen());
    const { controller, project } = announcer;
    announcer.forgotten = (projectId) => this.#forget(projectId);
    const buses: Record<string, Bus> = { controller, project };
    for (const [name, bus] of Object.entries(buses)) {
      const own = former.filter((event) => event.bus === name);
      bus.resume({
        former: own.map(
          ({ action, event, projectId, number, epoch }) => new Message(action, event, projectId, number, epoch),
        ),
        keep: (message) => this.#keep(name, message),
        actionOf: (message) => this.#actionOf(message),
      });
      const begin = { bus: name, epoch: bus.epoch, number: bus.emitted, projectId: undefined };
      this.#waiting.push({ ...begin, action: BEGIN, event: {} });
      const last = own.at(-1);
      if (last && !areComplete) {
        const message = 'The previous controller ended during a change: read the current state again.';
        bus.relay({ action: GAP, event: { message, since: `${last.epoch}-${last.number}` } });
      }
    }
    this.#isStarted = true;
    await this.settled();
  }

  #actionOf({ action, event, projectId }: Message): string | undefined {
    const { project_id: id } = event as { project_id?: string };
    if (action === 'project.opened') return this.#reopening.delete(id ?? '') ? undefined : action;
    if (projectId === undefined || !this.#reopening.has(projectId) || !this.#parts.isReopening(projectId))
      return action;
    // Where nodes run, and whether they do, may be different now.
    if (action === 'node.created') return 'node.updated';
    return action.endsWith('.created') ? undefined : action;
  }

  #keep(bus: string, { action, event, projectId, sequence, epoch, characters }: Message): void {
    if (LOG.test(action)) return;
    if (action === 'compute.updated') {
      const { compute_id: id } = event as { compute_id?: unknown };
      const text = withoutStatistics(event);
      if (this.#computes.get(id) === text) return;
      this.#computes.set(id, text);
    }
    const { project_id: id } = event as { project_id?: unknown };
    const lab = projectId ?? (typeof id === 'string' ? id : undefined);
    if (characters > LARGEST_CHARACTERS) {
      this.#waiting = this.#waiting.filter((earlier) => earlier.bus !== bus);
      this.#cut.add(bus);
    } else this.#waiting.push({ bus, epoch, number: sequence, projectId: lab, action, event });
    this.#dropOldest();
    if (this.#isStarted) void this.settled();
  }

  #dropOldest(): void {
    const excess = this.#waiting.length - KEPT_EVENTS;
    if (excess <= 0) return;
    for (const { bus } of this.#waiting.splice(0, excess)) this.#cut.add(bus);
  }

  /** Runs a request that may change something; resolves when its events are in the log. */
  async during(request: () => Promise<void>): Promise<void> {
    this.#requests += 1;
    try {
      await request();
    } finally {
      this.#requests -= 1;
      await this.settled();
    }
  }

  /** Resolves when all events that were emitted so far are in the log, or cannot be stored now. */
  async settled(): Promise<void> {
    // One that has begun may not have the last events.
    await this.#storing;
    this.#storing ??= this.#store().finally(() => {
      this.#storing = undefined;
    });
    await this.#storing;
  }

  async #store(): Promise<void> {
    let left = this.#waiting.length;
    do {
      const events = this.#waiting.splice(0, AT_ONCE);
      this.#forgotten.clear();
      left -= events.length;
      const cut = this.#cut;
      this.#cut = new Set();
      // Events of a change are emitted before its request ends.
      const isComplete = this.#waiting.length === 0 && this.#requests === 0;
      try {
        await this.#parts.stored.add(events, { isComplete, cut });
      } catch (error) {
        // Events from before a cut must not come back: the next controller would report no gap.
        const isKept = ({ bus, projectId }: StoredEvent): boolean =>
          !this.#forgotten.has(projectId ?? '') && !this.#cut.has(bus);
        this.#waiting = [...events.filter(isKept), ...this.#waiting];
        for (const bus of cut) this.#cut.add(bus);
        this.#dropOldest();
        log.debug('events are not kept for the next controller', { reason: messageOf(error) });
        return;
      }
    } while (left > 0 && this.#waiting.length > 0);
  }

  /** The lab is deleted, or replaced by another one with its id. */
  #forget(projectId: string): void {
    this.#waiting = this.#waiting.filter((event) => event.projectId !== projectId);
    this.#forgotten.add(projectId);
    // Its last events may be on their way into the log.
    Promise.resolve(this.#storing)
      .then(() => this.#parts.stored.forget(projectId))
      .catch((error: unknown) => {
        log.debug('events of a deleted lab are not forgotten', { reason: messageOf(error) });
      });
  }
}
