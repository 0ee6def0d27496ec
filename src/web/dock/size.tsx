// The height of the dock: set by dragging its upper edge or with the arrow keys, and remembered.
import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { remembered } from '../model/browser/remembered.ts';
import { WORDS } from '../words.ts';

const FIRST_PIXELS = 260;
const LEAST_PIXELS = 120;
const STEP_PIXELS = 30;
const height = remembered<number>('dock-height', FIRST_PIXELS);

/** The map keeps a third of the window. */
const highest = (): number => Math.max(LEAST_PIXELS, Math.round(innerHeight * 0.66));
const bounded = (pixels: number): number => Math.min(highest(), Math.max(LEAST_PIXELS, Math.round(pixels)));

export function DockSize({ dock, isFull }: { dock: RefObject<HTMLElement | null>; isFull: boolean }) {
  const drag = useRef<{ from: number; height: number } | undefined>(undefined);
  const pixels = bounded(height.value);
  useEffect(() => {
    if (dock.current) dock.current.style.height = isFull ? '' : `${pixels}px`;
  }, [dock, pixels, isFull]);
  const keys = (event: KeyboardEvent): void => {
    const step = { ArrowUp: STEP_PIXELS, ArrowDown: -STEP_PIXELS }[event.key];
    const end = { Home: highest(), End: LEAST_PIXELS }[event.key];
    if (step === undefined && end === undefined) return;
    event.preventDefault();
    height.value = end ?? bounded(pixels + (step ?? 0));
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a separator that can be moved is no rule between texts
    <div
      class="dock-size"
      role="separator"
      aria-orientation="horizontal"
      aria-label={WORDS.dock.size}
      aria-valuemin={LEAST_PIXELS}
      aria-valuemax={highest()}
      aria-valuenow={pixels}
      tabIndex={0}
      onKeyDown={keys}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        drag.current = { from: event.clientY, height: pixels };
      }}
      onPointerMove={(event) => {
        if (drag.current) height.value = bounded(drag.current.height + drag.current.from - event.clientY);
      }}
      onLostPointerCapture={() => {
        drag.current = undefined;
      }}
    />
  );
}
