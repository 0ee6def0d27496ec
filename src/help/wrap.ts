// Words that are laid into lines of a given width. A word may be coloured: what colours it takes no room.
import { stripVTControlCharacters } from 'node:util';
import { textWidth } from '../client/terminal/text-width.ts';

/** Columns of a text that may be coloured. */
export function shownWidth(text: string): number {
  return textWidth(stripVTControlCharacters(text));
}

/** The text with blanks behind it, so that it takes `width` columns. */
export function filled(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - shownWidth(text)));
}

/**
 * Lines of at most `width` columns. A word that is longer has a line of its own: it is not cut, so that it can be copied.
 * @param text words between blanks; a newline begins a new line
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
