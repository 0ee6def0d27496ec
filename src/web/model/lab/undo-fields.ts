// Fields of objects, as the undo history records and compares them.
import { WORDS } from '../../words.ts';
import type { ScheduleObject } from '../server/types.ts';

export type Fields = Readonly<Record<string, unknown>>;
export type Thing = 'node' | 'link' | 'drawing';

/** Omitted from the server's answers at their default; the reverse request states it. */
const UNTOLD: Fields = { start_order: 0, start_delay: 0 };

/** The members of `now` that are also in `fields`; for properties, only the same ones, because they change individually. */
export function alike(fields: Fields, now: Fields): Fields {
  const { properties } = fields;
  const picked = pick(now, Object.keys(fields));
  if (properties === null || typeof properties !== 'object') return picked;
  return { ...picked, properties: pick((now['properties'] ?? {}) as object, Object.keys(properties)) };
}

export function pick(object: object, keys: readonly string[]): Fields {
  return Object.fromEntries(keys.map((key) => [key, (object as Fields)[key] ?? UNTOLD[key] ?? null]));
}

export function idOf(kind: Thing, object: Fields): string {
  return String(object[`${kind}_id`]);
}

interface ScheduleNow {
  state: ScheduleObject['state'];
  plan: object | null;
}

/** The schedule of a link, as a request would start it again. */
export function scheduled({ state, steps, rounds, period }: ScheduleObject): ScheduleNow {
  if (state === 'none' || state === 'cancelled') return { state, plan: null };
  return { state, plan: { steps, rounds, ...(period != null && { period }) } };
}

export function nameOf(kind: Thing, object: object | undefined): string {
  return String((object as { name?: string } | undefined)?.name ?? WORDS.undo.things[kind]);
}
