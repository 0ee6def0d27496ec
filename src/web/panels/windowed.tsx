// Long lists: only the rows in and near the window are in the document; a space stands for the others. Readers of the screen are told how many there are.
import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

/** Rows come and go by as many at once; a list that has no more is there as a whole. */
const LOT = 40;
/** Pixels beyond the window in which rows are there already, so that the Tab key finds the next one. */
const AHEAD = 400;

/** What a row says of its place: `aria-setsize` and `aria-posinset` in lists, `aria-rowindex` in tables. */
export type RowPlace = Readonly<Record<string, number>>;

interface WindowedProps<T> {
  items: readonly T[];
  keyOf(item: T): string;
  /** The row of a table, with its place; what stands in the item of a list. */
  row(item: T, place: RowPlace): VNode;
  /** Pixels that a row is likely to be high. */
  height: number;
}

/** The rows of a table, as several bodies; its number of rows, `aria-rowcount`, is the table's. */
export function WindowedBodies<T>(props: WindowedProps<T> & { columns: number }) {
  // The head is the first row.
  const place = (index: number): RowPlace => ({ 'aria-rowindex': index + 2 });
  return (
    <>
      {lotsOf(props.items).map((items, lot) => (
        <Lot key={lot} {...props} items={items} first={lot * LOT} place={place} isWhole={props.items.length <= LOT} />
      ))}
    </>
  );
}

/** A list. */
export function WindowedList<T>({ class: kind, ...props }: WindowedProps<T> & { class?: string }) {
  const { items: all } = props;
  const place = (index: number): RowPlace => ({ 'aria-setsize': all.length, 'aria-posinset': index + 1 });
  return (
    // biome-ignore lint/a11y/useSemanticElements: between it and its items stand the lots, which <ul> does not allow
    <div role="list" class={kind}>
      {lotsOf(all).map((items, lot) => (
        <Lot key={lot} {...props} items={items} first={lot * LOT} place={place} isWhole={all.length <= LOT} />
      ))}
    </div>
  );
}

function lotsOf<T>(items: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(items.length / LOT) }, (_, lot) => items.slice(lot * LOT, (lot + 1) * LOT));
}

interface LotProps<T> extends WindowedProps<T> {
  first: number;
  place(index: number): RowPlace;
  /** Of a table. */
  columns?: number;
  /** There are no others: it is always there. */
  isWhole: boolean;
}

function Lot<T>({ items, keyOf, row, height, first, place, columns, isWhole }: LotProps<T>) {
  const isNear = useSignal(first === 0);
  /** How high its rows were when they were there. */
  const known = useRef(height * items.length);
  const count = useRef(items.length);
  const element = useRef<HTMLElement>(null);
  useEffect(() => {
    const lot = element.current;
    if (isWhole || !lot) return;
    let isSeen = isNear.peek();
    const follow = (): void => {
      // What somebody stands on stays, wherever it is scrolled to.
      const isKept = isSeen || lot.contains(document.activeElement);
      if (!isKept && isNear.peek()) known.current = lot.getBoundingClientRect().height;
      isNear.value = isKept;
    };
    const margin = `${AHEAD}px 0px`;
    const options = { rootMargin: margin, scrollMargin: margin } as IntersectionObserverInit;
    const observer = new IntersectionObserver((entries) => {
      isSeen = entries.at(-1)?.isIntersecting ?? false;
      follow();
    }, options);
    observer.observe(lot);
    const left = (): void => void setTimeout(follow);
    lot.addEventListener('focusout', left);
    return () => {
      observer.disconnect();
      lot.removeEventListener('focusout', left);
    };
  }, [isWhole, isNear]);
  if (count.current !== items.length) {
    known.current = (known.current / count.current) * items.length;
    count.current = items.length;
  }
  const isThere = isWhole || isNear.value;
  const rows = items.map((item, index) => ({ key: keyOf(item), item, at: place(first + index) }));
  const space = { height: `${known.current}px` };
  if (columns === undefined) {
    return (
      <div ref={element as { current: HTMLDivElement | null }} role="none">
        {isThere ? (
          rows.map(({ key, item, at }) => (
            // biome-ignore lint/a11y/useSemanticElements: as the list
            <div key={key} role="listitem" {...at}>
              {row(item, at)}
            </div>
          ))
        ) : (
          <div style={space} />
        )}
      </div>
    );
  }
  return (
    <tbody ref={element as { current: HTMLTableSectionElement | null }}>
      {isThere ? (
        rows.map(({ key, item, at }) => <Keyed key={key}>{row(item, at)}</Keyed>)
      ) : (
        // biome-ignore lint/a11y/noAriaHiddenOnFocusable: nothing in it can have the focus
        <tr aria-hidden="true">
          <td colSpan={columns} class="space" style={space} />
        </tr>
      )}
    </tbody>
  );
}

function Keyed({ children }: { children: VNode }) {
  return children;
}
