// The menu of the page: at a point of the window, over everything else. Arrow keys move, Escape and Tab close.
import { Fragment } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { Point } from '../model/lab/geometry.ts';

export interface MenuEntry {
  id: string;
  words: string;
  /** Its key, as it is shown. */
  keys?: string | undefined;
  /** For what is on or off: a check mark. */
  isOn?: boolean | undefined;
  /** Opens another menu in this place; Right does so, too. */
  isSubmenu?: boolean;
  isDangerous?: boolean;
  isDisabled?: boolean;
  /** A line above it, if it is not the first one. */
  startsGroup?: boolean | undefined;
  run(): void;
}

interface MenuProps {
  label: string;
  /** The upper left corner, in window pixels. */
  at: Point;
  /** The lower edge for a menu that has no room below `at`; without it the menu is moved up. */
  bottom?: number;
  entries: readonly MenuEntry[];
  /** For a submenu: its entry in the menu to which it leads back. */
  back?: { id: string; run(): void } | undefined;
  /** A line below the entries. */
  note?: string;
  /** Called when something is scrolled or the window gets another size, to give another place. Without it the menu closes with the latter. */
  follow?: () => void;
  /** Called before an entry runs, and when the user turns away. `isByKey`: the focus goes back to where it was. */
  close(isByKey: boolean): void;
}

const ENTRIES = 'button:not(:disabled)';
/** Pixels from the window's edge. */
const RIM = 4;

export function Menu({ label, at, bottom, entries, back, note = '', follow, close }: MenuProps) {
  const list = useRef<HTMLDivElement>(null);
  const left = useRef<string | undefined>(undefined);
  const open = back?.id;

  useLayoutEffect(() => {
    const element = list.current;
    if (!element) return;
    // In the browser's top layer no part of the page can cut it off.
    if (!element.matches(':popover-open')) element.showPopover();
    const { width, height } = element.getBoundingClientRect();
    const isBelow = at.y + height + RIM <= innerHeight;
    const top = isBelow || bottom === undefined ? Math.min(at.y, innerHeight - height - RIM) : bottom - height;
    element.style.left = `${Math.max(0, Math.min(at.x, innerWidth - width - RIM))}px`;
    element.style.top = `${Math.max(0, top)}px`;
  }, [at, bottom, open]);

  useLayoutEffect(() => {
    const element = list.current;
    const entry = open === undefined && left.current !== undefined ? `[data-menu="${left.current}"]` : undefined;
    left.current = open;
    // Without an entry that can be used the menu itself takes Escape.
    (element?.querySelector<HTMLElement>(entry ?? `${ENTRIES}:not(.back)`) ?? element)?.focus();
  }, [open]);

  useEffect(() => {
    const elsewhere = (event: PointerEvent): void => {
      if (!list.current?.contains(event.target as Element)) close(false);
    };
    const scrolled = (event: Event): void => {
      if (event.target !== list.current) follow?.();
    };
    const over = new AbortController();
    const { signal } = over;
    addEventListener('pointerdown', elsewhere, { signal });
    addEventListener('resize', () => (follow ? follow() : close(true)), { signal });
    addEventListener('scroll', scrolled, { signal, capture: true, passive: true });
    return () => over.abort();
  }, [close, follow]);

  const keys = (event: KeyboardEvent): void => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const focused = document.activeElement as HTMLElement;
    if (back && (event.key === 'Escape' || event.key === 'ArrowLeft')) back.run();
    else if (event.key === 'ArrowRight' && focused.dataset['menu']) focused.click();
    else if (event.key === 'Escape' || event.key === 'Tab') close(true);
    else if (by !== undefined || event.key === 'Home' || event.key === 'End') {
      const items = [...list.current!.querySelectorAll<HTMLElement>(ENTRIES)];
      const next = by === undefined ? (event.key === 'Home' ? 0 : -1) : (items.indexOf(focused) + by) % items.length;
      items.at(next)?.focus();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };

  return (
    <div class="menu" role="menu" popover="manual" tabIndex={-1} aria-label={label} ref={list} onKeyDown={keys}>
      {back && (
        <button type="button" role="menuitem" class="back" tabIndex={-1} onClick={back.run}>
          <span>‹ {label}</span>
        </button>
      )}
      {entries.map(({ id, words, keys: key, isOn, isSubmenu, isDangerous, isDisabled, startsGroup, run }, index) => (
        <Fragment key={id}>
          {startsGroup && index > 0 && <hr />}
          <button
            type="button"
            {...(isOn === undefined ? { role: 'menuitem' } : { role: 'menuitemcheckbox', 'aria-checked': isOn })}
            {...(isSubmenu && { 'aria-haspopup': 'menu', 'data-menu': id })}
            class={isDangerous ? 'danger' : undefined}
            tabIndex={-1}
            disabled={isDisabled}
            onClick={() => {
              if (!isSubmenu) close(true);
              run();
            }}
          >
            <span>{words}</span> {isSubmenu ? <span aria-hidden="true">›</span> : key && <kbd>{key}</kbd>}
          </button>
        </Fragment>
      ))}
      {note !== '' && (
        <button type="button" role="menuitem" tabIndex={-1} disabled>
          <small>{note}</small>
        </button>
      )}
    </div>
  );
}
