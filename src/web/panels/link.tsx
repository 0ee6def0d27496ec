// A hyperlink to another screen, without reloading the page.
import type { ComponentChildren } from 'preact';
import { address, go } from '../address.ts';

interface LinkProps {
  to: string;
  children: ComponentChildren;
  class?: string;
  title?: string;
  /** For a second link to the same place: only for the pointer. */
  isHidden?: boolean;
}

export function Link({ to, children, class: kind, title, isHidden = false }: LinkProps) {
  return (
    <a
      href={to}
      class={kind}
      title={title}
      {...(isHidden && { 'aria-hidden': true, tabIndex: -1 })}
      aria-current={address.value === to ? 'page' : undefined}
      onClick={(event) => {
        // The browser opens a new tab or window.
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        go(to);
      }}
    >
      {children}
    </a>
  );
}
