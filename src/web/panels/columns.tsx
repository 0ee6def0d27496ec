// The head of a table.

interface ColumnsProps {
  titles: readonly string[];
  /** For a table that renders only visible rows and therefore states row numbers. */
  counts?: boolean;
}

export function Columns({ titles, counts = false }: ColumnsProps) {
  return (
    <thead>
      <tr aria-rowindex={counts ? 1 : undefined}>
        {titles.map((title) => (
          <th key={title} scope="col">
            {title}
          </th>
        ))}
      </tr>
    </thead>
  );
}
