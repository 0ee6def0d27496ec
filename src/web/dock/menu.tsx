// The menu of the active tab.
import { useEffect, useRef } from 'preact/hooks';
import { WORDS } from '../words.ts';
import type { DockAction } from './entries.ts';

export function ActionMenu({ actions }: { actions: readonly DockAction[] }) {
  const menu = useRef<HTMLDetailsElement>(null);
  const close = (): void => {
    if (menu.current) menu.current.open = false;
  };
  useEffect(() => {
    const outside = ({ target }: Event): void => {
      if (!menu.current?.contains(target as Element)) close();
    };
    addEventListener('pointerdown', outside);
    return () => removeEventListener('pointerdown', outside);
  }, []);
  const keys = (event: KeyboardEvent): void => {
    if (event.key !== 'Escape') return;
    event.stopPropagation();
    close();
    menu.current?.querySelector('summary')?.focus();
  };
  return (
    <details class="dock-menu" ref={menu} onKeyDown={keys}>
      <summary class="button">{WORDS.dock.actions}</summary>
      <div class="dock-menu-items">
        {actions.map(({ id, words, isOn, run }) => (
          <button
            key={id}
            type="button"
            {...(isOn === undefined ? {} : { 'aria-pressed': isOn })}
            onClick={() => {
              close();
              run();
            }}
          >
            {words}
          </button>
        ))}
      </div>
    </details>
  );
}
