// The packet list. Only visible rows are in the document.
import type { Signal } from '@preact/signals';
import { useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { remembered } from '../model/browser/remembered.ts';
import { Separator } from '../panels/separator.tsx';
import { WORDS } from '../words.ts';
import type { CaptureFeed } from './feed.ts';
import type { Row } from './messages.ts';

const words = WORDS.capture;
const ROW_PIXELS = 22;
/** Rows rendered beyond each end of the visible part. */
const MARGIN = 10;
/** Bounds of the width of a column in pixels. */
const [NARROWEST, WIDEST] = [30, 600];
const COLUMNS = ['number', 'time', 'source', 'target', 'protocol', 'info'] as const;
const COLUMNS_OF_SEVERAL = ['number', 'time', 'link', 'source', 'target', 'protocol', 'info'] as const;

type Column = (typeof COLUMNS_OF_SEVERAL)[number];

/** Widths in pixels that people have set; 0 for those of the style sheet. The last column takes the rest. */
const widths = new Map<Column, Signal<number>>(
  COLUMNS_OF_SEVERAL.filter((column) => column !== 'info').map((column) => [
    column,
    remembered<number>(`labwire.packets.${column}`, 0),
  ]),
);

interface PacketListProps {
  feed: CaptureFeed;
  following: Signal<boolean>;
  /** Id of the selected frame. */
  chosen: Signal<number | undefined>;
  choose: (frame: number) => void;
  isShown: boolean;
}

export function PacketList({ feed, following, chosen, choose, isShown }: PacketListProps) {
  const list = useRef<HTMLDivElement>(null);
  const place = useSignal({ top: 0, height: 200 });
  const former = useRef({ gone: 0, generation: 0 });
  const { shown = 0, gone = 0, generation = 0, received = 0, sources = [] } = feed.state.value ?? {};
  const columns = sources.length > 1 ? COLUMNS_OF_SEVERAL : COLUMNS;

  useLayoutEffect(() => {
    const element = list.current;
    if (!element || !isShown) return;
    // Keeps the visible rows in place when earlier rows are dropped.
    if (former.current.generation === generation && !following.value)
      element.scrollTop -= (gone - former.current.gone) * ROW_PIXELS;
    former.current = { gone, generation };
    if (following.value) element.scrollTop = element.scrollHeight;
    place.value = { top: element.scrollTop, height: element.clientHeight };
  }, [shown, gone, generation, following.value, isShown, place, following]);

  const begin = gone + Math.max(0, Math.floor(place.value.top / ROW_PIXELS) - MARGIN);
  const count = Math.ceil(place.value.height / ROW_PIXELS) + 2 * MARGIN;
  useEffect(() => {
    if (isShown) feed.ask(begin, count);
  }, [feed, begin, count, shown, received, generation, isShown]);

  const step = (event: KeyboardEvent): void => {
    const page = Math.max(1, Math.floor(place.value.height / ROW_PIXELS) - 1);
    const by = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    const all = [...feed.rows.value];
    const at = all.findIndex(([, { id }]) => id === chosen.value);
    const next = all[at === -1 ? all.length - 1 : Math.max(0, Math.min(all.length - 1, at + by))];
    if (!next || !list.current) return;
    choose(next[1].id);
    const top = (next[0] - gone) * ROW_PIXELS;
    const { scrollTop, clientHeight } = list.current;
    if (top < scrollTop) list.current.scrollTop = top;
    else if (top + 2 * ROW_PIXELS > scrollTop + clientHeight)
      list.current.scrollTop = top + 2 * ROW_PIXELS - clientHeight;
  };

  const scrolled = (): void => {
    const { scrollTop: top, clientHeight: height, scrollHeight } = list.current!;
    // Scrolling back stops following new packets; a list that grew before this event was handled does not.
    if (top < place.value.top && top + height < scrollHeight - 4 * ROW_PIXELS) following.value = false;
    place.value = { top, height };
  };

  useEffect(() => {
    const element = list.current;
    const click = ({ target }: MouseEvent): void => {
      const frame = (target as Element).closest<HTMLElement>('[data-packet]')?.dataset['packet'];
      if (frame !== undefined) choose(Number(frame));
    };
    element?.addEventListener('click', click);
    element?.addEventListener('keydown', step);
    return () => {
      element?.removeEventListener('click', click);
      element?.removeEventListener('keydown', step);
    };
  });

  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and its keys choose
    <section class="packets" aria-label={words.packets} tabIndex={0} ref={list} onScroll={scrolled}>
      <table
        aria-rowcount={shown + 1}
        class={sources.length > 1 ? 'of-several' : undefined}
        style={Object.fromEntries([...widths].map(([column, { value }]) => [`--${column}`, value ? `${value}px` : '']))}
      >
        <thead>
          <tr class="packet packets-head">
            {columns.map((column) => (
              <th key={column} scope="col" aria-label={words.columns[column]}>
                {words.columns[column]}
                <ColumnEdge column={column} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody style={{ height: `${shown * ROW_PIXELS}px` }}>
          {[...feed.rows.value].map(([at, row]) => (
            <Line
              key={row.id}
              row={row}
              columns={columns}
              top={(at - gone) * ROW_PIXELS}
              isChosen={row.id === chosen.value}
            />
          ))}
        </tbody>
      </table>
      {feed.state.value && shown === 0 && (
        <p class="packets-none">{feed.state.value.kept > 0 ? words.noneShown : words.noPackets}</p>
      )}
    </section>
  );
}

function ColumnEdge({ column }: { column: Column }) {
  const edge = useRef<HTMLSpanElement>(null);
  /** As the style sheet has it. */
  const measured = useSignal(0);
  const width = widths.get(column);
  const measure = (): void => {
    measured.value = Math.round(edge.current?.closest('th')?.clientWidth ?? 0);
  };
  useLayoutEffect(measure, [width?.value]);
  if (!width) return null;
  return (
    <span ref={edge} onPointerEnter={measure} onFocusCapture={measure}>
      <Separator
        class="column-edge"
        label={words.widthOf(words.columns[column])}
        orientation="vertical"
        least={NARROWEST}
        most={WIDEST}
        size={width.value || measured.value}
        set={(pixels) => {
          width.value = pixels;
        }}
        reset={() => {
          width.value = 0;
        }}
      />
    </span>
  );
}

interface LineProps {
  row: Row;
  columns: readonly Column[];
  top: number;
  isChosen: boolean;
}

function Line({ row, columns, top, isChosen }: LineProps) {
  const cells = { ...row, time: (row.time / 1e9).toFixed(6) };
  return (
    <tr
      class="packet"
      aria-current={isChosen}
      data-packet={row.id}
      data-protocol={row.protocol.split(' ')[0]}
      style={{ top: `${top}px` }}
    >
      {columns.map((column) => (
        <td key={column} title={column === 'info' || column === 'link' ? cells[column] : undefined}>
          {cells[column]}
        </td>
      ))}
    </tr>
  );
}
