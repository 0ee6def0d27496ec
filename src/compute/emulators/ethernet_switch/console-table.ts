// Formats columns of text for a terminal.

/** The rows as lines, with two blanks between columns. */
export function table(rows: readonly (readonly (string | number)[])[]): string {
  const widths = rows.reduce<number[]>(
    (most, row) => row.map((cell, column) => Math.max(most[column] ?? 0, String(cell).length)),
    [],
  );
  const lines = rows.map((row) =>
    row
      .map((cell, column) => String(cell).padEnd(widths[column]!))
      .join('  ')
      .trimEnd(),
  );
  return lines.map((line) => `${line}\n`).join('');
}
