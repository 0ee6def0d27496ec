// The state that a fabric worker is meant to have, so that a replacement worker can be built with the same ports and devices.

import type { Verb, Verbs, WireDevice } from './protocol.ts';

/**
 * What happens to the noted verbs when a verb is done. `keep`: noted in place of an earlier verb of the same kind, to be repeated in this
 * order. `close`: everything noted for its port or device is dropped. A list: the listed verbs are dropped. `pass`: nothing is noted.
 */
type Effect = 'keep' | 'close' | 'pass' | readonly Verb[];

const CABLE = ['connect', 'useVia', 'impair', 'impairDirections', 'schedule'] as const;

const EFFECTS: Readonly<Record<Verb, Effect>> = {
  createDevice: 'keep',
  configureDevice: 'keep',
  askDevice: 'pass',
  tellDevice: 'pass',
  closeDevice: 'close',
  createPort: 'keep',
  closePort: 'close',
  setDevice: 'keep',
  connect: 'keep',
  useVia: 'keep',
  impair: 'keep',
  impairDirections: 'keep',
  schedule: 'keep',
  cancelSchedule: ['schedule'],
  scheduleState: 'pass',
  disconnect: CABLE,
  startCapture: 'keep',
  stopCapture: ['startCapture'],
  statistics: 'pass',
  cableStatistics: 'pass',
  resetStatistics: 'pass',
  totals: 'pass',
  trimMemory: 'pass',
  stop: 'pass',
};

type AnyBody = Verbs[Verb]['takes'];

interface Kept {
  verb: Verb;
  body: AnyBody;
  sequence: number;
  /** In ms, as `performance.now`. */
  at: number;
}

/** The number of the port or device that a verb acts on. The port is checked first because such a verb may also name a device. */
function subjectOf(body: AnyBody): number {
  const { port, device } = body as { port?: number; device?: number };
  return port ?? device!;
}

/** Whether the verb removes something. It counts as done when the worker has ended. */
export function takesAway(verb: Verb): boolean {
  const effect = EFFECTS[verb];
  return effect === 'close' || Array.isArray(effect);
}

/** The number of the port or device that the verb closes. */
export function closes(verb: Verb, body: AnyBody): number | undefined {
  return EFFECTS[verb] === 'close' ? subjectOf(body) : undefined;
}

export class Blueprint {
  readonly #subjects = new Map<number, Map<Verb, Kept>>();
  #sequence = 0;

  /** Notes a verb that the worker has completed. */
  note<V extends Verb>(verb: V, body: Verbs[V]['takes']): void {
    const effect: Effect = EFFECTS[verb];
    if (effect === 'pass') return;
    const subject = subjectOf(body);
    if (effect === 'close') {
      this.#subjects.delete(subject);
    } else if (effect !== 'keep') {
      for (const undone of effect) this.#subjects.get(subject)?.delete(undone);
    } else if (verb === 'createPort' && (body as Verbs['createPort']['takes']).device !== null) {
      // The device is kept separately because it may later be replaced by one that is created after the port.
      const { device, ...rest } = body as Verbs['createPort']['takes'];
      this.#keep(subject, 'createPort', { ...rest, device: null });
      this.#keep(subject, 'setDevice', { port: subject, device });
    } else {
      this.#keep(subject, verb, body);
    }
  }

  /** The verbs that rebuild everything, in a valid order. */
  verbs(): { verb: Verb; body: AnyBody }[] {
    return [...this.#subjects.values()]
      .flatMap((kept) => [...kept.values()])
      .filter(({ verb, body }) => verb !== 'setDevice' || this.#has((body as Verbs['setDevice']['takes']).device))
      .sort((left, right) => left.sequence - right.sequence)
      .map(({ verb, body, at }) => ({
        verb,
        // It goes on where it would be.
        body: verb === 'schedule' ? { ...body, elapsed: performance.now() - at } : body,
      }));
  }

  #keep(subject: number, verb: Verb, body: AnyBody): void {
    const kept = this.#subjects.get(subject) ?? new Map<Verb, Kept>();
    this.#subjects.set(subject, kept);
    kept.set(verb, { verb, body, sequence: this.#sequence++, at: performance.now() });
  }

  /** Whether the device still exists. A closed device in memory leaves its ports behind. */
  #has(device: WireDevice | null): boolean {
    return device?.kind !== 'memory' || this.#subjects.has(device.device);
  }
}
