// The table of labs; only visible rows are rendered, so thousands are as fast as ten.
import type { Signal } from '@preact/signals';
import { dateInWords } from '../language.ts';
import { account } from '../model/account/account.ts';
import { shares, whyNot, whyNotChange } from '../model/account/permissions.ts';
import type { FolderRow, LabRow, Order, SortKey } from '../model/lab/lab-rows.ts';
import { api } from '../model/server/api.ts';
import { Link } from '../panels/link.tsx';
import { type RowPlace, WindowedBodies } from '../panels/windowed.tsx';
import { showExport } from '../tasks/dialogs.tsx';
import { begin } from '../tasks/page-tasks.ts';
import { WORDS } from '../words.ts';
import type { LabQuestion } from './lab-dialogs.tsx';

const words = WORDS.labs;

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
  ['changed', words.changed],
];

export function LabsTable({ rows, order, closed, attempt, ask }: LabsTableProps) {
  const { key: sorted, isDown } = order.value;
  return (
    <table class="card" aria-label={words.title} aria-rowcount={rows.length + 1}>
      <thead>
        <tr aria-rowindex={1}>
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
      <WindowedBodies
        items={rows}
        keyOf={(row) => (row.kind === 'folder' ? `folder ${row.name}` : row.project.project_id)}
        height={44}
        columns={5}
        row={(row, place) =>
          row.kind === 'folder' ? (
            <Folder row={row} closed={closed} place={place} />
          ) : (
            <Row row={row} attempt={attempt} ask={ask} place={place} />
          )
        }
      />
    </table>
  );
}

interface FolderProps {
  row: FolderRow;
  closed: Signal<ReadonlySet<string>>;
  place: RowPlace;
}

function Folder({ row: { name, labs, isOpen }, closed, place }: FolderProps) {
  const toggle = (): void => {
    const changed = new Set(closed.value);
    if (!changed.delete(name)) changed.add(name);
    closed.value = changed;
  };
  return (
    <tr class="folder" {...place}>
      <th scope="rowgroup" colSpan={5}>
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
  place: RowPlace;
}

function Row({ row: { project, name, figures, changed }, attempt, ask, place }: RowProps) {
  const path = `/projects/${project.project_id}`;
  const isOpen = project.status === 'opened';
  const why = whyNotChange(project.project_id);
  const mayChange = why === '';
  const share = shares.value.get(project.project_id);
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
    <button
      type="button"
      class={kind === 'remove' ? 'danger' : undefined}
      aria-description={project.name}
      onClick={() => ask({ kind, project, running: figures?.running ?? 0 })}
    >
      {text}
    </button>
  );
  return (
    <tr {...place}>
      <th scope="row">
        {project.damaged ? (
          <>
            {name} <small>{project.damaged}</small>
          </>
        ) : (
          <Link to={`/labs/${project.project_id}`}>{name}</Link>
        )}
        {account.value?.others && share?.owner != null && share.owner !== account.value.name && (
          <small class="tag">{WORDS.sharing.of(share.owner)}</small>
        )}
        {!mayChange && (
          <small class="tag" title={why}>
            {WORDS.sharing.watchOnly}
          </small>
        )}
      </th>
      <td>
        <span class="state" data-status={isOpen ? 'started' : 'stopped'} />{' '}
        {project.damaged ? words.damaged : isOpen ? words.opened : words.closed}
        {!project.damaged && project.auto_start && <small class="tag">{words.autoStart}</small>}
        {!project.damaged && project.auto_open && <small class="tag">{words.autoOpen}</small>}
        {!project.damaged && project.auto_close && <small class="tag">{words.autoClose}</small>}
      </td>
      <td data-title={words.running}>{hasNodes ? words.ofNodes(figures.running, figures.nodes) : ''}</td>
      <td>
        {changed !== undefined && (
          <time dateTime={new Date(changed).toISOString()} title={dateInWords(new Date(changed))}>
            {words.ago(changed, Date.now())}
          </time>
        )}
      </td>
      <td>
        <div class="actions">
          {!project.damaged && (
            <>
              {mayChange && (
                <>
                  <button type="button" aria-description={project.name} onClick={change}>
                    {isOpen ? WORDS.common.close : WORDS.common.open}
                  </button>
                  {button(words.settings, 'settings')}
                </>
              )}
              {account.value?.others && share?.may_share !== false && button(WORDS.sharing.share, 'share')}
              {whyNot('make') === '' && button(WORDS.common.duplicate, 'duplicate')}
              <button
                type="button"
                aria-description={project.name}
                onClick={() => showExport(project.project_id, project.name)}
              >
                {words.export}
              </button>
            </>
          )}
          {mayChange && button(WORDS.common.remove, 'remove')}
        </div>
      </td>
    </tr>
  );
}
