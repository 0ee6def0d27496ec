// The edge of a part whose size people set by dragging it or with the arrow keys.
import { useRef } from 'preact/hooks';

const STEP_PIXELS = 30;

interface SeparatorProps {
  class: string;
  label: string;
  /** `horizontal`: the part is below its upper edge. `vertical`: it is left of its right edge. */
  orientation: 'horizontal' | 'vertical';
  /** Bounds of the size in pixels, and the size now. */
  least: number;
  most: number;
  size: number;
  set(pixels: number): void;
  /** A double click. */
  reset?(): void;
}

export function Separator({ class: kind, label, orientation, least, most, size, set, reset }: SeparatorProps) {
  const drag = useRef<{ from: number; size: number } | undefined>(undefined);
  const isUpper = orientation === 'horizontal';
  const placeOf = ({ clientX, clientY }: PointerEvent): number => (isUpper ? -clientY : clientX);
  const put = (pixels: number): void => set(Math.min(most, Math.max(least, Math.round(pixels))));
  const keys = (event: KeyboardEvent): void => {
    const steps = isUpper ? { ArrowUp: 1, ArrowDown: -1 } : { ArrowRight: 1, ArrowLeft: -1 };
    const ends = isUpper ? { Home: most, End: least } : { Home: least, End: most };
    const step = steps[event.key as keyof typeof steps] as number | undefined;
    const end = ends[event.key as keyof typeof ends] as number | undefined;
    if (step === undefined && end === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    put(end ?? size + (step ?? 0) * STEP_PIXELS);
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a separator that can be moved is no rule between texts
    <span
      class={kind}
      role="separator"
      aria-orientation={orientation}
      aria-label={label}
      aria-valuemin={least}
      aria-valuemax={most}
      aria-valuenow={size}
      tabIndex={0}
      onKeyDown={keys}
      onDblClick={reset}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        drag.current = { from: placeOf(event), size };
      }}
      onPointerMove={(event) => {
        if (drag.current) put(drag.current.size + placeOf(event) - drag.current.from);
      }}
      onLostPointerCapture={() => {
        drag.current = undefined;
      }}
    />
  );
}
