// Tables with headings, fitted to the terminal.
import { harmless } from './terminal-text.ts';
import { fitted, padded, textWidth } from './text-width.ts';

const GAP = 2;
/** So many columns of a cell say something still: of an identifier enough to name it by. */
const LEAST = 9;

/**
 * The lines of a table.
 * @param width of the terminal; without one no cell is cut
 */
export function tableLines(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  width = Number.POSITIVE_INFINITY,
): string[] {
  const cells = [headings, ...rows].map((row) => row.map(harmless));
  const widths = headings.map((_, column) => Math.max(...cells.map((row) => textWidth(row[column] ?? ''))));
  const total = (): number => widths.reduce((sum, one) => sum + one + GAP, -GAP);
  // The widest gives a column until all fit, or none has one to give.
  for (let over = total() - width; over > 0; over--) {
    const widest = Math.max(...widths);
    if (widest <= LEAST) break;
    widths[widths.lastIndexOf(widest)] = widest - 1;
  }
  return cells.map((row) => {
    const line = row.map((cell, column) => padded(fitted(cell, widths[column]!), widths[column]!));
    return fitted(line.join(' '.repeat(GAP)).trimEnd(), width);
  });
}
