// The table of labs. Rows are made as they come into sight: thousands of labs are as quick as ten.
import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { account } from '../model/account.ts';
import { api } from '../model/api.ts';
import type { FolderRow, LabRow, Order, SortKey } from '../model/lab-rows.ts';
import { Link } from '../panels/link.tsx';
import { showExport } from '../tasks/dialogs.tsx';
import { begin } from '../tasks/page-tasks.ts';
import { WORDS } from '../words.ts';
import type { LabQuestion } from './lab-dialogs.tsx';

const words = WORDS.labs;
const ROWS_AT_ONCE = 100;

interface LabsTableProps {
  rows: readonly (LabRow | FolderRow)[];
  order: Signal<Order>;
  closed: Signal<ReadonlySet<string>>;
  attempt: (what: string, task: () => Promise<unknown>) => Promise<boolean>;
  ask: (question: LabQuestion) => void;
}

const COLUMNS: readonly [key: SortKey, title: string][] = [
  ['name', WORDS.common.name],
  ['state', WORDS.common.state],
  ['nodes', words.running],
];

export function LabsTable({ rows, order, closed, attempt, ask }: LabsTableProps) {
  const made = useSignal(ROWS_AT_ONCE);
  const end = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const seen = new IntersectionObserver(
      ([entry]) => {
        if (entry?.isIntersecting) made.value += ROWS_AT_ONCE;
      },
      { rootMargin: '600px' },
    );
    if (end.current) seen.observe(end.current);
    return () => seen.disconnect();
    // Seen anew after each lot, since it may still be in sight then.
  }, [made, made.value]);
  const { key: sorted, isDown } = order.value;
  return (
    <>
      <table>
        <thead>
          <tr>
            {COLUMNS.map(([key, title]) => (
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
        <tbody>
          {rows
            .slice(0, made.value)
            .map((row) =>
              row.kind === 'folder' ? (
                <Folder key={`folder ${row.name}`} row={row} closed={closed} />
              ) : (
                <Row key={row.project.project_id} row={row} attempt={attempt} ask={ask} />
              ),
            )}
        </tbody>
      </table>
      {rows.length > made.value && <p class="busy">{words.more(rows.length - made.value)}</p>}
      <div ref={end} />
    </>
  );
}

function Folder({ row: { name, labs, isOpen }, closed }: { row: FolderRow; closed: Signal<ReadonlySet<string>> }) {
  const toggle = (): void => {
    const changed = new Set(closed.value);
    if (!changed.delete(name)) changed.add(name);
    closed.value = changed;
  };
  return (
    <tr class="folder">
      <th scope="rowgroup" colSpan={4}>
        <button type="button" class="quiet" aria-expanded={isOpen} onClick={toggle}>
          <span aria-hidden="true">{isOpen ? '▾' : '▸'}</span> {name} <small>{labs}</small>
        </button>
      </th>
    </tr>
  );
}

interface RowProps {
  row: LabRow;
  attempt: LabsTableProps['attempt'];
  ask: LabsTableProps['ask'];
}

function Row({ row: { project, name, figures }, attempt, ask }: RowProps) {
  const path = `/projects/${project.project_id}`;
  const isOpen = project.status === 'opened';
  const hasNodes = isOpen && figures !== undefined;
  const change = (): void =>
    void attempt(isOpen ? WORDS.common.close : WORDS.common.open, () =>
      isOpen
        ? api.post(`${path}/close`)
        : begin({ kind: 'open', name: project.name, projectId: project.project_id }, (id) =>
            api.post(`${path}/open`, {}, id),
          ),
    );
  const button = (text: string, kind: LabQuestion['kind']) => (
    <button type="button" onClick={() => ask({ kind, project, running: figures?.running ?? 0 })}>
      {text}
    </button>
  );
  return (
    <tr>
      <th scope="row">
        {project.damaged ? (
          <>
            {name} <small>{project.damaged}</small>
          </>
        ) : (
          <Link to={`/labs/${project.project_id}`}>{name}</Link>
        )}
      </th>
      <td data-title={WORDS.common.state}>
        <span class="state" data-status={isOpen ? 'started' : 'stopped'} />{' '}
        {project.damaged ? words.damaged : isOpen ? words.opened : words.closed}
        {!project.damaged && project.auto_start && <small class="tag">{words.autoStart}</small>}
        {!project.damaged && project.auto_open && <small class="tag">{words.autoOpen}</small>}
        {!project.damaged && project.auto_close && <small class="tag">{words.autoClose}</small>}
      </td>
      <td data-title={words.running}>{hasNodes ? words.ofNodes(figures.running, figures.nodes) : ''}</td>
      <td>
        <div class="actions">
          {!project.damaged && (
            <>
              <button type="button" onClick={change}>
                {isOpen ? WORDS.common.close : WORDS.common.open}
              </button>
              {button(words.settings, 'settings')}
              {account.value?.others && button(WORDS.sharing.share, 'share')}
              {button(WORDS.common.duplicate, 'duplicate')}
              <button type="button" onClick={() => showExport(project.project_id, project.name)}>
                {words.export}
              </button>
            </>
          )}
          {button(WORDS.common.remove, 'remove')}
        </div>
      </td>
    </tr>
  );
}
