// Long lists: only rows in or near the window are in the document; spacers replace the others. Screen readers get the total number.
import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

/** Rows are added and removed in lots of this size, which fills a grid of two to six columns; shorter lists are rendered whole. */
const LOT = 60;
/** Pixels beyond the window in which rows are rendered, so that the Tab key finds the next one. */
const AHEAD = 400;

/** Attributes for a row's position: `aria-setsize` and `aria-posinset` in lists, `aria-rowindex` in tables. */
export type RowPlace = Readonly<Record<string, number>>;

interface WindowedProps<T> {
  items: readonly T[];
  keyOf(item: T): string;
  /** Renders a table row with its position, or the content of a list item. */
  row(item: T, place: RowPlace): VNode;
  /** Expected height of a row in pixels. */
  height: number;
}

/** The rows of a table, in several bodies; the table itself sets `aria-rowcount`. */
export function WindowedBodies<T>(props: WindowedProps<T> & { columns: number }) {
  // The header is the first row.
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
  /** For tables. */
  columns?: number;
  /** The only lot, always rendered. */
  isWhole: boolean;
}

function Lot<T>({ items, keyOf, row, height, first, place, columns, isWhole }: LotProps<T>) {
  const isNear = useSignal(first === 0);
  /** Height of the rows when last rendered. */
  const known = useRef(height * items.length);
  const count = useRef(items.length);
  const element = useRef<HTMLElement>(null);
  useEffect(() => {
    const lot = element.current;
    if (isWhole || !lot) return;
    let isSeen = isNear.peek();
    const follow = (): void => {
      // Keep rows that contain the focus.
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
  const rows = isThere ? items.map((item, index) => ({ key: keyOf(item), item, at: place(first + index) })) : [];
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
