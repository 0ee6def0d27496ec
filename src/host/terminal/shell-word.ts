// Words of command lines that people copy into a shell.

/** As a shell takes it, whatever it is. */
export function alwaysQuoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

/** The same, bare where it can be. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : alwaysQuoted(word);
}
