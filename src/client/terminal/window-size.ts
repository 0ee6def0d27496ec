// The size of a terminal's window; a serial line, or a terminal of a script, reports 0 by 0.
import type { WriteStream } from 'node:tty';

export function windowSize({ columns, rows }: Pick<WriteStream, 'columns' | 'rows'>): {
  columns: number;
  rows: number;
} {
  return { columns: columns || 80, rows: rows || 24 };
}
