// Things by the names that people give them, or by their identifiers.
import { Failure } from '../failures.ts';

/** So many characters of an identifier are enough where no other begins with them. */
const SHORT_ID = 8;

export interface Named {
  id: string;
  name: string;
}

/**
 * The one of this identifier, of this name, or whose identifier begins so.
 * @param kind in a word, for messages
 * @throws Failure `not-found`; `conflict` when it means several, with their identifiers
 */
export function findNamed<T>(kind: string, all: readonly T[], named: (one: T) => Named, wanted: string): T {
  const byId = all.find((one) => named(one).id === wanted.toLowerCase());
  if (byId !== undefined) return byId;
  const byName = all.filter((one) => named(one).name === wanted);
  const found =
    byName.length > 0 || wanted.length < SHORT_ID || !/^[0-9a-f-]+$/i.test(wanted)
      ? byName
      : all.filter((one) => named(one).id.startsWith(wanted.toLowerCase()));
  if (found.length === 1) return found[0]!;
  if (found.length > 1) {
    const ids = found.map((one) => named(one).id).join(', ');
    throw new Failure('conflict', `There are ${found.length} ${kind}s "${wanted}"; name one by its id: ${ids}`);
  }
  throw new Failure('not-found', `There is no ${kind} "${wanted}"${among(all.map((one) => named(one).name))}`);
}

/** More names than these are a list that nobody reads in an error. */
const MOST_NAMES = 8;

function among(names: readonly string[]): string {
  if (names.length === 0) return ', nor any other.';
  return names.length > MOST_NAMES ? '.' : `; there is ${names.map((name) => `"${name}"`).join(', ')}.`;
}
