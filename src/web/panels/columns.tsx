// The head of a table.

interface ColumnsProps {
  titles: readonly string[];
  /** Of a table that has only the rows in sight, and so counts them. */
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
