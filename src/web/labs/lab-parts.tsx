// What the table and the cards of labs have in common.
import type { Signal } from '@preact/signals';
import { dateInWords } from '../language.ts';
import { account } from '../model/account/account.ts';
import { shares, whyNot, whyNotChange } from '../model/account/permissions.ts';
import type { FolderRow, LabRow, Order, SortKey } from '../model/lab/lab-rows.ts';
import { api } from '../model/server/api.ts';
import type { ProjectObject } from '../model/server/types.ts';
import { Button } from '../panels/button.tsx';
import { Options } from '../panels/choice.tsx';
import { Link } from '../panels/link.tsx';
import type { MenuEntry } from '../panels/menu.tsx';
import { MenuButton } from '../panels/menu-button.tsx';
import { showExport, showLabQuestion } from '../tasks/dialogs.tsx';
import { begin } from '../tasks/page-tasks.ts';
import { WORDS } from '../words.ts';

const words = WORDS.labs;

export type Attempt = (what: string, task: () => Promise<unknown>) => Promise<boolean>;

export interface LabListProps {
  rows: readonly (LabRow | FolderRow)[];
  order: Signal<Order>;
  /** Collapsed folders. */
  closed: Signal<ReadonlySet<string>>;
  /** Ids of the selected labs. */
  selected: Signal<ReadonlySet<string>>;
  attempt: Attempt;
}

/** What labs can be sorted by; owners only if there are several accounts. */
export function sortKeys(): readonly [key: SortKey, title: string][] {
  const keys: [SortKey, string][] = [
    ['name', WORDS.common.name],
    ['state', WORDS.common.state],
    ['nodes', words.running],
    ['owner', words.owner],
    ['changed', words.changed],
  ];
  return keys.filter(([key]) => key !== 'owner' || account.value?.others);
}

/** What cards are sorted by; a table has its columns. */
export function SortBy({ order }: Pick<LabListProps, 'order'>) {
  const { key: sorted, isDown } = order.value;
  return (
    <p class="sorting">
      <label>
        {words.sortBy}{' '}
        <select
          value={sorted}
          onChange={({ currentTarget: { selectedIndex } }) => {
            order.value = { key: sortKeys()[selectedIndex]![0], isDown: false };
          }}
        >
          <Options of={sortKeys()} />
        </select>
      </label>
      <button
        type="button"
        aria-pressed={isDown}
        aria-label={words.reverse}
        title={words.reverse}
        onClick={() => {
          order.value = { key: sorted, isDown: !isDown };
        }}
      >
        <span aria-hidden="true">{isDown ? '↓' : '↑'}</span>
      </button>
    </p>
  );
}

export function keyOfRow(row: LabRow | FolderRow): string {
  return row.kind === 'folder' ? `folder ${row.name}` : row.project.project_id;
}

export function FolderButton({
  row: { name, labs, isOpen },
  closed,
}: {
  row: FolderRow;
  closed: LabListProps['closed'];
}) {
  const toggle = (): void => {
    const changed = new Set(closed.value);
    if (!changed.delete(name)) changed.add(name);
    closed.value = changed;
  };
  return (
    <button type="button" class="quiet" aria-expanded={isOpen} onClick={toggle}>
      <span aria-hidden="true">{isOpen ? '▾' : '▸'}</span> {name} <small>{labs}</small>
    </button>
  );
}

/** The lab clicked last, where a selection by Shift begins. */
let lastClicked = '';

/** Selects a lab; with Shift also those between it and the one clicked before. */
export function SelectLab({ row, rows, selected }: { row: LabRow } & Pick<LabListProps, 'rows' | 'selected'>) {
  const { project_id: id, name } = row.project;
  return (
    <input
      type="checkbox"
      aria-label={words.select(name)}
      checked={selected.value.has(id)}
      onClick={({ currentTarget, shiftKey }) => {
        const ids = rows.flatMap((one) => (one.kind === 'lab' ? [one.project.project_id] : []));
        const [from, to] = [ids.indexOf(shiftKey ? lastClicked : id), ids.indexOf(id)];
        const range = from < 0 ? [id] : ids.slice(Math.min(from, to), Math.max(from, to) + 1);
        const changed = new Set(selected.value);
        for (const one of range) currentTarget.checked ? changed.add(one) : changed.delete(one);
        selected.value = changed;
        lastClicked = id;
      }}
    />
  );
}

