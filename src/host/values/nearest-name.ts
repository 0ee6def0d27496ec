// Suggests the intended name for a misspelled one.
import { messageOf } from '../../failures.ts';

/** Number of letters to change, remove, add or swap with their neighbour. */
export function distance(one: string, other: string): number {
  const rows = [Array.from({ length: other.length + 1 }, (_, column) => column)];
  for (let row = 1; row <= one.length; row++) {
    const line = [row];
    for (let column = 1; column <= other.length; column++) {
      const same = one[row - 1] === other[column - 1];
      let least = Math.min(
        rows[row - 1]![column]! + 1,
        line[column - 1]! + 1,
        rows[row - 1]![column - 1]! + (same ? 0 : 1),
      );
      const exchanged =
        row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      if (exchanged) least = Math.min(least, rows[row - 2]![column - 2]! + 1);
      line.push(least);
    }
    rows.push(line);
  }
  return rows[one.length]![other.length]!;
}

/** Letters of a beginning that means a name. */
const LEAST_BEGINNING = 3;

/** The most similar of these names, or the only one that begins so; undefined if none is similar. */
export function nearest(given: string, names: readonly string[]): string | undefined {
  const word = given.toLowerCase().slice(0, 64);
  let found: { name: string; away: number } | undefined;
  for (const name of names) {
    const away = distance(word, name.toLowerCase().slice(0, 64));
    if (away <= Math.max(1, Math.floor(word.length / 3)) && (!found || away < found.away)) found = { name, away };
  }
  const longer = names.filter((name) => name.toLowerCase().startsWith(word));
  return found?.name ?? (word.length >= LEAST_BEGINNING && longer.length === 1 ? longer[0] : undefined);
}

/** The end of a sentence about an unknown name: `; did you mean "list"?`, or a full stop. */
export function didYouMean(given: string, names: readonly string[]): string {
  const meant = nearest(given, names);
  return meant === undefined ? '.' : `; did you mean "${meant}"?`;
}

/** The sentence for an error of `parseArgs` about wrong flags, with the intended flag. */
export function flagMistake(error: unknown, flags: readonly string[]): string {
  const [said = ''] = messageOf(error).split('. ');
  const [, flag] = /^Unknown option '--([^']+)'/.exec(said) ?? [];
  const meant = flag === undefined ? undefined : nearest(flag, flags);
  return meant === undefined ? `${said}.` : `Unknown option --${flag}; did you mean --${meant}?`;
}

/** Longer lists of names are cut in messages. */
export const MOST_NAMES = 8;

/** The end of a sentence: the intended name, or the valid ones. */
export function suggestion(given: string, names: readonly string[]): string {
  const meant = nearest(given, names);
  if (meant !== undefined) return `did you mean "${meant}"?`;
  if (names.length === 0) return 'none is available';
  const shown = names.slice(0, MOST_NAMES).join(', ');
  return `available: ${shown}${names.length > MOST_NAMES ? ' ...' : ''}`;
}
