// Reads values as release 3.0.6 does: `"700"` is an integer, `"no"` a truth value, and members that a route does not know are ignored.
import * as v from 'valibot';
import { type Schema, validated } from '../app/validation.ts';

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

/** Mends one finding in place. */
function mend(root: unknown, issue: v.BaseIssue<unknown>): boolean {
  const path = issue.path?.map(({ key }) => key as string | number) ?? [];
  const last = path.pop();
  if (last === undefined) return false;
  const holder = path.reduce<unknown>((value, key) => (value as Holder | undefined)?.[key], root) as Holder | undefined;
  if (typeof holder !== 'object' || holder === null) return false;
  if (issue.type === 'strict_object' && issue.expected === 'never') return delete holder[last];
  const value = meant(holder[last], issue.expected);
  if (value === undefined) return false;
  holder[last] = value;
  return true;
}

/**
 * The validated value. `value` is changed.
 * @throws Failure `invalid` that lists all invalid members
 */
export function validatedLeniently<S extends Schema>(schema: S, value: unknown): v.InferOutput<S> {
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const { success, issues } = v.safeParse(schema, value);
    if (success || !issues.map((issue) => mend(value, issue)).includes(true)) break;
  }
  return validated(schema, value);
}
