// A link to another screen, which the page shows without being loaded again.
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
        // A new tab or window, which the browser opens.
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        go(to);
      }}
    >
      {children}
    </a>
  );
}
