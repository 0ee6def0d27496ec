// A button that opens a menu of actions.
import { useEffect, useRef } from 'preact/hooks';

export interface MenuAction {
  id: string;
  words: string;
  /** For toggles. */
  isOn?: boolean;
  isDangerous?: boolean;
  run(): void;
}

interface ActionMenuProps {
  label: string;
  /** What the actions are about, if the label does not say it. */
  about?: string;
  actions: readonly MenuAction[];
}

export function ActionMenu({ label, about, actions }: ActionMenuProps) {
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
    <details class="action-menu" ref={menu} onKeyDown={keys}>
      <summary class="button" aria-description={about}>
        {label}
      </summary>
      <div class="action-menu-items">
        {actions.map(({ id, words, isOn, isDangerous, run }) => (
          <button
            key={id}
            type="button"
            class={isDangerous ? 'item danger' : 'item'}
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
