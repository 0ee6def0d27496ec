// The head of a table.
import type { ComponentChildren } from 'preact';

interface ColumnsProps {
  /** The box that selects all rows. */
  box?: ComponentChildren;
  titles: readonly string[];
  /** For a table that renders only visible rows and therefore states row numbers. */
  counts?: boolean;
}

export function Columns({ box, titles, counts = false }: ColumnsProps) {
  return (
    <thead>
      <tr aria-rowindex={counts ? 1 : undefined}>
        {box !== undefined && (
          <th scope="col" class="box">
            {box}
          </th>
        )}
        {titles.map((title) => (
          <th key={title} scope="col">
            {title}
          </th>
        ))}
      </tr>
    </thead>
  );
}
