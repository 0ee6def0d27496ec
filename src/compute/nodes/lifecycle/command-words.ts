// Splits a command line into words as a POSIX shell does: blanks, quotes of both kinds, backslashes, but no expansion.
import { conflict } from '../../../failures.ts';

/**
 * @param refusal member and exception named in errors
 * @throws Failure `conflict` for a quote that is not closed
 */
export function splitWords(text: string, refusal: { member: string; exception: string }): string[] {
  const words: string[] = [];
  let word: string | undefined;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at]!;
    if (/\s/.test(character)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (character === "'" || character === '"') {
      const end = closing(text, at);
      if (end === undefined) {
        const { member, exception } = refusal;
        throw conflict(`${member}: the quote ${character} is not closed.`, { exception });
      }
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

function closing(text: string, from: number): number | undefined {
  const quote = text[from]!;
  for (let at = from + 1; at < text.length; at += 1) {
    if (quote === '"' && text[at] === '\\') at += 1;
    else if (text[at] === quote) return at;
  }
  return undefined;
}
