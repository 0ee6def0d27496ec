// Fields of objects, as the undo history records and compares them.
import { OMITTED_AT } from '../../../api/kinds/absent-settings.ts';
import { WORDS } from '../../words.ts';
import type { ScheduleObject } from '../server/types.ts';

export type Fields = Readonly<Record<string, unknown>>;
export type Thing = 'node' | 'link' | 'drawing';

/** The members of `now` that are also in `fields`; for properties, only the same ones, because they change individually. */
export function alike(fields: Fields, now: Fields): Fields {
  const { properties } = fields;
  const picked = pick(now, Object.keys(fields));
  if (properties === null || typeof properties !== 'object') return picked;
  return { ...picked, properties: pick((now['properties'] ?? {}) as object, Object.keys(properties)) };
}

/** A member that the server's answer omits at its default has it: the reverse request must state it. */
export function pick(object: object, keys: readonly string[]): Fields {
  return Object.fromEntries(keys.map((key) => [key, (object as Fields)[key] ?? OMITTED_AT[key] ?? null]));
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
