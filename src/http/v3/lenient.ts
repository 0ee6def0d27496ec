// Reads values as release 3.0.6 does: `"700"` is an integer, `"no"` a truth value, null a member that is
// not given, and members that a route does not know are ignored.
import * as v from 'valibot';
import type { Schema } from '../../api/routes/definition.ts';
import { validated } from '../app/validation.ts';

/** Rounds of mending; each mends all that validation has found. */
const MOST_ROUNDS = 8;

const TRUTH: ReadonlyMap<string, boolean> = new Map([
  ...['true', 'yes', 'on', '1', 'y', 't'].map((word) => [word, true] as const),
  ...['false', 'no', 'off', '0', 'n', 'f'].map((word) => [word, false] as const),
]);

/** The truth value that a text means; undefined if it means none. */
export function truthOf(text: string): boolean | undefined {
  return TRUTH.get(text.toLowerCase());
}

type Holder = Record<string | number, unknown>;

/** The value that was meant; undefined if none was. */
function meant(value: unknown, expected: string | null): unknown {
  if (expected === 'boolean') return truthOf(String(value));
  if (typeof value !== 'string' || !/^\s*[+-]?\d+(?:\.0*)?\s*$/.test(value)) return undefined;
  return expected === 'number' ? Number(value) : undefined;
}

/** What the schemas of objects, lists, options and the like are made of, as far as a path leads through them. */
interface Parts {
  entries?: Readonly<Record<string, Schema>>;
  item?: Schema;
  value?: Schema;
  wrapped?: Schema;
  options?: readonly Schema[];
  getter?: (input: unknown) => Schema;
}

/** The schemas of which one has to fit: without what only says that a value may be missing, or is one of several. */
function alternatives(schema: Schema): Parts[] {
  const { wrapped, options, getter } = schema as Parts;
  const inner = wrapped ? [wrapped] : (options ?? (getter ? [getter(undefined)] : undefined));
  return inner === undefined ? [schema as Parts] : inner.flatMap(alternatives);
}

/** The members that the object at a path may have. */
function knownAt(schema: Schema, path: readonly (string | number)[]): ReadonlySet<string> {
  let found = alternatives(schema);
  for (const key of path)
    found = found.flatMap(({ entries, item, value }) => {
      const next = entries ? entries[key] : (item ?? value);
      return next === undefined ? [] : alternatives(next);
    });
  return new Set(found.flatMap(({ entries = {} }) => Object.keys(entries)));
}

/** Mends one finding in place. */
function mend(schema: Schema, root: unknown, issue: v.BaseIssue<unknown>): boolean {
  const path = issue.path?.map(({ key }) => key as string | number) ?? [];
  const last = path.pop();
  if (last === undefined) return false;
  const holder = path.reduce<unknown>((value, key) => (value as Holder | undefined)?.[key], root) as Holder | undefined;
  if (typeof holder !== 'object' || holder === null) return false;
  if (issue.type === 'strict_object' && issue.expected === 'never') {
    // Validation names only the first unknown member.
    const known = knownAt(schema, path);
    for (const name of Object.keys(holder)) if (name === last || !known.has(name)) delete holder[name];
    return true;
  }
  // Null stands for a member that is not given. One of a list keeps its place.
  if (holder[last] === null && !Array.isArray(holder)) return delete holder[last];
  const value = meant(holder[last], issue.expected);
  if (value === undefined) return false;
  holder[last] = value;
  return true;
}

/** Mends `value` in place where validation with this schema finds a fault that can be mended. */
export function mendAll(schema: Schema, value: unknown): void {
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const { success, issues } = v.safeParse(schema, value);
    if (success || !issues.map((issue) => mend(schema, value, issue)).includes(true)) break;
  }
}

/**
 * The validated value. `value` is changed.
 * @throws Failure `invalid` that lists all invalid members
 */
export function validatedLeniently<S extends Schema>(schema: S, value: unknown): v.InferOutput<S> {
  mendAll(schema, value);
  return validated(schema, value);
}
