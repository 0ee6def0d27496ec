// Wraps words to a width; colour codes in words take no room.
import { stripVTControlCharacters } from 'node:util';
import { textWidth } from '../host/terminal/text-width.ts';

/** Columns of a text that may be coloured. */
export function shownWidth(text: string): number {
  return textWidth(stripVTControlCharacters(text));
}

/** The text padded with spaces to `width` columns. */
export function filled(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - shownWidth(text)));
}

/**
 * Wraps to lines of at most `width` columns. A longer word gets its own line, uncut, so that it can be copied.
 * @param text words separated by blanks; a newline starts a new line
 */
export function wrapped(text: string, width: number): string[] {
  return text.split('\n').flatMap((paragraph) => {
    const lines: string[] = [];
    let line = '';
    let taken = 0;
    for (const word of paragraph.split(' ').filter((one) => one !== '')) {
      const room = shownWidth(word);
      if (line !== '' && taken + 1 + room > width) {
        lines.push(line);
        line = '';
      }
      taken = line === '' ? room : taken + 1 + room;
      line += line === '' ? word : ` ${word}`;
    }
    return [...lines, line];
  });
}
