// Switches a screen between two views.
import type { Signal } from '@preact/signals';
import { Button } from './button.tsx';

interface ViewsProps {
  /** Titles of the first and second view. */
  titles: readonly [string, string];
  isSecond: Signal<boolean>;
}

export function Views({ titles, isSecond }: ViewsProps) {
  return (
    <span class="views">
      {titles.map((title, index) => (
        <Button
          key={title}
          aria-pressed={isSecond.value === (index === 1)}
          onClick={() => {
            isSecond.value = index === 1;
          }}
          text={title}
        />
      ))}
    </span>
  );
}
