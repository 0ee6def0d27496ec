// Switches a screen between two views.
import type { Signal } from '@preact/signals';

interface ViewsProps {
  /** Titles of the first and second view. */
  titles: readonly [string, string];
  isSecond: Signal<boolean>;
}

export function Views({ titles, isSecond }: ViewsProps) {
  return (
    <span class="views">
      {titles.map((title, index) => (
        <button
          key={title}
          type="button"
          aria-pressed={isSecond.value === (index === 1)}
          onClick={() => {
            isSecond.value = index === 1;
          }}
        >
          {title}
        </button>
      ))}
    </span>
  );
}
