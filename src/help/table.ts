// A document's table: in columns if they fit, otherwise row by row.
import { stripVTControlCharacters } from 'node:util';
import { filled, shownWidth, wrapped } from './wrap.ts';

const GAP = 2;
/** A narrower column of prose is unreadable. */
const LEAST = 14;

/** Column widths; undefined if they do not fit. */
function widthsOf(rows: readonly (readonly string[])[], columns: number, width: number): number[] | undefined {
  const over = (measure: (cell: string) => number) =>
    Array.from({ length: columns }, (_, column) => Math.max(0, ...rows.map((row) => measure(row[column] ?? ''))));
  const widths = over(shownWidth);
  const longestWord = (cell: string): number => Math.max(...cell.split(/[ \n]/).map(shownWidth));
  const least = over((cell) => Math.max(longestWord(cell), Math.min(shownWidth(cell), LEAST)));
  const room = width - GAP * (columns - 1);
  const sum = (list: readonly number[]): number => list.reduce((total, one) => total + one, 0);
  if (sum(least) > room) return undefined;
  // Narrows the widest column until all fit.
  while (sum(widths) > room) {
    const spare = widths.map((one, column) => (one > (least[column] ?? 0) ? one : 0));
    const widest = Math.max(...spare);
    widths[spare.indexOf(widest)] = widest - 1;
  }
  return widths;
}

/**
 * @param headings empty texts where the table has none
 * @returns lines of at most `width` columns, except for words that are longer
 */
export function documentTable(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  width: number,
): string[] {
  const hasHeadings = headings.some((heading) => stripVTControlCharacters(heading) !== '');
  const all = hasHeadings ? [headings, ...rows] : rows;
  const widths = widthsOf(all, headings.length, width);
  if (widths === undefined) {
    return rows.flatMap((row, index) => [
      ...(index === 0 ? [] : ['']),
      ...row.flatMap((cell, column) => {
        if (cell === '') return [];
        const heading = headings[column] ?? '';
        const label = heading === '' ? '' : `${heading}: `;
        return wrapped(label + cell, width - GAP).map((line, at) =>
          column + at === 0 ? line : `${' '.repeat(GAP)}${line}`,
        );
      }),
    ]);
  }
  const gap = ' '.repeat(GAP);
  const line = (row: readonly string[]): string[] => {
    const cells = widths.map((room, column) => wrapped(row[column] ?? '', room));
    const height = Math.max(...cells.map((cell) => cell.length));
    return Array.from({ length: height }, (_, at) =>
      cells
        .map((cell, column) => filled(cell[at] ?? '', widths[column] ?? 0))
        .join(gap)
        .trimEnd(),
    );
  };
  const isTall = rows.some((row) => line(row).length > 1);
  const body = rows.flatMap((row, index) => [...(isTall && index > 0 ? [''] : []), ...line(row)]);
  if (!hasHeadings) return body;
  return [...line(headings), widths.map((room) => '─'.repeat(room)).join(gap), ...body];
}
