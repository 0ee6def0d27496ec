// Words of a command line as a shell would split them, and the lists of properties that QEMU's options are.
import { Failure } from '../../../failures.ts';

/**
 * Splits as a POSIX shell does: blanks, quotes of both kinds, backslashes; nothing is expanded.
 * @throws Failure `conflict` for a quote that is not closed
 */
export function splitWords(text: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at]!;
    if (/\s/.test(character)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (character === "'" || character === '"') {
      const end = closing(text, at);
      const inner = text.slice(at + 1, end);
      word = (word ?? '') + (character === '"' ? inner.replace(/\\(["\\$`])/g, '$1') : inner);
      at = end;
    } else if (character === '\\') {
      at += 1;
      word = (word ?? '') + (text[at] ?? '');
    } else word = (word ?? '') + character;
  }
  if (word !== undefined) words.push(word);
  return words;
}

function closing(text: string, from: number): number {
  const quote = text[from]!;
  for (let at = from + 1; at < text.length; at += 1) {
    if (quote === '"' && text[at] === '\\') at += 1;
    else if (text[at] === quote) return at;
  }
  throw new Failure('conflict', `options: the quote ${quote} is not closed.`, { exception: 'QemuError' });
}

/** A value within a list of properties: QEMU reads two commas as one. */
export function escaped(value: string): string {
  return value.replaceAll(',', ',,');
}

/** As a shell would need it to be written. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`;
}

/** The properties of a list, in order; one without `=` has its name alone. */
export function properties(value: string): { name: string; value: string | undefined }[] {
  return value
    .replaceAll(',,', '\0')
    .split(',')
    .map((part) => {
      const at = part.indexOf('=');
      const name = at < 0 ? part : part.slice(0, at);
      return { name: name.trim(), value: at < 0 ? undefined : part.slice(at + 1).replaceAll('\0', ',') };
    });
}
