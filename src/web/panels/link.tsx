// A hyperlink to another screen, without reloading the page.
import type { ComponentChildren } from 'preact';
import { address, go } from '../address.ts';

interface LinkProps {
  to: string;
  children: ComponentChildren;
  class?: string;
  title?: string;
}

export function Link({ to, children, class: kind, title }: LinkProps) {
  return (
    <a
      href={to}
      class={kind}
      title={title}
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
