// The table of labs; only visible rows are rendered, so thousands are as fast as ten.
import { account } from '../model/account/account.ts';
import type { LabRow } from '../model/lab/lab-rows.ts';
import { type RowPlace, WindowedBodies } from '../panels/long-list.tsx';
import { WORDS } from '../words.ts';
import {
  Changed,
  FolderButton,
  keyOfRow,
  LabActions,
  type LabListProps,
  LabName,
  LabState,
  nodesInWords,
  SelectLab,
  sortKeys,
} from './lab-parts.tsx';

const words = WORDS.labs;

export function LabsTable(props: LabListProps) {
  const { rows, order, closed, selected } = props;
  const { key: sorted, isDown } = order.value;
  const keys = sortKeys();
  // Boxes and actions have a column, too.
  const columns = keys.length + 2;
  const ids = rows.flatMap((row) => (row.kind === 'lab' ? [row.project.project_id] : []));
  const isAny = ids.some((id) => selected.value.has(id));
  const isAll = isAny && ids.every((id) => selected.value.has(id));
  return (
    <table class="card rows" aria-label={words.title} aria-rowcount={rows.length + 1}>
      <thead>
        <tr aria-rowindex={1}>
          <th scope="col" class="box">
            <input
              type="checkbox"
              aria-label={words.selectAll}
              checked={isAll}
              indeterminate={isAny && !isAll}
              onClick={() => {
                selected.value = new Set(isAll ? [] : ids);
              }}
            />
          </th>
          {keys.map(([key, title]) => (
            <th key={key} scope="col" aria-sort={sorted === key ? (isDown ? 'descending' : 'ascending') : undefined}>
              <button
                type="button"
                class="quiet"
                onClick={() => {
                  order.value = { key, isDown: sorted === key && !isDown };
                }}
              >
                {title} <span aria-hidden="true">{sorted === key ? (isDown ? '↓' : '↑') : ''}</span>
              </button>
            </th>
          ))}
          <th scope="col">{WORDS.common.actions}</th>
        </tr>
      </thead>
      <WindowedBodies
        items={rows}
        keyOf={keyOfRow}
        height={44}
        columns={columns}
        row={(row, place) =>
          row.kind === 'folder' ? (
            <tr class="folder" {...place}>
              <th scope="rowgroup" colSpan={columns}>
                <FolderButton row={row} closed={closed} />
              </th>
            </tr>
          ) : (
            <Row {...props} row={row} place={place} />
          )
        }
      />
    </table>
  );
}

function Row({ row, rows, selected, attempt, place }: LabListProps & { row: LabRow; place: RowPlace }) {
  const { project, owner, changed } = row;
  return (
    <tr {...place}>
      <td class="box">
        <SelectLab row={row} rows={rows} selected={selected} />
      </td>
      <th scope="row">
        <LabName row={row} />
      </th>
      <td>
        <LabState project={project} />
      </td>
      <td data-title={words.running}>{nodesInWords(row)}</td>
      {account.value?.others && <td data-title={words.owner}>{owner}</td>}
      <td>
        <Changed at={changed} />
      </td>
      <td>
        <LabActions row={row} attempt={attempt} shown={3} />
      </td>
    </tr>
  );
}
