// Counts and lists of names for sentences.
import { MOST_NAMES } from '../../host/values/nearest-name.ts';

/** `1 node`, `2 nodes`, of words that take an s. */
export function counted(number: number, word: string): string {
  return `${number} ${word}${number === 1 ? '' : 's'}`;
}

/** `"a", "b" and 3 more` */
export function namesInWords(names: readonly string[]): string {
  const shown = names.slice(0, MOST_NAMES).map((name) => `"${name}"`);
  const more = names.length - shown.length;
  return `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
