// Names of several objects in a sentence.

const MOST_NAMES = 12;

/** The first names, separated by commas. */
export function namesInSentence(names: readonly string[]): string {
  return `${names.slice(0, MOST_NAMES).join(', ')}${names.length > MOST_NAMES ? ' …' : ''}`;
}
