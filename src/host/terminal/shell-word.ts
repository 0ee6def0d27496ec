// Quotes words of command lines that people copy into a shell.

/** Quotes a word so that a shell takes it literally. */
export function alwaysQuoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

/** The same, without quotes if they are not needed. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : alwaysQuoted(word);
}
