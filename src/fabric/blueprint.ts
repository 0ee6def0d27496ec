// What the worker has been asked for and still is to have: all that a new one needs to build the same again.

import type { Verb, Verbs, WireDevice } from './protocol.ts';

/**
 * What a verb leaves behind. `keep`: asked again, in the order of the last time, in place of the same verb before. `close`: its
 * port or device is gone with all that was kept for it. A list: these verbs are undone. `pass`: nothing.
 */
type Effect = 'keep' | 'close' | 'pass' | readonly Verb[];

const CABLE = ['connect', 'impair', 'impairDirections', 'schedule'] as const;

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
}

/** The number of the port or device that a verb is about; a port's comes first, as its device may be named, too. */
function subjectOf(body: AnyBody): number {
  const { port, device } = body as { port?: number; device?: number };
  return port ?? device!;
}

/** Whether a verb takes something away: such a wish is fulfilled when the thread is no more. */
export function takesAway(verb: Verb): boolean {
  const effect = EFFECTS[verb];
  return effect === 'close' || Array.isArray(effect);
}

/** The number of the port or device that the verb ends. */
export function closes(verb: Verb, body: AnyBody): number | undefined {
  return EFFECTS[verb] === 'close' ? subjectOf(body) : undefined;
}

export class Blueprint {
  readonly #subjects = new Map<number, Map<Verb, Kept>>();
  #sequence = 0;

  /** Notes a verb that the worker has done. */
  note<V extends Verb>(verb: V, body: Verbs[V]['takes']): void {
    const effect: Effect = EFFECTS[verb];
    if (effect === 'pass') return;
    const subject = subjectOf(body);
    if (effect === 'close') {
      this.#subjects.delete(subject);
    } else if (effect !== 'keep') {
      for (const undone of effect) this.#subjects.get(subject)?.delete(undone);
    } else if (verb === 'createPort' && (body as Verbs['createPort']['takes']).device !== null) {
      // Apart, as it may be exchanged for a device that is made later.
      const { device, ...rest } = body as Verbs['createPort']['takes'];
      this.#keep(subject, 'createPort', { ...rest, device: null });
      this.#keep(subject, 'setDevice', { port: subject, device });
    } else {
      this.#keep(subject, verb, body);
    }
  }

  /** The verbs that build it all, in an order in which they can be done. */
  verbs(): { verb: Verb; body: AnyBody }[] {
    return [...this.#subjects.values()]
      .flatMap((kept) => [...kept.values()])
      .filter(({ verb, body }) => verb !== 'setDevice' || this.#has((body as Verbs['setDevice']['takes']).device))
      .sort((left, right) => left.sequence - right.sequence);
  }

  #keep(subject: number, verb: Verb, body: AnyBody): void {
    const kept = this.#subjects.get(subject) ?? new Map<Verb, Kept>();
    this.#subjects.set(subject, kept);
    kept.set(verb, { verb, body, sequence: this.#sequence++ });
  }

  /** Whether the device is there: one in memory leaves its ports behind when it is closed. */
  #has(device: WireDevice | null): boolean {
    return device?.kind !== 'memory' || this.#subjects.has(device.device);
  }
}
