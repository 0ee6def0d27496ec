// The list of tests that may be skipped, test/allowed-skips.json, and what it says of a skip.
import { readFileSync } from 'node:fs';
import * as v from 'valibot';
import type { Skipped } from './test-files.ts';

const Pattern = v.pipe(
  v.string(),
  v.check((text) => {
    try {
      return RegExp(text, 'u') instanceof RegExp;
    } catch {
      return false;
    }
  }, 'is no regular expression'),
);

const AllowedSkip = v.strictObject({
  /** Regular expression for `file: title`. */
  tests: Pattern,
  /** Regular expression for the reason that the test gives, as a whole. */
  reason: Pattern,
  /** Who may see it skipped. */
  for: v.picklist(['root', 'user', 'both']),
  /** Why that is right. */
  why: v.pipe(v.string(), v.minLength(1)),
});

export type AllowedSkip = v.InferOutput<typeof AllowedSkip>;

/** @throws when the list is not as it should be */
export function allowedSkips(path: string): AllowedSkip[] {
  return v.parse(v.array(AllowedSkip), JSON.parse(readFileSync(path, 'utf8')));
}

export function isAllowed({ file, title, reason }: Skipped, list: readonly AllowedSkip[], isRoot: boolean): boolean {
  const who = isRoot ? 'root' : 'user';
  return list.some(
    (entry) =>
      (entry.for === 'both' || entry.for === who) &&
      RegExp(`^(?:${entry.reason})$`, 'su').test(reason) &&
      RegExp(entry.tests, 'u').test(`${file}: ${title}`),
  );
}