/** The name, a link unless the lab is damaged. */
export function LabName({ row: { project, name } }: { row: LabRow }) {
  const why = whyNotChange(project.project_id);
  return (
    <>
      {project.damaged ? (
        <>
          {name} <small>{project.damaged}</small>
        </>
      ) : (
        <Link to={`/labs/${project.project_id}`}>{name}</Link>
      )}
      {why !== '' && (
        <small class="tag" title={why}>
          {WORDS.sharing.watchOnly}
        </small>
      )}
    </>
  );
}

export function LabState({ project }: { project: ProjectObject }) {
  const { damaged, status } = project;
  const tags = [
    project.auto_start && words.autoStart,
    project.auto_open && words.autoOpen,
    project.auto_close && words.autoClose,
  ];
  return (
    <>
      <span class="state" data-status={status === 'opened' ? 'started' : 'stopped'} />{' '}
      {damaged ? words.damaged : status === 'opened' ? words.opened : words.closed}
      {!damaged &&
        tags.map(
          (tag) =>
            tag && (
              <small key={tag} class="tag">
                {tag}
              </small>
            ),
        )}
    </>
  );
}

/** Running and all nodes of an open lab; empty for others. */
export function nodesInWords({ project, figures }: LabRow): string {
  return project.status === 'opened' && figures !== undefined ? WORDS.common.outOf(figures.running, figures.nodes) : '';
}

export function Changed({ at }: { at: number | undefined }) {
  if (at === undefined) return null;
  const date = new Date(at);
  return (
    <time dateTime={date.toISOString()} title={dateInWords(date)}>
      {words.ago(at, Date.now())}
    </time>
  );
}

export function openLab({ project_id: projectId, name }: ProjectObject): Promise<unknown> {
  return begin({ kind: 'open', name, projectId }, (id) => api.post(`/projects/${projectId}/open`, {}, id));
}

export function closeLab({ project_id: id }: ProjectObject): Promise<unknown> {
  return api.post(`/projects/${id}/close`);
}

export function mayShare({ project_id: id }: ProjectObject): boolean {
  return account.value?.others === true && shares.value.get(id)?.may_share !== false;
}

interface LabActionsProps extends Pick<LabListProps, 'attempt'> {
  row: LabRow;
  /** How many have a button of their own; the others are in a menu. */
  shown: number;
}

export function LabActions({ row, attempt, shown }: LabActionsProps) {
  const { name } = row.project;
  const all = labActions(row, attempt);
  const others = all.slice(shown);
  return (
    <div class="actions">
      {all.slice(0, shown).map(({ id, words: text, isDangerous, run }) => (
        <Button key={id} class={isDangerous ? 'danger' : undefined} aria-description={name} onClick={run} text={text} />
      ))}
      {others.length > 0 && <MenuButton label={words.more} about={name} entries={others} />}
    </div>
  );
}

/** What this account can do with a lab, the most frequent first. */
function labActions({ project, figures }: LabRow, attempt: Attempt): MenuEntry[] {
  const isOpen = project.status === 'opened';
  const mayChange = whyNotChange(project.project_id) === '';
  const actions: (MenuEntry & { isFor: boolean })[] = [
    {
      id: 'open',
      words: isOpen ? WORDS.common.close : WORDS.common.open,
      isFor: !project.damaged && mayChange,
      run: () =>
        void (isOpen
          ? attempt(WORDS.common.close, () => closeLab(project))
          : attempt(WORDS.common.open, () => openLab(project))),
    },
    {
      id: 'settings',
      words: words.settings,
      isFor: !project.damaged && mayChange,
      run: () => showLabQuestion({ kind: 'settings', project }),
    },
    {
      id: 'share',
      words: WORDS.sharing.share,
      isFor: !project.damaged && mayShare(project),
      run: () => showLabQuestion({ kind: 'share', projects: [project] }),
    },
    {
      id: 'duplicate',
      words: WORDS.common.duplicate,
      isFor: !project.damaged && whyNot('make') === '',
      run: () => showLabQuestion({ kind: 'duplicate', project }),
    },
    {
      id: 'export',
      words: words.export,
      isFor: !project.damaged,
      run: () => showExport([project]),
    },
    {
      id: 'remove',
      words: WORDS.common.remove,
      isDangerous: true,
      isFor: mayChange,
      run: () => showLabQuestion({ kind: 'remove', projects: [project], running: figures?.running ?? 0 }),
    },
  ];
  return actions.filter(({ isFor }) => isFor);
}
