// A button that opens a menu.
import { useSignal } from '@preact/signals';
import { useCallback, useRef } from 'preact/hooks';
import { Menu, type MenuEntry } from './menu.tsx';

interface MenuButtonProps {
  label: string;
  /** What the entries are about, if the label does not say it. */
  about?: string;
  entries: readonly MenuEntry[];
}

/** Pixels between the button and its menu. */
const GAP = 4;

export function MenuButton({ label, about, entries }: MenuButtonProps) {
  const button = useRef<HTMLButtonElement>(null);
  const place = useSignal<{ at: { x: number; y: number }; bottom: number } | undefined>(undefined);
  const close = useCallback(
    (isByKey: boolean): void => {
      place.value = undefined;
      if (isByKey) button.current?.focus();
    },
    [place],
  );
  /** Beside the button; closed if that is not in the window any more, which then has the focus that the menu had. */
  const show = useCallback((): void => {
    const { left, top, bottom } = button.current!.getBoundingClientRect();
    const isSeen = bottom > 0 && top < innerHeight;
    const { at } = place.peek() ?? {};
    if (isSeen && at?.x === left && at.y === bottom + GAP) return;
    if (at && !isSeen) button.current!.focus({ preventScroll: true });
    place.value = isSeen ? { at: { x: left, y: bottom + GAP }, bottom: top - GAP } : undefined;
  }, [place]);
  const follow = useCallback((): void => {
    // The menu may hear of it once more after it was closed.
    if (place.peek()) show();
  }, [place, show]);
  return (
    <>
      <button
        type="button"
        class="opens-menu"
        ref={button}
        aria-haspopup="menu"
        aria-expanded={place.value !== undefined}
        aria-description={about}
        // The menu closes itself when the pointer is pressed elsewhere, and must not be opened again by its own button.
        onPointerDown={(event) => {
          if (place.value) event.stopPropagation();
        }}
        onClick={() => {
          if (place.value) place.value = undefined;
          else {
            // A button out of sight may have the focus.
            button.current!.scrollIntoView({ block: 'nearest' });
            show();
          }
        }}
      >
        {label}
      </button>
      {place.value && <Menu label={about ?? label} {...place.value} entries={entries} follow={follow} close={close} />}
    </>
  );
}
