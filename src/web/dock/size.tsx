// The height of the dock: set by dragging its upper edge or with the arrow keys, and remembered.
import type { RefObject } from 'preact';
import { useEffect } from 'preact/hooks';
import { remembered } from '../model/browser/remembered.ts';
import { Separator } from '../panels/separator.tsx';
import { WORDS } from '../words.ts';

/** Until a user sets it. */
const FIRST_PIXELS = 260;
/** The same with packets, whose list and details need room, as a share of the window. */
const FIRST_SHARE = 0.45;
const LEAST_PIXELS = 120;
/** 0 until a user sets it. */
const height = remembered<number>('dock-height', 0);

/** The map keeps a third of the window. */
const highest = (): number => Math.max(LEAST_PIXELS, Math.round(innerHeight * 0.66));

interface DockSizeProps {
  dock: RefObject<HTMLElement | null>;
  isFull: boolean;
  hasPackets: boolean;
}

export function DockSize({ dock, isFull, hasPackets }: DockSizeProps) {
  const first = hasPackets ? Math.max(FIRST_PIXELS, innerHeight * FIRST_SHARE) : FIRST_PIXELS;
  const pixels = Math.min(highest(), Math.max(LEAST_PIXELS, Math.round(height.value || first)));
  useEffect(() => {
    if (dock.current) dock.current.style.height = isFull ? '' : `${pixels}px`;
  }, [dock, pixels, isFull]);
  return (
    <Separator
      class="dock-size"
      label={WORDS.dock.size}
      orientation="horizontal"
      least={LEAST_PIXELS}
      most={highest()}
      size={pixels}
      set={(now) => {
        height.value = now;
      }}
    />
  );
}
