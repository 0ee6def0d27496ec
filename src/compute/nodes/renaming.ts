// The name of a node in the texts of its configurations.

/** A text's UTF-8 as a string of bytes (Latin-1): configurations of routers are handled so, as they need not be UTF-8. */
export function byteString(text: string): string {
  return Buffer.from(text).toString('latin1');
}

/** The configuration of a router, a string of bytes, with its new name. */
export function replaceHostname(configuration: string, name: string): string {
  const line = `hostname ${byteString(name)}`;
  return configuration.replace(/^hostname [^\r\n]*/gm, () => line);
}

/** Replaces whole words only, and no name that reads as a number or an address: it would match those. */
export function replaceWord(text: string, before: string, name: string): string {
  if (before === '' || /^[\d.:a-f/]*$/i.test(before)) return text;
  const word = new RegExp(`(?<![\\w.:/-])${before.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')}(?![\\w:/-])`, 'g');
  return text.replace(word, () => name);
}
