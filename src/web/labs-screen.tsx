// The list of labs, as a table or as cards: search, sort, create, import, and the actions of one or several labs.
import { useComputed, useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { SortBy } from './labs/lab-parts.tsx';
import { LabsTable } from './labs/labs-table.tsx';
import { shares, useShares, whyNot } from './model/account/permissions.ts';
import { remembered } from './model/browser/remembered.ts';
import { buildDemonstration } from './model/lab/demonstration.ts';
import { freeName } from './model/lab/free-name.ts';
import { type LabRow, labRows, type Order } from './model/lab/lab-rows.ts';
import { Labs } from './model/lab/labs.ts';
import { api } from './model/server/api.ts';
import { sentenceOf } from './model/server/sentence.ts';
import type { ProjectObject } from './model/server/types.ts';
import { Button } from './panels/button.tsx';
import { lazily } from './panels/lazy-component.tsx';
import { Message } from './panels/message.tsx';
import { PageHeader } from './panels/page-header.tsx';
import { Reading } from './panels/reading.tsx';
import { SearchField } from './panels/search-field.tsx';
import { useFileDrop } from './shell/file-drop.tsx';
import { importLab } from './tasks/page-tasks.ts';
import { WORDS } from './words.ts';

const words = WORDS.labs;

/** The table is first: it shows more labs at once, sorts by any column, and is what users of the release know. */
const hasCards = remembered<boolean>('labwire.labs.cards', false);

const LabsCards = lazily(async () => (await import('./labs/labs-cards.tsx')).LabsCards);
const SelectionBar = lazily(async () => (await import('./labs/selection-bar.tsx')).SelectionBar);

export function LabsScreen({ go }: { go: (path: string) => void }) {
  const labs = useMemo(() => new Labs(), []);
  const search = useSignal('');
  const order = useSignal<Order>({ key: 'name', isDown: false });
  const closed = useSignal<ReadonlySet<string>>(new Set());
  const selected = useSignal<ReadonlySet<string>>(new Set());
  const busy = useSignal('');
  const rows = useComputed(() =>
    labRows(labs.list.value?.values() ?? [], {
      search: search.value,
      order: order.value,
      figures: labs.figures.value,
      changes: labs.changes.value,
      owners: shares.value,
      closed: closed.value,
    }),
  );
  useEffect(() => {
    labs.start();
    return () => labs.stop();
  }, [labs]);

  /** Runs a task and shows its error. Returns whether it succeeded. */
  const attempt = async (what: string, task: () => Promise<unknown>): Promise<boolean> => {
    busy.value = what;
    labs.message.value = '';
    try {
      await task();
      return true;
    } catch (error) {
      labs.message.value = `${what}: ${sentenceOf(error)}`;
      return false;
    } finally {
      busy.value = '';
    }
  };

  const create = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const typed = String(new FormData(form).get('name') ?? '').trim();
    const name =
      typed ||
      freeName(
        words.defaultName,
        [...(labs.list.value?.values() ?? [])].map((lab) => lab.name),
      );
    await attempt(words.make, async () => {
      const { project_id: id } = await api.post<ProjectObject>('/projects', { name, auto_close: false });
      form.reset();
      go(`/labs/${id}`);
    });
  };

  /** The progress is shown in the task list. */
  const importFile = async (file: File): Promise<void> => {
    labs.message.value = '';
    await importLab(file).catch((error: unknown) => {
      labs.message.value = `${words.import}: ${sentenceOf(error)}`;
    });
  };

  const importFiles = (files: Iterable<File>): void => {
    for (const file of files) void importFile(file);
  };

  const demonstrate = (): Promise<boolean> =>
    attempt(words.demonstration, async () => go(`/labs/${await buildDemonstration()}`));

  useFileDrop({
    words: words.dropHere,
    why: () => whyNot('make'),
    refuse: (why) => {
      labs.message.value = why;
    },
    take: importFiles,
  });

  const count = labs.list.value?.size;
  const why = whyNot('make');
  const List = hasCards.value ? LabsCards : LabsTable;
  // What is hidden by a search or in a folder is left alone.
  const chosen = rows.value.filter(
    (row) => row.kind === 'lab' && selected.value.has(row.project.project_id),
  ) as LabRow[];
  useShares(labs.list.value);
  return (
    <div class="screen labs">
      <PageHeader events={labs.events} />
      <main>
        <div class="tools">
          {why === '' && (
            <>
              <form onSubmit={(event) => void create(event)}>
                <label>
                  <span class="hidden">{words.nameOfNew}</span>
                  <input name="name" placeholder={words.nameOfNew} autocomplete="off" />
                </label>
                <Button type="submit" class={count === 0 ? undefined : 'main'} text={words.make} />
              </form>
              <label class="button">
                {words.import}
                <input
                  class="hidden"
                  type="file"
                  accept=".gns3project,.gns3p"
                  multiple
                  onChange={({ currentTarget }) => {
                    importFiles([...(currentTarget.files ?? [])]);
                    currentTarget.value = '';
                  }}
                />
              </label>
            </>
          )}
          <SearchField typed={search} />
          {hasCards.value && <SortBy order={order} />}
          <Button
            aria-pressed={hasCards.value}
            onClick={() => {
              hasCards.value = !hasCards.value;
            }}
            text={words.cards}
          />
        </div>
        {why !== '' && <p class="reason">{why}</p>}
        <Message text={labs.message.value} />
        <Message text={labs.problem.value} again={() => labs.read()} />
        <p class="busy" role="status">
          {busy}
        </p>
        {count === undefined && labs.problem.value === '' && <Reading />}
        {count === 0 && (
          <div class="first">
            <p>{why === '' ? words.none : WORDS.may.noLabs}</p>
            {why === '' && (
              <>
                <p>{words.noneHint}</p>
                <Button
                  class="main"
                  disabled={busy.value !== ''}
                  onClick={() => void demonstrate()}
                  text={words.demonstration}
                />
              </>
            )}
          </div>
        )}
        {count !== undefined && count > 0 && rows.value.length === 0 && <p>{words.noneFound}</p>}
        {rows.value.length > 0 && <List {...{ rows: rows.value, order, closed, selected, attempt }} />}
        {chosen.length > 0 && <SelectionBar labs={chosen} selected={selected} attempt={attempt} />}
      </main>
    </div>
  );
}
